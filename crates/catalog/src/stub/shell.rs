//! Writes how a tool is called in a shell.

use std::fmt::Write;

/// Arguments in a call; the others are left out.
const MAX_ARGUMENTS: usize = 16;

/// One tool, in a shell's words.
pub(super) struct ShellTool {
    /// Server and tool as one word.
    pub(super) name: String,
    pub(super) arguments: Vec<ShellArgument>,
    pub(super) paragraphs: Vec<String>,
    /// The type of the result.
    pub(super) result: String,
}

/// One argument.
pub(super) struct ShellArgument {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) note: Option<String>,
}

impl ShellTool {
    /// `mcp call crm.find id=<string> [limit=<number>]`.
    pub(super) fn call(&self) -> String {
        let mut text = format!("mcp call {}", self.name);
        for argument in self.arguments.iter().take(MAX_ARGUMENTS) {
            let ShellArgument { name, kind, .. } = argument;
            let _ = match argument.required {
                true => write!(text, " {name}=<{kind}>"),
                false => write!(text, " [{name}=<{kind}>]"),
            };
        }
        if self.arguments.len() > MAX_ARGUMENTS {
            text.push_str(" …");
        }
        text
    }

    /// The call, the description, a line for each argument with a note, and the result.
    pub(super) fn page(&self) -> String {
        let mut text = self.call() + "\n";
        for paragraph in self.paragraphs.iter().filter(|paragraph| !paragraph.is_empty()) {
            let _ = write!(text, "\n{paragraph}\n");
        }
        let noted = self
            .arguments
            .iter()
            .filter_map(|argument| Some((&argument.name, argument.note.as_ref()?)));
        let notes: Vec<String> = noted.map(|(name, note)| format!("{name}: {note}\n")).collect();
        if !notes.is_empty() {
            let _ = write!(text, "\n{}", notes.concat());
        }
        let _ = write!(text, "\nprints: {}\n", self.result);
        text
    }
}

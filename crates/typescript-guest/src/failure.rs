//! Reports an uncaught error to the host: kind, one-line message, and the program's stack lines.

use rquickjs::Object;
use serde::Deserialize;
use serde_json::{Value, json};
use typescript::SyntaxError;

use crate::sources::Sources;

/// Maximum characters of a message.
const MAX_MESSAGE: usize = 2_000;
/// Maximum lines of a stack.
const MAX_FRAMES: usize = 40;
/// Maximum errors in a chain of causes.
const MAX_CAUSES: usize = 5;

/// The kind of an interrupted run; the host knows the reason.
pub const INTERRUPTED: &str = "Interrupted";

/// An error as the platform describes it.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Failure {
    pub kind: String,
    pub message: String,
    /// The engine's text.
    pub stack: String,
    /// Such as `ENOENT`.
    pub code: Option<String>,
    /// The limit or rule that failed a call, see `ToolError`.
    pub tool_kind: Option<String>,
    pub cause: Option<Box<Failure>>,
}

impl Failure {
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            message: message.into(),
            ..Self::default()
        }
    }

    /// Reads the result of the platform's `describe`.
    pub fn of(described: &Object<'_>) -> Self {
        Self::within(described, MAX_CAUSES)
    }

    fn within(described: &Object<'_>, causes: usize) -> Self {
        let text = |name: &str| described.get::<_, Option<String>>(name).ok().flatten();
        let cause = described.get::<_, Option<Object<'_>>>("cause").ok().flatten();
        Self {
            kind: text("kind").unwrap_or_else(|| "Error".to_owned()),
            message: readable(text("message").unwrap_or_default()),
            stack: text("stack").unwrap_or_default(),
            code: text("code"),
            tool_kind: text("toolKind"),
            cause: cause
                .filter(|_| causes > 0)
                .map(|cause| Box::new(Self::within(&cause, causes - 1))),
        }
    }

    /// The `error` of the frame that ends a run.
    pub fn frame(&self, sources: &Sources, number: u64) -> Value {
        let mut frame = json!({
            "kind": shortened(&self.kind, 80),
            "message": one_line(&self.message),
            "traceback": self.traceback(sources, number),
        });
        if let Some(limit) = self.limit() {
            frame["limit"] = limit.into();
        }
        frame
    }

    /// The limit that the engine or the kernel enforced, if any.
    fn limit(&self) -> Option<&'static str> {
        if self.message == "out of memory" {
            return Some("memory");
        }
        match (self.tool_kind.as_deref(), self.code.as_deref()) {
            (Some("limit"), _) => Some("host_calls"),
            (_, Some("ENOSPC")) => Some("disk"),
            (_, Some("EDQUOT")) => Some("workspace"),
            (_, Some("EMFILE" | "ENFILE")) => Some("open_files"),
            (_, Some("EFBIG")) => Some("file_size"),
            (_, Some("ENOMEM")) => Some("memory"),
            _ => None,
        }
    }

    /// The traceback: the cause first, the error itself last.
    fn traceback(&self, sources: &Sources, number: u64) -> String {
        let frames = frames(&self.stack, sources, number);
        let mut text = String::new();
        if let Some(cause) = &self.cause {
            text.push_str(&cause.traceback(sources, number));
            text.push_str("\nThe error above was the cause of this one:\n\n");
        }
        if let Some(first) = frames.first() {
            text.push_str(&first.excerpt);
        }
        for same in frames.chunk_by(|a, b| a.shown == b.shown).take(MAX_FRAMES) {
            text.push_str(&format!("    at {}", same[0].shown));
            if same.len() > 1 {
                text.push_str(&format!(" ({} times)", same.len()));
            }
            text.push('\n');
        }
        if self.kind != INTERRUPTED {
            text.push_str(&format!("{}: {}\n", self.kind, one_line(&self.message)));
        }
        text
    }
}

/// Replaces the engine's message about a value that is not iterable, which names an internal symbol.
fn readable(message: String) -> String {
    match message.strip_prefix("cannot read property 'Symbol.iterator' of ") {
        Some(value) => format!("{value} is not iterable"),
        None => message,
    }
}

/// The frame for an error in a program's text.
pub fn syntax_error(error: &SyntaxError) -> Value {
    let place = match error.line {
        0 => String::new(),
        line => format!(" (line {line})"),
    };
    json!({
        "kind": "SyntaxError",
        "message": one_line(&format!("{}{place}", error.message)),
        "traceback": format!("<program>:{}:{}\n{error}\n", error.line, error.column),
    })
}

/// A stack line in the author's own text.
struct Frame {
    /// `name (file:line:column)`.
    shown: String,
    /// The line, with a caret.
    excerpt: String,
}

fn frames(stack: &str, sources: &Sources, number: u64) -> Vec<Frame> {
    stack
        .lines()
        .filter_map(|line| frame(line.trim(), sources, number))
        .collect()
}

/// Reads `at name (file:line:column)`; `None` for frames of this program's own modules.
fn frame(line: &str, sources: &Sources, number: u64) -> Option<Frame> {
    let line = line.strip_prefix("at ")?;
    let line = line.strip_prefix("async ").unwrap_or(line);
    let (name, place) = match line.rsplit_once(" (") {
        Some((name, place)) => (name, place.strip_suffix(')')?),
        None => ("", line),
    };
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let generated = parts.next()?.parse().ok()?;
    let file = parts.next()?;
    let file = file.strip_prefix("file://").unwrap_or(file);
    let source = sources.get(file)?;
    let (line, column) = source.place(generated, column)?;
    let file = shown_name(file, number);
    let shown = match name {
        "" | "<anonymous>" | "<eval>" => format!("{file}:{line}:{column}"),
        name => format!("{name} ({file}:{line}:{column})"),
    };
    Some(Frame {
        shown,
        excerpt: excerpt(&source.text, &file, line, column),
    })
}

/// The engine's name for a run's program.
pub fn program_name(number: u64) -> String {
    format!("<program {number}>")
}

fn shown_name(file: &str, number: u64) -> String {
    match file
        .strip_prefix("<program ")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        Some(run) if run == number.to_string() => "<program>".to_owned(),
        Some(run) => format!("<program of run {run}>"),
        None => file.to_owned(),
    }
}

fn excerpt(text: &str, file: &str, line: u32, column: u32) -> String {
    const MAX_LINE: usize = 160;
    let index = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let Some(written) = text.lines().nth(index) else {
        return String::new();
    };
    if written.chars().count() > MAX_LINE {
        return String::new();
    }
    let before = usize::try_from(column).unwrap_or(1).saturating_sub(1);
    let indent: String = written
        .chars()
        .take(before)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    format!("{file}:{line}\n{written}\n{indent}^\n")
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    shortened(&words.join(" "), MAX_MESSAGE)
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

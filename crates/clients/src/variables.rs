//! Translates clients' variable syntax to ours, `${VAR}` and `${VAR:-default}`.

use std::path::Path;

use crate::client::Client;

pub(crate) struct Translator<'a> {
    pub(crate) client: Client,
    /// Value of `${workspaceFolder}` in a project's file.
    pub(crate) project: Option<&'a Path>,
    /// Notes for a person, without duplicates.
    pub(crate) notes: Vec<String>,
    /// Steps that a person must take before the entry can be used, without duplicates.
    pub(crate) gaps: Vec<String>,
}

impl Translator<'_> {
    /// The text in our syntax. A reference without an equivalent stays unchanged and becomes a gap.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let text = match self.client {
            Client::Opencode => self.braces(text),
            Client::GeminiCli => dollars(text),
            _ => text.to_owned(),
        };
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, inner, after)) = reference(rest, "${") {
            out.push_str(before);
            out.push_str(&self.reference(inner));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn gap(&mut self, gap: String) {
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// `{env:NAME}` and `{file:PATH}`.
    fn braces(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, inner, after)) = reference(rest, "{") {
            out.push_str(before);
            match inner.split_once(':') {
                // `${...}` already has its dollar.
                Some(("env" | "file", _)) if !before.ends_with('$') => out.push_str(&format!("${{{inner}}}")),
                _ => out.push_str(&format!("{{{inner}}}")),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// Translates the text between `${` and `}`.
    fn reference(&mut self, inner: &str) -> String {
        let kept = format!("${{{inner}}}");
        let (kind, rest) = inner.split_once(':').unwrap_or((inner, ""));
        let project = |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
        let folder = match kind {
            "workspaceFolder" | "workspaceRoot" => Some(project(self.project.map(Path::as_os_str))),
            "workspaceFolderBasename" => Some(project(self.project.and_then(Path::file_name))),
            _ => None,
        };
        match kind {
            "env" if is_name(rest) => format!("${{{rest}}}"),
            "input" => self.input(rest),
            "userHome" => "${HOME}".to_owned(),
            "pathSeparator" | "/" => "/".to_owned(),
            _ if folder.is_some() => folder.flatten().unwrap_or_else(|| {
                self.gap(format!(
                    "`{kept}` is the open project in {}; replace it with the directory",
                    self.client
                ));
                kept
            }),
            // `${NAME:}` is not our syntax: a colon only precedes a dash.
            name if is_name(name) && (inner == name || rest.starts_with('-')) => {
                if !self.client.expands() {
                    self.note(format!(
                        "{} passes `{kept}` unchanged; codeyard replaces it with the variable's value",
                        self.client
                    ));
                }
                kept
            }
            "file" => {
                self.gap(format!(
                    "`{kept}` is the content of that file; write the content into a variable or secrets.json"
                ));
                kept
            }
            _ => {
                self.gap(format!(
                    "`{kept}` has no meaning for codeyard; replace it with the value"
                ));
                kept
            }
        }
    }

    /// An input whose value VS Code requests from a person.
    fn input(&mut self, id: &str) -> String {
        let mut name: String = id
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_uppercase()
                } else {
                    '_'
                }
            })
            .collect();
        if !is_name(&name) {
            name.insert(0, '_');
        }
        self.note(format!(
            "{} asks for `{id}`; codeyard takes it from the variable {name} or from secrets.json",
            self.client
        ));
        format!("${{{name}}}")
    }
}

/// Splits at the first closed reference with this opening: the text before, inside and after the reference.
pub(crate) fn reference<'a>(text: &'a str, opening: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let start = text.find(opening)?;
    let inner = &text[start + opening.len()..];
    let end = inner.find('}')?;
    Some((&text[..start], &inner[..end], &inner[end + 1..]))
}

/// Rewrites `$NAME` as `${NAME}`.
fn dollars(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        out.push_str(&rest[..start]);
        rest = &rest[start + 1..];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        if is_name(name) {
            out.push_str(&format!("${{{name}}}"));
            rest = &rest[end..];
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

pub(crate) fn is_name(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn translated(client: Client, project: Option<&str>, text: &str) -> (String, Vec<String>) {
        let mut translator = Translator {
            client,
            project: project.map(Path::new),
            notes: Vec::new(),
            gaps: Vec::new(),
        };
        let text = translator.text(text);
        let told = translator.notes.into_iter().chain(translator.gaps);
        (text, told.collect())
    }

    #[track_caller]
    fn check(client: Client, text: &str, expected: &str, noted: &str) {
        let (found, notes) = translated(client, None, text);
        assert_eq!(found, expected, "{client}: {text}");
        let notes = notes.join("\n");
        assert!(
            notes.contains(noted) && notes.is_empty() == noted.is_empty(),
            "{text}: {notes:?}"
        );
    }

    #[test]
    fn each_client_s_syntax_is_translated() {
        use Client::*;
        check(Cursor, "a ${env:TOKEN} b", "a ${TOKEN} b", "");
        check(Cursor, "${userHome}/x${/}y${pathSeparator}z", "${HOME}/x/y/z", "");
        check(VsCode, "${command:pick}", "${command:pick}", "no meaning");
        check(ClaudeCode, "${A:-b} $C", "${A:-b} $C", "");
        check(GeminiCli, "$A-${B}-${C:-d}-$5-$", "${A}-${B}-${C:-d}-$5-$", "");
        check(Opencode, "Bearer {env:KEY} {x}", "Bearer ${KEY} {x}", "");
        check(Codex, "${HOME}/x", "${HOME}/x", "unchanged");
        check(Zed, "plain $HOME {}", "plain $HOME {}", "");
        check(Windsurf, "${env:A}${env:B}", "${A}${B}", "");
        check(Cursor, "${unclosed", "${unclosed", "");
        check(ClaudeCode, "${FOO:}", "${FOO:}", "no meaning");
        for (client, text, expected, noted) in [
            (
                Cursor,
                "${workspaceFolder}/db",
                "${workspaceFolder}/db",
                "the open project",
            ),
            (
                VsCode,
                "Bearer ${input:api-key}",
                "Bearer ${API_KEY}",
                "asks for `api-key`",
            ),
            (
                Opencode,
                "{file:~/.key}",
                "${file:~/.key}",
                "content of that file",
            ),
        ] {
            check(client, text, expected, noted);
        }
    }

    #[test]
    fn a_project_s_own_file_has_a_known_project() {
        let (text, notes) = translated(
            Client::VsCode,
            Some("/p/shop"),
            "${workspaceFolder}/${workspaceFolderBasename}",
        );
        assert_eq!((text.as_str(), notes.len()), ("/p/shop/shop", 0));
    }

    proptest! {
        #[test]
        fn text_without_references_stays(client in 0..Client::ALL.len(), text in "[^$]{0,30}") {
            let client = Client::ALL[client];
            prop_assume!(client != Client::Opencode || !text.contains('{'));
            prop_assert_eq!(translated(client, None, &text).0, text);
        }

        #[test]
        fn nothing_panics(client in 0..Client::ALL.len(), text in "[${}:a-c5/é-]{0,30}") {
            translated(Client::ALL[client], Some("/p"), &text);
        }
    }
}

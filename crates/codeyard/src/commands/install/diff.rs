//! The changes of a file as a person reads them, without secrets.

use clients::{Found, is_secret, literals};
use similar::TextDiff;

use crate::output::harmless;

/// Lines around a change.
const CONTEXT: usize = 2;

/// The literal secrets of servers.
pub(super) fn secrets(found: &[Found]) -> Vec<String> {
    let definitions = found.iter().filter_map(|server| server.definition.as_ref().ok());
    definitions.flat_map(literals).collect()
}

/// What changes, in the unified form; known secrets, and texts under names of secrets, are hidden.
pub(super) fn shown(before: &str, after: &str, secrets: &[String]) -> String {
    let diff = TextDiff::from_lines(before, after);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        out.push_str(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches(['\r', '\n']);
            out.push_str(&format!("{}{}\n", change.tag(), hidden(line, secrets)));
        }
    }
    harmless(&out)
}

/// The line without what is secret in it.
fn hidden(line: &str, secrets: &[String]) -> String {
    let mut line = line.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        let spelled = serde_json::Value::from(secret.as_str()).to_string();
        line = line
            .replace(spelled.trim_matches('"'), "[hidden]")
            .replace(secret, "[hidden]");
    }
    // A text may stand under its name in any of three forms: `"name": "text"`, `name = "text"`, `name: text`.
    let name_end = line.find([':', '=']);
    if let Some(end) = name_end {
        let name = line[..end].trim().trim_matches(['"', '\'', '{', ' ']);
        let value = line[end + 1..]
            .trim()
            .trim_end_matches(',')
            .trim_matches(['"', '\'']);
        if is_secret(name, value) && !value.starts_with(['[', '{']) {
            let start = line.len() - line[end + 1..].trim_start().len();
            line.truncate(start);
            line.push_str("[hidden]");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        let before =
            "{\n  \"a\": 1,\n  \"env\": { \"X\": \"s3cret\" },\n  \"api_key\": \"other\",\n  \"b\": 2\n}\n";
        let after = "{\n  \"a\": 1,\n  \"b\": 2\n}\n";
        let shown = shown(before, after, &["s3cret".to_owned()]);
        assert!(!shown.contains("s3cret") && !shown.contains("other"), "{shown}");
        assert!(
            shown.contains("-  \"env\": { \"X\": \"[hidden]\" },\n"),
            "{shown}"
        );
        assert!(shown.contains("-  \"api_key\": [hidden]\n"), "{shown}");
    }

    #[test]
    fn the_three_forms_of_a_line() {
        for (line, expected) in [
            ("  \"token\": \"x\",", "  \"token\": [hidden]"),
            ("api_key = \"x\"", "api_key = [hidden]"),
            ("  Authorization: Bearer x", "  Authorization: [hidden]"),
            ("  \"enabled\": true,", "  \"enabled\": true,"),
            ("  \"token\": \"${env:X}\",", "  \"token\": \"${env:X}\","),
            ("  \"auth\": {", "  \"auth\": {"),
            ("https://x/y", "https://x/y"),
        ] {
            assert_eq!(hidden(line, &[]), expected);
        }
    }
}

//! The changes of a file as a person reads them, without what it holds.

use clients::{Change, Client, masked};
use serde_json::Value;
use similar::TextDiff;

use crate::output::harmless;

/// Lines around a change.
const CONTEXT: usize = 2;

/// Texts that may be shown: those that we write, and names of servers.
pub(super) fn shown_texts(change: &Change) -> Vec<String> {
    let mut texts = vec!["codeyard".to_owned(), "Programs that call MCP tools".to_owned()];
    texts.push(change.command.clone());
    texts.extend(change.args.iter().cloned());
    texts.extend(change.env.iter().map(|(_, value)| value.clone()));
    texts.extend(change.take.iter().map(|taken| taken.name.clone()));
    // Seconds of a call, where a client wants to be told.
    texts.push("300".to_owned());
    for name in &change.passed {
        texts.extend([name.clone(), format!("${{{name}}}"), format!("${{{name}:-}}")]);
        texts.extend([format!("${{env:{name}}}"), format!("{{env:{name}}}")]);
    }
    texts
}

/// Texts of an entry of ours that may be shown: what it starts.
pub(super) fn shown_of(entry: &Value) -> Vec<String> {
    let words = |value: &Value| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        let words = items.chain([value]).filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    };
    let mut texts = vec!["codeyard".to_owned()];
    texts.extend(
        ["command", "cmd", "args"]
            .iter()
            .flat_map(|field| words(&entry[field])),
    );
    texts
}

/// What changes, in the unified form; texts that are not `shown` are hidden.
pub(super) fn diff(client: Client, before: &str, after: &str, shown: &[String]) -> String {
    let [hidden_before, hidden_after] = [before, after].map(|text| masked(client.format(), text, shown));
    let diff = TextDiff::from_lines(&hidden_before, &hidden_after);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        out.push_str(&format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let line = change.value().trim_end_matches(['\r', '\n']);
            out.push_str(&format!("{}{line}\n", change.tag()));
        }
    }
    if out.is_empty() && before != after {
        out.push_str("only texts that are hidden here differ\n");
    }
    harmless(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_write_is_shown() {
        let before = "{\n  \"a\": 1,\n  \"env\": {\"X\": \"s3c\\u0072et\"},\n  \"b\": 2\n}\n";
        let after = "{\n  \"a\": 1,\n  \"command\": \"/bin/codeyard\",\n  \"b\": 2\n}\n";
        let shown = diff(Client::Cursor, before, after, &["/bin/codeyard".to_owned()]);
        assert!(shown.contains("-  \"env\": {\"X\": \"[hidden]\"},\n"), "{shown}");
        assert!(shown.contains("+  \"command\": \"/bin/codeyard\",\n"), "{shown}");
        let other = before.replace("s3c", "s4c");
        assert!(diff(Client::Cursor, before, &other, &[]).contains("hidden here differ"));
    }
}

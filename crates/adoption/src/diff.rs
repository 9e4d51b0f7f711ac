//! The changes of a file for display, without the file's secrets.

use clients::{Client, masked, plain_texts};
use similar::TextDiff;

/// Unchanged lines around each change.
const CONTEXT: usize = 2;

/// The unified diff of two versions of a client's file. Hides texts that may be secrets, unless they are in
/// `shown`.
pub fn diff(client: Client, before: &str, after: &str, shown: &[String]) -> String {
    let documents = [before, after].map(|text| client.format().parse(text));
    let plain = documents.iter().flatten().flat_map(plain_texts);
    let shown: Vec<String> = shown.iter().cloned().chain(plain).collect();
    let [hidden_before, hidden_after] = [before, after].map(|text| masked(client.format(), text, &shown));
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
        out.push_str("only hidden texts differ\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_except_secrets_is_shown() {
        let before = "{\n  \"a\": \"plain\",\n  \"env\": {\"KEY\": \"s3c\\u0072et\"},\n  \"b\": 2\n}\n";
        let after = "{\n  \"a\": \"plain\",\n  \"command\": \"/bin/codeyard\",\n  \"b\": 2\n}\n";
        let shown = diff(Client::Cursor, before, after, &["/bin/codeyard".to_owned()]);
        assert!(
            shown.contains("-  \"env\": {\"KEY\": \"[hidden]\"},\n"),
            "{shown}"
        );
        assert!(shown.contains("   \"a\": \"plain\",\n"), "{shown}");
        assert!(shown.contains("+  \"command\": \"/bin/codeyard\",\n"), "{shown}");
        let other = before.replace("s3c", "s4c");
        assert!(diff(Client::Cursor, before, &other, &[]).contains("only hidden texts differ"));
    }
}

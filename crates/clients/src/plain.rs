//! Collects the texts of a client's file that are not secrets, for display in a diff.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::secrets::{found, is_plain};

/// Minimum bytes of a secret to search within other texts.
const SHORTEST_PART: usize = 4;

/// Fields whose members are request headers.
const HEADERS: [&str; 2] = ["headers", "http_headers"];

/// Headers that hold no credentials.
const PLAIN_HEADERS: [&str; 4] = ["accept", "content-type", "user-agent", "mcp-protocol-version"];

/// Texts and numbers that may be shown. A secret in one place is hidden everywhere.
pub fn plain_texts(document: &Value) -> Vec<String> {
    let mut texts = Texts::default();
    texts.read("", document);
    let Texts {
        mut plain,
        mut secret,
    } = texts;
    // A variable reference names a secret but contains none.
    secret.retain(|text| !is_reference(text));
    let is_in = |text: &String, secret: &String| {
        text == secret || (secret.len() >= SHORTEST_PART && text.contains(secret.as_str()))
    };
    plain.retain(|text| !secret.iter().any(|secret| is_in(text, secret)));
    plain.into_iter().collect()
}

#[derive(Default)]
struct Texts {
    plain: BTreeSet<String>,
    secret: BTreeSet<String>,
}

// === impl Texts ===

impl Texts {
    fn read(&mut self, name: &str, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.sort(name, &number.to_string()),
            Value::String(text) => self.sort(name, text),
            Value::Array(items) => self.read_list(name, items),
            Value::Object(members) => self.read_members(members),
        }
    }

    fn read_members(&mut self, members: &Map<String, Value>) {
        self.secret.extend(found(members));
        for (name, value) in members {
            match value {
                Value::Object(headers) if HEADERS.contains(&name.as_str()) => self.read_headers(headers),
                value => self.read(name, value),
            }
        }
    }

    /// Reads a list. In a command, an option names the next word.
    fn read_list(&mut self, name: &str, items: &[Value]) {
        let definition = json!({"command": items.first(), "args": items.get(1..)});
        self.secret
            .extend(definition.as_object().map(found).unwrap_or_default());
        let mut before = name;
        for item in items {
            self.read(before, item);
            let option = item.as_str().filter(|word| word.starts_with('-'));
            before = option.unwrap_or(name);
        }
    }

    fn read_headers(&mut self, headers: &Map<String, Value>) {
        for (name, value) in headers {
            let is_setting = PLAIN_HEADERS.contains(&name.to_ascii_lowercase().as_str());
            let Value::String(text) = value else {
                self.read(name, value);
                continue;
            };
            let texts = if is_setting || is_reference(text) {
                &mut self.plain
            } else {
                &mut self.secret
            };
            texts.insert(text.clone());
        }
    }

    fn sort(&mut self, name: &str, text: &str) {
        let texts = if is_plain(name, text) {
            &mut self.plain
        } else {
            &mut self.secret
        };
        texts.insert(text.to_owned());
    }
}

/// Whether a header consists only of variables after its scheme.
fn is_reference(text: &str) -> bool {
    let value = text.rsplit(' ').next().unwrap_or_default();
    value.starts_with("${") && value.ends_with('}') && !value.contains(":-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(document: Value, plain: &[&str], secret: &[&str]) {
        let shown = plain_texts(&document);
        for text in plain {
            assert!(shown.iter().any(|known| known == text), "{text} not in {shown:?}");
        }
        for text in secret {
            assert!(
                !shown.iter().any(|known| known.contains(text)),
                "{text} in {shown:?}"
            );
        }
    }

    #[test]
    fn arguments_paths_and_settings_are_plain() {
        check(
            json!({"mcpServers": {"files": {
                "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/srv/desk"],
                "env": {"MEMORY_FILE_PATH": "/srv/desk/memory.jsonl", "LOG_LEVEL": "debug", "API_TOKEN": "${API_TOKEN}"},
                "timeout": 30000,
            }}, "theme": "dark"}),
            &[
                "npx",
                "-y",
                "@modelcontextprotocol/server-filesystem@2026.8.31",
                "/srv/desk",
                "/srv/desk/memory.jsonl",
                "debug",
                "${API_TOKEN}",
                "30000",
                "dark",
            ],
            &[],
        );
    }

    #[test]
    fn secrets_are_not() {
        check(
            json!({"servers": [{
                "cmd": ["mysql", "-u", "me", "-p", "hunterhunter"],
                "args": ["--api-key", "abcd1", "--token=abcd2", "postgres://me:abcd3@h/db", "plain"],
                "env": {"GITHUB_TOKEN": "ghp_0123456789abcdef", "CALC_TOKEN": "secret", "ANY": "9f86d081884c7d659a2feaa0c55ad015", "PIN": 1234},
                "headers": {"Authorization": "Bearer abcd4", "X-Any": "abcd5", "Accept": "text/plain", "X-Token": "Bearer ${TOKEN}"},
                "url": "https://h/mcp?token=abcd6",
            }]}),
            &["plain", "text/plain", "mysql", "Bearer ${TOKEN}"],
            &["abcd", "ghp_", "secret", "9f86d081", "1234"],
        );
    }

    #[test]
    fn a_text_that_is_a_secret_elsewhere_is_hidden() {
        check(
            json!({"a": {"env": {"DB_PASSWORD": "postgres", "DB_USER": "postgres", "DB_URL": "//postgres@h"}}}),
            &[],
            &["postgres"],
        );
    }
}

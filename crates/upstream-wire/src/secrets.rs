//! Hides the secret values of a definition in everything that its server writes.

mod forms;

use std::fmt;

use parking_lot::{RwLock, RwLockReadGuard};
use serde_json::Value;

use crate::definition::{SecretValues, Transport};

/// Shortest value of `env` or a header that is hidden, in bytes. Shorter values are words like `true`.
const MIN_VALUE: usize = 6;
/// Shortest hidden value in bytes, if the value is known to be secret.
const MIN_SECRET: usize = 4;
/// Learned values that are kept; each renewed token adds one.
const MAX_LEARNED: usize = 64;
const HIDDEN: &[u8] = b"[hidden]";

/// The secret values of one server.
#[derive(Default)]
pub struct Secrets {
    /// Values of the definition, then learned values, oldest first.
    values: RwLock<Vec<Vec<u8>>>,
    /// How many values come from the definition.
    fixed: usize,
}

impl Secrets {
    /// Hides the definition's secret values, and all values of its `env` and headers.
    pub(crate) fn of(secrets: &SecretValues, transport: &Transport) -> Secrets {
        let mut values: Vec<Vec<u8>> = secrets
            .0
            .iter()
            .flat_map(|value| forms::of(value, MIN_SECRET))
            .collect();
        match transport {
            Transport::Stdio(stdio) => {
                values.extend(stdio.env.values().flat_map(|value| forms::of(value, MIN_VALUE)))
            }
            Transport::Http(http) => {
                values.extend(http.headers.values().flat_map(|value| header_forms(value)))
            }
        }
        Secrets::new(values)
    }

    fn new(mut values: Vec<Vec<u8>>) -> Secrets {
        values.sort();
        values.dedup();
        Secrets {
            fixed: values.len(),
            values: RwLock::new(values),
        }
    }

    /// Adds the value of a sent header, and its token without the scheme.
    pub(crate) fn learn(&self, value: &str) {
        for part in header_forms(value) {
            if self.values().contains(&part) {
                continue;
            }
            let mut values = self.values.write();
            if values.len() >= self.fixed + MAX_LEARNED {
                values.remove(self.fixed);
            }
            values.push(part);
        }
    }

    /// Hides secrets in texts and names.
    pub fn hide_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.hide(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.hide_value(item)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(name, value)| (self.hide(&name), self.hide_value(value)))
                .collect(),
            other => other,
        }
    }

    /// The text without secrets.
    pub fn hide(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.hide_bytes(text.as_bytes())).into_owned()
    }

    pub(crate) fn hide_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let values = self.values();
        if values.is_empty() {
            return bytes.to_vec();
        }
        let mut shown = Vec::with_capacity(bytes.len());
        let mut hidden_to = 0;
        for start in 0..bytes.len() {
            let end = end_of_secret(&values, bytes, start);
            if start >= hidden_to {
                shown.extend_from_slice(if end > start {
                    HIDDEN
                } else {
                    &bytes[start..=start]
                });
            }
            hidden_to = hidden_to.max(end);
        }
        shown
    }

    /// The first position from `at` on where a cut splits no secret.
    pub(crate) fn cut(&self, bytes: &[u8], at: usize) -> usize {
        let values = self.values();
        let mut end = at.min(bytes.len());
        let mut start = end.saturating_sub(longest(&values));
        while start < end {
            end = end.max(end_of_secret(&values, bytes, start));
            start += 1;
        }
        end
    }

    /// Longest incomplete secret at the end of a text, in bytes.
    pub(crate) fn max_incomplete(&self) -> usize {
        longest(&self.values()).saturating_sub(1)
    }

    fn values(&self) -> RwLockReadGuard<'_, Vec<Vec<u8>>> {
        self.values.read()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.values().len())
    }
}

/// The header's value, its token without the scheme, and the password in a `Basic` token.
fn header_forms(value: &str) -> Vec<Vec<u8>> {
    let mut found = forms::of(value, MIN_VALUE);
    if let Some((scheme, token)) = value.split_once(' ') {
        found.extend(forms::of(token, MIN_VALUE));
        if scheme.eq_ignore_ascii_case("basic") {
            found.extend(
                forms::password(token)
                    .iter()
                    .flat_map(|password| forms::of(password, MIN_SECRET)),
            );
        }
    }
    found
}

fn longest(values: &[Vec<u8>]) -> usize {
    values.iter().map(Vec::len).max().unwrap_or_default()
}

/// The end of the longest secret that begins at `start`; `start` if none begins.
fn end_of_secret(values: &[Vec<u8>], bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let found = values.iter().filter(|value| rest.starts_with(value));
    start + found.map(Vec::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::definition::Http;

    fn secrets(values: &[&str]) -> Secrets {
        Secrets::new(
            values
                .iter()
                .flat_map(|value| forms::of(value, MIN_VALUE))
                .collect(),
        )
    }

    fn check(values: &[&str], text: &str, expected: &str) {
        assert_eq!(secrets(values).hide(text), expected, "{values:?}");
    }

    #[test]
    fn secrets_are_hidden_whole() {
        check(&[], "token=abc", "token=abc");
        check(&["true"], "it is true", "it is true");
        check(&["s3cr3t"], "s3cr3ts3cr3t.s3cr3", "[hidden][hidden].s3cr3");
        check(
            &["\u{fc}ber-s3cr3t"],
            "\u{fc}\u{fc}ber-s3cr3t\u{fc}",
            "\u{fc}[hidden]\u{fc}",
        );
        // When secrets share a beginning or overlap, no part of either stays.
        check(
            &["github", "github_pat_1"],
            "github: github_pat_1",
            "[hidden]: [hidden]",
        );
        check(&["abcdefgh", "efghijkl"], "abcdefghijkl", "[hidden]");
        check(&["hidden"], "hidden", "[hidden]");
    }

    #[test]
    fn each_line_of_a_value_is_one() {
        let key = "-----BEGIN KEY-----\r\nMIIEvQIBADANBg\nab==\n-----END KEY-----\n";
        check(&[key], "read MIIEvQIBADANBg", "read [hidden]");
        check(&[key], key, "[hidden]\n");
    }

    #[test]
    fn the_token_of_a_header_is_one_without_its_scheme() {
        let secrets = secrets(&[]);
        secrets.learn("Bearer abc-def");
        assert_eq!(secrets.hide("Bearer abc-def, abc-def"), "[hidden], [hidden]");
        for number in 0..MAX_LEARNED {
            secrets.learn(&format!("token-{number}"));
        }
        assert_eq!(
            secrets.hide("abc-def token-0 token-63"),
            "abc-def [hidden] [hidden]"
        );
    }

    #[test]
    fn learned_values_never_displace_the_definitions() {
        let secrets = secrets(&["s3cr3t"]);
        for number in 0..=MAX_LEARNED {
            secrets.learn(&format!("token-{number}"));
        }
        assert_eq!(
            secrets.hide("s3cr3t token-0 token-1"),
            "[hidden] token-0 [hidden]"
        );
    }

    #[test]
    fn a_definition_tells_what_is_secret() {
        let transport = Transport::Http(Http {
            headers: [("authorization".to_owned(), "Basic bWU6aHVudGVy".to_owned())].into(),
            ..Http::default()
        });
        let secrets = SecretValues(["abcd".to_owned(), "a\"b%2Bc".to_owned()].into());
        let secrets = Secrets::of(&secrets, &transport);
        for text in [
            "abcd",
            "bWU6aHVudGVy",
            "hunter",
            "me:hunter",
            "a\"b%2Bc",
            r#"a\"b%2Bc"#,
            "a\"b+c",
        ] {
            assert_eq!(secrets.hide(text).replace("me:", ""), "[hidden]", "{text}");
        }
        let value = secrets.hide_value(json!({"abcd": ["x abcd", 5], "y": {"z": "abc"}}));
        assert_eq!(value, json!({"[hidden]": ["x [hidden]", 5], "y": {"z": "abc"}}));
    }

    #[test]
    fn no_cut_goes_through_a_secret() {
        let check = |text: &str, at: usize, expected: usize| {
            let found = secrets(&["abcdef", "efghij"]).cut(text.as_bytes(), at);
            assert_eq!(found, expected, "{text} {at}");
        };
        check("12abcdef34", 2, 2);
        check("12abcdef34", 3, 8);
        check("12abcdef34", 8, 8);
        check("12abcdefghij34", 3, 12);
        check("12abcde", 4, 4);
        check("12", 9, 2);
    }
}

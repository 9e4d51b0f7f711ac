//! What a definition keeps secret: found in the words of its server, and hidden before anybody reads them.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Shorter values are words like `true`, and hiding them would garble the text.
const SHORTEST: usize = 6;
/// Values that were learned and are kept: a token that is renewed is another value each time.
const MAX_LEARNED: usize = 64;
/// What stands in their place.
const HIDDEN: &[u8] = b"[hidden]";

/// Values that go to one server and into no message, no warning and no log.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    values: RwLock<Vec<Vec<u8>>>,
}

impl Secrets {
    /// Those that are known from the start: the values of a definition's `env`.
    pub(crate) fn new<'a>(values: impl IntoIterator<Item = &'a String>) -> Secrets {
        let values = values.into_iter().flat_map(|value| parts(value)).collect();
        Secrets {
            values: RwLock::new(values),
        }
    }

    /// One more: the value of a header that is sent, also without the scheme before its token.
    pub(crate) fn learn(&self, value: &str) {
        let token = value.split_once(' ').map(|(_scheme, token)| token);
        for part in parts(value).chain(token.into_iter().flat_map(parts)) {
            if self.values().contains(&part) {
                continue;
            }
            let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
            if values.len() >= MAX_LEARNED {
                values.remove(0);
            }
            values.push(part);
        }
    }

    /// The text without them.
    pub(crate) fn hide(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.hide_bytes(text.as_bytes())).into_owned()
    }

    /// The same of bytes that may be no text.
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

    /// Where a text can be cut without leaving half of a secret before the cut: there, or a little later.
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

    /// How long a secret can be of which only the beginning has come.
    pub(crate) fn longest_beginning(&self) -> usize {
        longest(&self.values()).saturating_sub(1)
    }

    fn values(&self) -> RwLockReadGuard<'_, Vec<Vec<u8>>> {
        self.values.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value and its lines: what a server writes arrives line by line.
fn parts(value: &str) -> impl Iterator<Item = Vec<u8>> {
    let lines = value.lines().filter(move |line| line.len() < value.len());
    std::iter::once(value)
        .chain(lines)
        .map(str::trim)
        .filter(|part| part.len() >= SHORTEST)
        .map(|part| part.as_bytes().to_vec())
}

fn longest(values: &[Vec<u8>]) -> usize {
    values.iter().map(Vec::len).max().unwrap_or_default()
}

/// The end of the longest secret that begins here; `start` if none does.
fn end_of_secret(values: &[Vec<u8>], bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    let found = values.iter().filter(|value| rest.starts_with(value));
    start + found.map(Vec::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[&str]) -> Secrets {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Secrets::new(&values)
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
        // One that begins another, or overlaps with it, leaves nothing of it.
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

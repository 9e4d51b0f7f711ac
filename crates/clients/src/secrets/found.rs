//! Finds likely secrets in a definition with expanded variables, to keep them out of messages.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::signs::{Position, bare, begins_secret, is_named_so};
use super::{collect, hide, parameter};
use crate::variables::reference;

/// Characters that end a word, so that secrets in scripts, addresses and lists are found separately.
const ENDS: &str = " \t\r\n\"'`,;(){}[]<>|&?#";

/// Minimum letters and digits of a text that looks random.
const SHORTEST_DRAWN: usize = 20;

/// Minimum number of changes between letters and digits in such a text.
const FEWEST_TURNS: usize = 4;

/// Secrets of an entry in our form with expanded variables: every value that [`hide`] would hide or leave to a person.
pub fn found(definition: &Map<String, Value>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut hidden = definition.clone();
    hide("", &mut hidden, &mut |name, secret| {
        found.insert(secret.to_owned());
        name.to_owned()
    });
    for field in ["env", "headers"] {
        let pairs = definition.get(field).and_then(Value::as_object);
        for (name, value) in pairs.into_iter().flatten() {
            if let Some(text) = value.as_str() {
                named(name, text, &mut found);
                search(text, &mut found);
            }
        }
    }
    let args = definition.get("args").and_then(Value::as_array);
    let mut option = "";
    for word in args.into_iter().flatten().filter_map(Value::as_str) {
        if option.starts_with('-') {
            named(option, word, &mut found);
        }
        search(word, &mut found);
        option = word;
    }
    for field in ["command", "url", "cwd"] {
        if let Some(text) = definition.get(field).and_then(Value::as_str) {
            search(text, &mut found);
        }
    }
    found
}

/// Whether a value with this name may be shown: no part is a secret by name or by form.
pub fn is_plain(name: &str, value: &str) -> bool {
    let mut found = BTreeSet::new();
    // The value of a reference is stored elsewhere; its default is part of this text.
    let literal = without_references(value);
    named(name, &literal, &mut found);
    search(&literal, &mut found);
    found.retain(|secret| !secret.is_empty());
    found.is_empty() && !looks_drawn(&literal)
}

/// The text without `${NAME}`; defaults of variables remain.
fn without_references(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, inner, after)) = reference(rest, "${") {
        out.push_str(before);
        out.push_str(inner.split_once(":-").map_or("", |(_name, default)| default));
        rest = after;
    }
    out + rest
}

/// Whether a part of a text looks random, like a key: long, with alternating letters and digits. Each part of a path
/// is judged separately.
fn looks_drawn(text: &str) -> bool {
    let is_path = text.starts_with(['/', '.', '~']);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-+=".contains(c) || (c == '/' && !is_path);
    text.split(|c| !is_part(c)).any(|part| {
        let digits: Vec<bool> = part
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.is_ascii_digit())
            .collect();
        let turns = digits.windows(2).filter(|two| two[0] != two[1]).count();
        digits.len() >= SHORTEST_DRAWN && turns >= FEWEST_TURNS
    })
}

/// Adds a value whose name marks a secret.
fn named(name: &str, value: &str, found: &mut BTreeSet<String>) {
    if is_named_so(parameter(name), value) {
        found.insert(bare(value.trim()).1.to_owned());
    }
}

/// Adds the secrets within a text.
fn search(text: &str, found: &mut BTreeSet<String>) {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        let mut inner = Vec::new();
        collect(Position::Header, "", &value, &mut inner);
        found.extend(inner.into_iter().map(|(_name, secret)| secret));
    }
    for sign in ['=', ':'] {
        if let Some((name, value)) = text.split_once(sign) {
            named(name, value, found);
        }
    }
    let mut before = "";
    for word in text.split(|c| ENDS.contains(c)).filter(|word| !word.is_empty()) {
        let is_token = matches!(before, "Bearer" | "Basic") && word.len() > 1;
        if begins_secret(word) || is_token {
            found.insert(word.to_owned());
        }
        if let Some((name, value)) = word.split_once('=') {
            named(name, value, found);
            if begins_secret(value) {
                found.insert(value.to_owned());
            }
        }
        if let Some(password) = password(word) {
            found.insert(password.to_owned());
        }
        before = word;
    }
}

/// The password before an address's host, after the user's name if there is one.
fn password(word: &str) -> Option<&str> {
    let (_scheme, rest) = word.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (user, _host) = rest[..end].rsplit_once('@')?;
    match user.split_once(':') {
        Some((_user, password)) => Some(password),
        None => begins_secret(user).then_some(user),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(definition: Value, expected: &[&str]) {
        let Value::Object(definition) = definition else {
            panic!("an object")
        };
        let found = found(&definition);
        let missed: Vec<_> = expected
            .iter()
            .filter(|secret| !found.contains(**secret))
            .collect();
        assert!(missed.is_empty(), "{missed:?} not in {found:?}");
        assert!(!expected.is_empty() || found.is_empty(), "{found:?}");
    }

    #[test]
    fn secrets_are_found_at_every_place() {
        check(
            json!({"args": ["--token=abc1", "--api-key", "abc2"]}),
            &["abc1", "abc2"],
        );
        check(json!({"args": ["--password", "two words"]}), &["two words"]);
        check(
            json!({"args": ["--header", "Authorization: Bearer abc3"]}),
            &["abc3"],
        );
        check(
            json!({"command": "sh", "args": ["-c", "API_KEY=abc4 curl -H 'X: Bearer abc5' postgres://a:abc6@h/d; x ghp_0123456789"]}),
            &["abc4", "abc5", "abc6", "ghp_0123456789"],
        );
        check(
            json!({"env": {"H": "{\"Authorization\": \"Bearer ab\\\"c7\"}", "D": "postgres://me:abc8@h/db", "P": "host=h password=abc9"}}),
            &["ab\"c7", "abc8", "abc9"],
        );
        check(json!({"env": {"DB_PASSWORD": "a b; c"}}), &["a b; c"]);
        check(
            json!({"url": "https://h/mcp?token=abc10&sig=abc11", "headers": {"Authorization": "Basic abc12"}}),
            &["abc10", "abc11", "abc12"],
        );
    }

    #[test]
    fn settings_are_none() {
        check(
            json!({"command": "npx", "args": ["-y", "@x/server", "--port", "80", "--auth", "oauth", "https://h/mcp?mode=a"],
                   "env": {"LANG": "C", "MAX_TOKENS": "4096", "KEY": "/a/key.pem"}}),
            &[],
        );
    }
}

//! Finds literal secrets in an entry, to store them elsewhere and hide them.

mod arguments;
mod found;
mod signs;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value};

use crate::variables::{is_name, reference};
pub use found::{found, is_plain};
use signs::{Position, bare, begins_secret, is_named_so, is_secret, secret_word};

/// URL parameters that hold secrets, in addition to the general secret names.
const PARAMETERS: [&str; 3] = ["sig", "code", "sas"];

/// Minimum letters and digits of a text between references that may be part of a secret.
const SHORTEST_PART: usize = 4;

/// A likely secret that stays in the entry; `Display` gives a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemainingSecret {
    /// The value with this name; it could be a command, so it stays visible.
    Runnable(String),
    /// The default value of this variable; a default cannot refer to another variable.
    Default(String),
}

impl fmt::Display for RemainingSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemainingSecret::Runnable(name) => write!(
                f,
                "`{name}` is named like a secret, but holds blanks or shell characters, so it is shown and stays in the entry; if it is a secret, write it into secrets.json yourself"
            ),
            RemainingSecret::Default(name) => write!(
                f,
                "the default of `${{{name}:-...}}` looks like a secret; it is shown and stays in the entry: write `${{{name}}}` there, and {name} with that value into secrets.json, if it is one"
            ),
        }
    }
}

/// Replaces each literal secret of an entry in our form by `${NAME}`. `keep` receives a suggested name and the secret,
/// and returns the name of the stored secret. Text that could be a command stays visible for a person's review.
/// Returns the secrets that stay.
pub fn hide(
    server: &str,
    definition: &mut Map<String, Value>,
    keep: &mut dyn FnMut(&str, &str) -> String,
) -> Vec<RemainingSecret> {
    let mut hider = Hider {
        server,
        keep,
        stayed: Vec::new(),
    };
    for (field, position) in [("env", Position::Variable), ("headers", Position::Header)] {
        let pairs = definition.get_mut(field).and_then(Value::as_object_mut);
        for (name, value) in pairs.into_iter().flatten() {
            if let Some(text) = value.as_str()
                && let Some(hidden) = hider.value(position, name, text)
            {
                *value = hidden.into();
            }
        }
    }
    let command = definition.get("command").and_then(Value::as_str);
    let command = command.unwrap_or_default().to_owned();
    if let Some(Value::Array(args)) = definition.get_mut("args") {
        arguments::hide(&mut hider, &command, args);
    }
    if let Some(Value::String(url)) = definition.get_mut("url") {
        hider.defaults("", url);
        if let Some(hidden) = hider.address(Position::Variable, url) {
            *url = hidden;
        }
    }
    hider.stayed
}

/// Whether a word names secrets.
pub fn names_secret(word: &str) -> bool {
    secret_word(word).is_some()
}

struct Hider<'a> {
    server: &'a str,
    keep: &'a mut dyn FnMut(&str, &str) -> String,
    /// Likely secrets that could be commands.
    stayed: Vec<RemainingSecret>,
}

impl Hider<'_> {
    /// Stores a secret and returns its replacement.
    fn kept(&mut self, name: &str, secret: &str) -> String {
        format!("${{{}}}", (self.keep)(&variable(self.server, name), secret))
    }

    /// A value with its secrets hidden; `None` without secrets.
    fn value(&mut self, position: Position, name: &str, text: &str) -> Option<String> {
        let (scheme, rest) = bare(text);
        if text.contains("${") {
            self.defaults(name, text);
            return match secret_word(name) {
                Some(_) => self.between(position, name, text),
                None => self.address(position, text),
            };
        }
        if is_secret(position, name, rest) {
            let name = if secret_word(name).is_some() || !name.starts_with('-') {
                name
            } else {
                "token"
            };
            return Some(format!("{scheme}{}", self.kept(name, rest)));
        }
        let hidden = if text.trim_start().starts_with('{') {
            self.object(position, text)
        } else {
            let address = self.address(position, text);
            address.or_else(|| self.pairs(position, text))
        };
        if hidden.is_none() && is_named_so(name, rest) && !text.contains("://") {
            self.stayed.push(RemainingSecret::Runnable(name.to_owned()));
        }
        hidden
    }

    /// Reports variables in a text whose default is a secret.
    fn defaults(&mut self, named: &str, text: &str) {
        let mut rest = text;
        while let Some((_, inner, after)) = reference(rest, "${") {
            rest = after;
            // Other text belongs to another program's syntax, which is reported elsewhere.
            let Some((name, default)) = inner.split_once(":-").filter(|(name, _)| is_name(name)) else {
                continue;
            };
            let is_one = begins_secret(default) || is_named_so(name, default) || is_named_so(named, default);
            let stays = RemainingSecret::Default(name.to_owned());
            if is_one && !default.is_empty() && !self.stayed.contains(&stays) {
                self.stayed.push(stays);
            }
        }
    }

    /// Hides the literal text between references, because it may be part of a secret.
    fn between(&mut self, position: Position, name: &str, text: &str) -> Option<String> {
        let (scheme, mut rest) = bare(text);
        let mut out = scheme.to_owned();
        while !rest.is_empty() {
            let start = rest.find("${").unwrap_or(rest.len());
            let (part, reference) = rest.split_at(start);
            let is_part = part.chars().filter(|c| c.is_alphanumeric()).count() >= SHORTEST_PART;
            if is_part && is_secret(position, name, part) {
                out.push_str(&self.kept(name, part));
            } else {
                out.push_str(part);
            }
            let end = reference.find('}').map_or(reference.len(), |end| end + 1);
            out.push_str(&reference[..end]);
            rest = &reference[end..];
        }
        (out != text).then_some(out)
    }

    /// A JSON object; some servers receive their headers in this form.
    fn object(&mut self, position: Position, text: &str) -> Option<String> {
        let value: Value = serde_json::from_str(text).ok()?;
        let mut found = Vec::new();
        collect(position, "", &value, &mut found);
        let mut out = text.to_owned();
        for (name, secret) in found {
            // If a secret contains escapes, its literal characters do not appear in the text.
            let literal = format!("{secret}\"");
            if out.contains(&literal) {
                let reference = self.kept(&name, &secret);
                out = out.replace(&literal, &format!("{reference}\""));
            }
        }
        (out != text).then_some(out)
    }

    /// `host=h password=x`, `Server=h;Password=x`.
    fn pairs(&mut self, position: Position, text: &str) -> Option<String> {
        let is_end = |c: char| {
            if text.contains(';') {
                c == ';'
            } else {
                c.is_whitespace()
            }
        };
        let mut out = String::new();
        for part in text.split_inclusive(is_end) {
            let end = &part[part.trim_end_matches(is_end).len()..];
            let pair = &part[..part.len() - end.len()];
            match pair.split_once('=') {
                Some((name, value)) => {
                    let inner = value.trim_matches(['\'', '"']);
                    if is_secret(position, name, inner) && !inner.is_empty() {
                        let reference = self.kept(name.trim(), inner);
                        out.push_str(&format!("{name}={}", value.replace(inner, &reference)));
                    } else {
                        out.push_str(pair);
                    }
                }
                None => out.push_str(pair),
            }
            out.push_str(end);
        }
        (out != text).then_some(out)
    }

    /// An address without its password and without secrets in its query.
    fn address(&mut self, position: Position, text: &str) -> Option<String> {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        // A password may contain `@`, so split at the last `@` before the host.
        let (authority, rest) = rest.split_at(end);
        // No part of an address is executed, so its password may be hidden like a variable's value.
        let position = match position {
            Position::Argument => Position::Variable,
            other => other,
        };
        let hidden = authority
            .rsplit_once('@')
            .and_then(|(user, host)| match user.split_once(':') {
                Some((user, password)) if is_secret(position, "password", password) => {
                    Some(format!("{user}:{}@{host}", self.kept("password", password)))
                }
                None if begins_secret(user) && is_secret(position, "token", user) => {
                    Some(format!("{}@{host}", self.kept("token", user)))
                }
                _ => None,
            });
        let authority = hidden.as_deref().unwrap_or(authority);
        let out = format!("{scheme}://{authority}{}", self.query(position, rest));
        (out != text).then_some(out)
    }

    fn query(&mut self, position: Position, rest: &str) -> String {
        let Some((path, query)) = rest.split_once('?') else {
            return rest.to_owned();
        };
        let (query, fragment) = query
            .split_once('#')
            .map_or((query, None), |(query, end)| (query, Some(end)));
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, value)) if is_secret(position, parameter(name), value) => {
                format!("{name}={}", self.kept(name, value))
            }
            _ => pair.to_owned(),
        });
        let pairs: Vec<String> = pairs.collect();
        let end = fragment.map_or(String::new(), |end| format!("#{end}"));
        format!("{path}?{}{end}", pairs.join("&"))
    }
}

/// The part of a parameter's name that marks a secret.
fn parameter(name: &str) -> &str {
    if PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) {
        "token"
    } else {
        name
    }
}

/// Secrets in a value, with the names of their members.
fn collect(position: Position, name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => {
            let secret = bare(text).1;
            if is_secret(position, name, secret) && !text.contains("${") {
                found.push((name.to_owned(), secret.to_owned()));
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                collect(position, name, value, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(position, name, item, found);
            }
        }
        _ => {}
    }
}

/// A variable name that is unlikely to clash: `CODEYARD_<SERVER>_<NAME>`; a common prefix appears once.
fn variable(server: &str, name: &str) -> String {
    let (server, name) = (capitals(server), capitals(name));
    let own = name.strip_prefix(&server).and_then(|rest| rest.strip_prefix('_'));
    let parts = ["CODEYARD", &server, own.unwrap_or(&name)];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

/// Capital letters and digits, with single underscores between them.
fn capitals(text: &str) -> String {
    let sign = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let signs: String = text.chars().map(sign).collect();
    let parts: Vec<&str> = signs.split('_').filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

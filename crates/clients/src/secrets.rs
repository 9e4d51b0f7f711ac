//! Finds secrets that stand in an entry as they are, so that they can be kept elsewhere and never shown.

use serde_json::{Map, Value};

/// Words of a name that say that its value is a secret.
const WORDS: [&str; 16] = [
    "token",
    "key",
    "apikey",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pass",
    "credential",
    "credentials",
    "authorization",
    "auth",
    "cookie",
    "pat",
    "bearer",
];

/// Last words of a name that say where a secret is, or whose, not what it is.
const ABOUT: [&str; 12] = [
    "path",
    "file",
    "dir",
    "directory",
    "url",
    "uri",
    "id",
    "name",
    "type",
    "endpoint",
    "host",
    "ttl",
];

/// How secrets of known services begin.
const BEGINNINGS: [&str; 17] = [
    "sk-",
    "sk_",
    "pk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "hf_",
    "npm_",
    "AKIA",
    "eyJ",
];

/// First words of a header's value that say how to take the rest.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

/// Whether a value under that name is a secret, by the name or by how it begins. Variables of ours are none.
pub fn is_secret(name: &str, value: &str) -> bool {
    let is_plain = value.trim().is_empty() || matches!(value, "true" | "false") || value.contains("${");
    !is_plain && (names_secret(name) || begins_secret(value))
}

fn begins_secret(value: &str) -> bool {
    let value = bare(value).1;
    BEGINNINGS
        .iter()
        .any(|start| value.starts_with(start) && value.len() >= start.len() + 8)
}

/// A value's scheme, with its blank, and the rest.
fn bare(value: &str) -> (&str, &str) {
    let scheme = SCHEMES.into_iter().find(|scheme| value.starts_with(scheme));
    value.split_at(scheme.map_or(0, str::len))
}

fn names_secret(name: &str) -> bool {
    let words = words(name);
    let is_about = words.last().is_some_and(|last| ABOUT.contains(&last.as_str()));
    !is_about && words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// The words of `apiKey`, `API_KEY`, `--api-key`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Puts `${NAME}` in the place of each literal secret of an entry in our form. `keep` is given a name that would do and the
/// secret, and gives the name under which it is kept.
pub fn hide(server: &str, definition: &mut Map<String, Value>, keep: &mut dyn FnMut(&str, &str) -> String) {
    let mut kept = |name: &str, value: &str| format!("${{{}}}", keep(&variable(name), value));
    for field in ["env", "headers"] {
        for (name, value) in definition
            .get_mut(field)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flatten()
        {
            let Some(text) = value.as_str().filter(|text| is_secret(name, text)) else {
                continue;
            };
            let (scheme, secret) = bare(text);
            let wanted = if field == "env" {
                name.clone()
            } else {
                format!("{server}_{name}")
            };
            *value = format!("{scheme}{}", kept(&wanted, secret)).into();
        }
    }
    hide_arguments(server, definition, &mut kept);
    if let Some(Value::String(url)) = definition.get_mut("url") {
        *url = hide_query(server, url, &mut kept);
    }
}

fn hide_arguments(
    server: &str,
    definition: &mut Map<String, Value>,
    kept: &mut dyn FnMut(&str, &str) -> String,
) {
    let mut flag = String::new();
    let args = definition.get_mut("args").and_then(Value::as_array_mut);
    for word in args.into_iter().flatten() {
        let Some(text) = word.as_str().map(str::to_owned) else {
            continue;
        };
        let before = std::mem::take(&mut flag);
        let is_flag = text.starts_with('-');
        match text.split_once('=') {
            Some((name, value)) if is_secret(name, value) => {
                let reference = kept(&format!("{server}_{name}"), value);
                *word = format!("{name}={reference}").into();
            }
            None if is_flag => flag = text,
            // `--header "Authorization: Bearer x"`, as mcp-remote takes it.
            _ => match text.split_once(':') {
                Some((name, value)) if !name.contains('/') && is_secret(name, value.trim_start()) => {
                    let blank = &value[..value.len() - value.trim_start().len()];
                    let (scheme, secret) = bare(value.trim_start());
                    let reference = kept(&format!("{server}_{name}"), secret);
                    *word = format!("{name}:{blank}{scheme}{reference}").into();
                }
                _ if is_secret(&before, &text) => {
                    let wanted = if names_secret(&before) {
                        before
                    } else {
                        "token".to_owned()
                    };
                    *word = kept(&format!("{server}_{wanted}"), &text).into();
                }
                _ => {}
            },
        }
    }
}

fn hide_query(server: &str, url: &str, kept: &mut dyn FnMut(&str, &str) -> String) -> String {
    let Some((address, query)) = url.split_once('?') else {
        return url.to_owned();
    };
    let (query, fragment) = query
        .split_once('#')
        .map_or((query, None), |(query, end)| (query, Some(end)));
    let mut pairs = Vec::new();
    for pair in query.split('&') {
        pairs.push(match pair.split_once('=') {
            Some((name, value)) if is_secret(name, value) => {
                let reference = kept(&format!("{server}_{name}"), value);
                format!("{name}={reference}")
            }
            _ => pair.to_owned(),
        });
    }
    let end = fragment.map_or(String::new(), |end| format!("#{end}"));
    format!("{address}?{}{end}", pairs.join("&"))
}

/// A name that a variable can have.
fn variable(text: &str) -> String {
    let sign = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let parts: String = text.chars().map(sign).collect();
    let parts: Vec<&str> = parts.split('_').filter(|part| !part.is_empty()).collect();
    let name = parts.join("_");
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("S_{name}")
    }
}

/// The literal secrets of an entry in our form.
pub fn literals(definition: &Map<String, Value>) -> Vec<String> {
    let mut all = Vec::new();
    hide("", &mut definition.clone(), &mut |_, value| {
        all.push(value.to_owned());
        String::new()
    });
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_beginnings_tell() {
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "abc", true),
            ("apiKey", "abc", true),
            ("Authorization", "Bearer abc", true),
            ("X-Api-Key", "abc", true),
            ("DB_PASSWORD", "x y", true),
            ("ANYTHING", "ghp_0123456789abcdef", true),
            ("ANYTHING", "sk-ant-REDACTED", true),
            ("GITHUB_TOKEN", "${GITHUB_TOKEN}", false),
            ("GITHUB_TOKEN", "", false),
            ("MAX_TOKENS", "4096", false),
            ("KEYBOARD", "us", false),
            ("SSH_KEY_PATH", "/home/a/.ssh/id", false),
            ("TOKEN_FILE", "/run/token", false),
            ("AUTH", "true", false),
            ("LEVEL", "debug", false),
            ("LANG", "sk-SK", false),
        ] {
            assert_eq!(is_secret(name, value), expected, "{name}={value}");
        }
    }

    #[test]
    fn they_are_replaced_wherever_they_stand() {
        let mut entry = json!({
            "command": "x",
            "args": ["--api-key", "abc1", "--token=abc2", "--port", "80", "--header", "Authorization: Bearer abc3",
                "ghp_0123456789abcdef", "postgres://localhost/x", "--verbose", "plain"],
            "env": {"MY_TOKEN": "abc4", "LEVEL": "debug", "KEPT": "${MY_TOKEN}"},
            "headers": {"Authorization": "Bearer abc5", "x-trace": "on"},
            "url": "https://h/mcp?key=abc6&x=1#y",
        });
        let fields = entry.as_object_mut().unwrap();
        let mut all = Vec::new();
        hide("my server", fields, &mut |name, value| {
            all.push(format!("{name}={value}"));
            name.to_owned()
        });
        assert_eq!(
            all,
            [
                "MY_TOKEN=abc4",
                "MY_SERVER_AUTHORIZATION=abc5",
                "MY_SERVER_API_KEY=abc1",
                "MY_SERVER_TOKEN=abc2",
                "MY_SERVER_AUTHORIZATION=abc3",
                "MY_SERVER_TOKEN=ghp_0123456789abcdef",
                "MY_SERVER_KEY=abc6",
            ]
        );
        assert_eq!(
            entry,
            json!({
                "command": "x",
                "args": ["--api-key", "${MY_SERVER_API_KEY}", "--token=${MY_SERVER_TOKEN}", "--port", "80", "--header",
                    "Authorization: Bearer ${MY_SERVER_AUTHORIZATION}", "${MY_SERVER_TOKEN}", "postgres://localhost/x",
                    "--verbose", "plain"],
                "env": {"MY_TOKEN": "${MY_TOKEN}", "LEVEL": "debug", "KEPT": "${MY_TOKEN}"},
                "headers": {"Authorization": "Bearer ${MY_SERVER_AUTHORIZATION}", "x-trace": "on"},
                "url": "https://h/mcp?key=${MY_SERVER_KEY}&x=1#y",
            })
        );
        assert!(literals(entry.as_object().unwrap()).is_empty());
    }
}

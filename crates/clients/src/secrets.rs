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
const BEGINNINGS: [&str; 26] = [
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
    "ntn_",
    "secret_",
    "pat_",
    "figd_",
    "lin_api_",
    "dop_v1_",
    "shpat_",
    "tvly-",
    "AIza",
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
    let mut kept = |name: &str, value: &str| format!("${{{}}}", keep(&variable(server, name), value));
    for field in ["env", "headers"] {
        for (name, value) in definition
            .get_mut(field)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flatten()
        {
            let Some(text) = value.as_str() else {
                continue;
            };
            let hidden = if is_secret(name, text) {
                let (scheme, secret) = bare(text);
                format!("{scheme}{}", kept(name, secret))
            } else if holds_secret(text) {
                kept(name, text)
            } else {
                hide_address(text, &mut kept)
            };
            *value = hidden.into();
        }
    }
    hide_arguments(definition, &mut kept);
    if let Some(Value::String(url)) = definition.get_mut("url") {
        *url = hide_address(url, &mut kept);
    }
}

/// Whether a text is an object in JSON with a secret in it, as some servers take their headers.
fn holds_secret(text: &str) -> bool {
    fn is_one(name: &str, value: &Value) -> bool {
        match value {
            Value::String(text) => is_secret(name, text),
            Value::Object(members) => members.iter().any(|(name, value)| is_one(name, value)),
            Value::Array(items) => items.iter().any(|item| is_one(name, item)),
            _ => false,
        }
    }
    // With a variable of ours in it, it is no literal any more.
    let is_literal = text.trim_start().starts_with('{') && !text.contains("${");
    is_literal && serde_json::from_str::<Value>(text).is_ok_and(|value| is_one("", &value))
}

fn hide_arguments(definition: &mut Map<String, Value>, kept: &mut dyn FnMut(&str, &str) -> String) {
    let mut flag = String::new();
    let args = definition.get_mut("args").and_then(Value::as_array_mut);
    for word in args.into_iter().flatten() {
        let Some(text) = word.as_str().map(str::to_owned) else {
            continue;
        };
        let before = std::mem::take(&mut flag);
        let is_flag = text.starts_with('-');
        if !is_flag && text.contains("://") {
            *word = hide_address(&text, kept).into();
            continue;
        }
        match text.split_once('=') {
            Some((name, value)) if is_secret(name, value) || holds_secret(value) => {
                let reference = kept(name, value);
                *word = format!("{name}={reference}").into();
            }
            Some((name, value)) if value.contains("://") => {
                *word = format!("{name}={}", hide_address(value, kept)).into();
            }
            None if is_flag => flag = text,
            _ if holds_secret(&text) => *word = kept(&before, &text).into(),
            // `--header "Authorization: Bearer x"`, as mcp-remote takes it.
            _ => match text.split_once(':') {
                Some((name, value)) if !name.contains('/') && is_secret(name, value.trim_start()) => {
                    let blank = &value[..value.len() - value.trim_start().len()];
                    let (scheme, secret) = bare(value.trim_start());
                    let reference = kept(name, secret);
                    *word = format!("{name}:{blank}{scheme}{reference}").into();
                }
                _ if is_secret(&before, &text) => {
                    let wanted = if names_secret(&before) { &before } else { "token" };
                    *word = kept(wanted, &text).into();
                }
                _ => {}
            },
        }
    }
}

/// An address without the password before its host and without secrets in its query; any other text as it is.
fn hide_address(text: &str, kept: &mut dyn FnMut(&str, &str) -> String) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    // A password may hold an `@` of its own: the last one before the host counts.
    let (authority, rest) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, password)) if !password.is_empty() && !password.contains("${") => {
                format!("{user}:{}@{host}", kept("password", password))
            }
            None if begins_secret(user) => format!("{}@{host}", kept("token", user)),
            _ => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    format!("{scheme}://{authority}{}", hide_query(rest, kept))
}

fn hide_query(rest: &str, kept: &mut dyn FnMut(&str, &str) -> String) -> String {
    let Some((path, query)) = rest.split_once('?') else {
        return rest.to_owned();
    };
    let (query, fragment) = query
        .split_once('#')
        .map_or((query, None), |(query, end)| (query, Some(end)));
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) if is_secret(name, value) => format!("{name}={}", kept(name, value)),
        _ => pair.to_owned(),
    });
    let pairs: Vec<String> = pairs.collect();
    let end = fragment.map_or(String::new(), |end| format!("#{end}"));
    format!("{path}?{}{end}", pairs.join("&"))
}

/// The name of a variable that nothing else is likely to have: `CODEYARD_<SERVER>_<NAME>`, with a beginning that both share once.
pub fn variable(server: &str, name: &str) -> String {
    let (server, name) = (capitals(server), capitals(name));
    let own = name.strip_prefix(&server).and_then(|rest| rest.strip_prefix('_'));
    let parts = ["CODEYARD", &server, own.unwrap_or(&name)];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

/// Capital letters, digits and single underscores between them.
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
                "CODEYARD_MY_SERVER_MY_TOKEN=abc4",
                "CODEYARD_MY_SERVER_AUTHORIZATION=abc5",
                "CODEYARD_MY_SERVER_API_KEY=abc1",
                "CODEYARD_MY_SERVER_TOKEN=abc2",
                "CODEYARD_MY_SERVER_AUTHORIZATION=abc3",
                "CODEYARD_MY_SERVER_TOKEN=ghp_0123456789abcdef",
                "CODEYARD_MY_SERVER_KEY=abc6",
            ]
        );
        assert_eq!(
            entry,
            json!({
                "command": "x",
                "args": ["--api-key", "${CODEYARD_MY_SERVER_API_KEY}", "--token=${CODEYARD_MY_SERVER_TOKEN}", "--port", "80", "--header",
                    "Authorization: Bearer ${CODEYARD_MY_SERVER_AUTHORIZATION}", "${CODEYARD_MY_SERVER_TOKEN}", "postgres://localhost/x",
                    "--verbose", "plain"],
                "env": {"MY_TOKEN": "${CODEYARD_MY_SERVER_MY_TOKEN}", "LEVEL": "debug", "KEPT": "${MY_TOKEN}"},
                "headers": {"Authorization": "Bearer ${CODEYARD_MY_SERVER_AUTHORIZATION}", "x-trace": "on"},
                "url": "https://h/mcp?key=${CODEYARD_MY_SERVER_KEY}&x=1#y",
            })
        );
        hide("my server", entry.as_object_mut().unwrap(), &mut |_, value| {
            panic!("{value}")
        });
    }

    #[test]
    fn they_hide_in_addresses_and_objects() {
        #[track_caller]
        fn check(text: &str, secrets: &[&str], expected: &str) {
            for field in ["env", "args", "flag", "url"] {
                let mut entry = match field {
                    "env" => json!({"env": {"X": text}}),
                    "args" => json!({"args": ["-v", text]}),
                    "flag" => json!({"args": [format!("--x={text}")]}),
                    _ if !text.contains("://") => continue,
                    _ => json!({"url": text}),
                };
                let mut found = Vec::new();
                hide("s", entry.as_object_mut().unwrap(), &mut |_, value| {
                    found.push(value.to_owned());
                    "V".to_owned()
                });
                assert_eq!(found, secrets, "{field}: {text}");
                let shown = entry.to_string().replace("--x=", "");
                assert!(
                    shown.contains(&serde_json::Value::from(expected).to_string()),
                    "{shown}"
                );
            }
        }
        check(
            "postgres://u:p@ss@db:5432/x",
            &["p@ss"],
            "postgres://u:${V}@db:5432/x",
        );
        check(
            "https://h/x?api_key=k&y=1#z",
            &["k"],
            "https://h/x?api_key=${V}&y=1#z",
        );
        check(
            "https://ghp_0123456789@h/x",
            &["ghp_0123456789"],
            "https://${V}@h/x",
        );
        check("postgres://u@db/x", &[], "postgres://u@db/x");
        check("postgres://u:${PW}@db/x", &[], "postgres://u:${PW}@db/x");
        let headers = r#"{"Authorization": "Bearer ntn_0123456789", "V": "1"}"#;
        check(headers, &[headers], "${V}");
        check(r#"{"V": "1"}"#, &[], r#"{"V": "1"}"#);
        check("ntn_0123456789", &["ntn_0123456789"], "${V}");
    }

    #[test]
    fn their_names_say_whose_they_are() {
        for (server, name, expected) in [
            ("crm", "CRM_TOKEN", "CODEYARD_CRM_TOKEN"),
            ("crm", "TOKEN", "CODEYARD_CRM_TOKEN"),
            ("my server", "--api-key", "CODEYARD_MY_SERVER_API_KEY"),
            ("数", "TOKEN", "CODEYARD_TOKEN"),
            ("crm", "CRM", "CODEYARD_CRM_CRM"),
        ] {
            assert_eq!(variable(server, name), expected);
        }
    }
}

//! Judges by name and value whether a value is a secret, and whether it may be hidden.

/// Last words of a name that mark a secret, in addition to [`CHOSEN`]; also with a final `s`.
const GIVEN: [&str; 15] = [
    "token",
    "key",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "secret",
    "credential",
    "cred",
    "authorization",
    "auth",
    "cookie",
    "pat",
    "bearer",
    "signature",
];

/// Endings of compound words, as in `authtoken`.
const ENDS: [&str; 5] = ["token", "secret", "password", "apikey", "credentials"];

/// Words for values that a person chooses; such a value is a secret even as a number.
const CHOSEN: [&str; 7] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pass",
    "pin",
];

/// Words that may follow the deciding word, to distinguish several secrets.
const QUALIFIERS: [&str; 14] = [
    "prod",
    "production",
    "dev",
    "development",
    "test",
    "staging",
    "live",
    "primary",
    "secondary",
    "readonly",
    "value",
    "base64",
    "v1",
    "v2",
];

/// Values that are settings, independent of their name.
const SETTINGS: [&str; 14] = [
    "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default", "enabled", "disabled",
    "required", "optional",
];

/// File name endings.
const FILES: [&str; 18] = [
    ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pl", ".sh", ".ps1", ".bat", ".exe", ".so", ".dll", ".pem",
    ".key", ".crt", ".json", ".env",
];

/// Prefixes of known services' secrets.
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

/// Authorization schemes before a header's value.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

/// Longest number in digits that counts as a setting.
const SHORT_NUMBER: usize = 6;

/// The position of a value. Text that a person agrees to run is never hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A word of the command.
    Argument,
    /// A variable, or a part of an address.
    Variable,
    /// A header; headers are never executed.
    Header,
}

impl Position {
    /// Whether a value is a single token that cannot be a command.
    fn can_hide(self, value: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._~+/=-".contains(c);
        match self {
            Position::Argument => value.chars().all(is_plain),
            Position::Variable => value
                .chars()
                .all(|c| is_plain(c) || c.is_alphanumeric() || "@!#%^*:,?".contains(c)),
            Position::Header => true,
        }
    }
}

/// Whether a value is a secret, by its name or its prefix, and may be hidden.
pub(super) fn is_secret(position: Position, name: &str, value: &str) -> bool {
    // Passwords chosen by people contain special characters.
    let is_password = secret_word(name).is_some_and(|word| CHOSEN.contains(&word.as_str()));
    let position = match position {
        Position::Argument if is_password => Position::Variable,
        other => other,
    };
    (is_named_so(name, value) || begins_secret(value)) && position.can_hide(bare(value).1)
}

/// Whether the name marks the value as a secret, hidden or not.
pub(super) fn is_named_so(name: &str, value: &str) -> bool {
    secret_word(name).is_some_and(|word| !is_ordinary(&word, value))
}

pub(super) fn begins_secret(value: &str) -> bool {
    let value = bare(value).1;
    BEGINNINGS
        .iter()
        .any(|start| value.starts_with(start) && value.len() >= start.len() + 8)
}

/// A value's scheme with its blank, and the rest.
pub(super) fn bare(value: &str) -> (&str, &str) {
    let scheme = SCHEMES.into_iter().find(|scheme| value.starts_with(scheme));
    value.split_at(scheme.map_or(0, str::len))
}

/// The last significant word of a name, if it marks a secret.
pub(super) fn secret_word(name: &str) -> Option<String> {
    let is_qualifier =
        |word: &String| QUALIFIERS.contains(&word.as_str()) || word.chars().all(|c| c.is_ascii_digit());
    let last = words(name).into_iter().rfind(|word| !is_qualifier(word))?;
    let single = last.strip_suffix('s').unwrap_or(&last);
    let is_one = |word: &str| {
        GIVEN.contains(&word) || CHOSEN.contains(&word) || ENDS.iter().any(|end| word.ends_with(end))
    };
    (is_one(&last) || is_one(single)).then_some(last)
}

/// Whether a value is a setting, a number or a file, independent of its name.
fn is_ordinary(word: &str, value: &str) -> bool {
    let small = value.trim().to_ascii_lowercase();
    let is_number = small
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let counts = CHOSEN.contains(&word);
    // `--auth oauth2` names a method, not a secret.
    let is_method = word == "auth"
        && value.len() <= 12
        && value
            .chars()
            .all(|c| c.is_ascii_lowercase() || matches!(c, '-' | '_' | '2'));
    small.is_empty()
        || SETTINGS.contains(&small.as_str())
        || (is_number && !counts && (word.ends_with("tokens") || small.len() <= SHORT_NUMBER))
        || is_method
        || is_path(value)
}

fn is_path(value: &str) -> bool {
    let starts = ["/", "./", "../", "~/", ".\\", "..\\"];
    let has_drive = value.get(1..3) == Some(":\\");
    let small = value.to_ascii_lowercase();
    starts.iter().any(|start| value.starts_with(start))
        || has_drive
        || FILES.iter().any(|end| small.ends_with(end))
}

/// The words of `apiKey`, `API_KEY` or `--api-key`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_prefixes_mark_secrets() {
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "abc", true),
            ("API_TOKENS", "abc,def", true),
            ("OPENAI_API_KEYS", "abc", true),
            ("apiKey", "abc", true),
            ("X-Api-Key", "abc", true),
            ("TOKEN_2", "abc", true),
            ("API_KEY_PROD", "abc", true),
            ("authtoken", "abc", true),
            ("DB_PASSWORD", "p@ss!", true),
            ("DB_PASSWORD", "123456", true),
            ("API_KEY", "1234567890123", true),
            ("AUTH", "Zm9vOmJhcg==", true),
            ("ANYTHING", "ghp_0123456789abcdef", true),
            ("ANYTHING", "sk-ant-REDACTED", true),
            ("GITHUB_TOKEN", "", false),
            ("MAX_TOKENS", "4096", false),
            ("MAX_TOKENS", "128000000", false),
            ("--token-limit", "400", false),
            ("--token-limit", "many", false),
            ("KEYBOARD", "us", false),
            ("SSH_KEY_PATH", "abc", false),
            ("SSH_KEY", "/home/a/.ssh/id", false),
            ("TLS_KEY", "server.pem", false),
            ("--auth-script", "/x/evil.js", false),
            ("SECRET_CMD", "rm", false),
            ("SSH_AUTH_SOCK", "/run/x", false),
            ("AUTH_METHOD", "oauth", false),
            ("--auth", "oauth", false),
            ("--auth", "oauth2", false),
            ("--pass-through", "yes", false),
            ("TOKEN", "True", false),
            ("LANG", "sk-SK", false),
        ] {
            assert_eq!(
                is_secret(Position::Variable, name, value),
                expected,
                "{name}={value}"
            );
        }
    }

    #[test]
    fn possible_commands_are_not_hidden() {
        for value in [
            "x; touch evil",
            "sk-12345678; touch evil",
            "$(touch evil)",
            "`evil`",
            "a|b",
            "a&b",
            "a>b",
            "rm -rf /",
            "sk-12345678${IFS}",
        ] {
            for position in [Position::Argument, Position::Variable] {
                assert!(!is_secret(position, "TOKEN", value), "{value}");
            }
        }
        assert!(!is_secret(Position::Argument, "--token", "a@b"));
        assert!(is_secret(Position::Argument, "--password", "P@ss!w0rd#1%^*,:?"));
        for value in ["two words", "a;b", "$(a)", "a&b", "a'b"] {
            assert!(!is_secret(Position::Argument, "--password", value), "{value}");
        }
        assert!(is_secret(Position::Header, "Cookie", "a=b; c=d"));
    }
}

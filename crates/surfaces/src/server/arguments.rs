//! Checks the arguments of the four tools, with the messages of system 0.

use std::time::Duration;

use rmcp::model::JsonObject;
use serde_json::Value;
use types::EntryBounds;
use types::Language;

use super::service::BrowseRequest;

/// Minimum run time that a client may request.
pub(super) const SHORTEST_MS: u64 = 100;

/// Maximum size of a program in bytes. A larger program should read its data from a tool or file.
const MAX_CODE: usize = 8 * 1024 * 1024;

/// Maximum characters of a language name in a message.
const MAX_SHOWN: usize = 80;

/// Limits and defaults of runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunDefaults {
    /// Language of calls that name none.
    pub(super) language: Language,
    /// Upper bound of `timeout_ms`.
    pub(super) longest: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellExec {
    pub(super) code: String,
    pub(super) kind: Kind,
    /// Within the limits; `None` for the default.
    pub(super) timeout: Option<Duration>,
}

/// The kind of `code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Program(Language),
    /// A line of constrained commands.
    Line,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadArguments {
    #[error("code is required")]
    Code,
    #[error("code has {0} bytes; it may have {MAX_CODE}")]
    CodeTooLong(usize),
    #[error("Unsupported language: {0}")]
    Language(String),
    #[error("timeout_ms must be an integer")]
    Timeout,
    #[error("{0} must be a string")]
    NotAString(&'static str),
}

/// Reads the arguments of `shell_exec`. Ignores unknown names, and `stream`.
pub(super) fn shell_exec(
    arguments: &JsonObject,
    defaults: RunDefaults,
    is_command: impl Fn(&str) -> bool,
) -> Result<ShellExec, BadArguments> {
    let code = match given(arguments, "code") {
        Some(Value::String(code)) if code.len() > MAX_CODE => {
            return Err(BadArguments::CodeTooLong(code.len()));
        }
        Some(Value::String(code)) if !code.trim().is_empty() => code.clone(),
        _ => return Err(BadArguments::Code),
    };
    let kind = match given(arguments, "language") {
        None if is_command(&code) => Kind::Line,
        None => Kind::Program(defaults.language),
        Some(language) => Kind::Program(language_of(language, defaults.language)?),
    };
    let timeout = given(arguments, "timeout_ms")
        .map(|value| milliseconds(value).ok_or(BadArguments::Timeout))
        .transpose()?;
    Ok(ShellExec {
        code,
        kind,
        timeout: timeout.map(|asked| clamped(asked, defaults.longest)),
    })
}

/// Reads the arguments of `fs_browse`.
pub(super) fn browse(arguments: &JsonObject, bounds: EntryBounds) -> Result<BrowseRequest, BadArguments> {
    Ok(BrowseRequest {
        path: text(arguments, "path")?.unwrap_or_default(),
        include_hidden: given(arguments, "include_hidden") == Some(&Value::Bool(true)),
        max_entries: given(arguments, "max_entries").map_or(bounds.usual, |asked| entries(asked, bounds)),
    })
}

/// A text argument.
pub(super) fn text(arguments: &JsonObject, name: &'static str) -> Result<Option<String>, BadArguments> {
    match given(arguments, name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(BadArguments::NotAString(name)),
    }
}

/// Some clients write `null` for an absent argument.
fn given<'a>(arguments: &'a JsonObject, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

fn language_of(value: &Value, default: Language) -> Result<Language, BadArguments> {
    let written = match value {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    };
    match written.as_str() {
        "" => Ok(default),
        "python" => Ok(Language::Python),
        "typescript" => Ok(Language::TypeScript),
        other => Err(BadArguments::Language(other.chars().take(MAX_SHOWN).collect())),
    }
}

/// A whole number, even if written as text or as `5.0`.
fn milliseconds(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_i128().or_else(|| whole(number.as_f64()?)),
        _ => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what lies beyond is clamped in either form"
)]
fn whole(float: f64) -> Option<i128> {
    (float.fract() == 0.0).then_some(float as i128)
}

fn clamped(asked: i128, longest: Duration) -> Duration {
    let longest = u64::try_from(longest.as_millis())
        .unwrap_or(u64::MAX)
        .max(SHORTEST_MS);
    let asked = u64::try_from(asked.max(0)).unwrap_or(u64::MAX);
    Duration::from_millis(asked.clamp(SHORTEST_MS, longest))
}

/// As in system 0: any other value means the default, and numbers are clamped to the range.
fn entries(value: &Value, bounds: EntryBounds) -> usize {
    let asked = match value {
        Value::Number(number) => number.as_f64().map(f64::trunc).and_then(whole),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    asked.map_or(bounds.usual, |asked| {
        usize::try_from(asked.max(1)).map_or(bounds.most, |asked| asked.min(bounds.most))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DEFAULTS: RunDefaults = RunDefaults {
        language: Language::TypeScript,
        longest: Duration::from_secs(60),
    };

    fn read(arguments: &Value) -> Result<ShellExec, String> {
        let arguments = arguments.as_object().unwrap();
        shell_exec(arguments, DEFAULTS, |code| code.starts_with("ls")).map_err(|bad| bad.to_string())
    }

    #[test]
    fn s0_32_the_language_is_named_recognised_or_the_default() {
        #[track_caller]
        fn check(code: &str, language: Value, expected: Result<Kind, &str>) {
            let read = read(&json!({"code": code, "language": language, "stream": true}));
            assert_eq!(read.map(|read| read.kind), expected.map_err(str::to_owned));
        }
        check("ls", Value::Null, Ok(Kind::Line));
        check("1", Value::Null, Ok(Kind::Program(Language::TypeScript)));
        check("ls", json!("python"), Ok(Kind::Program(Language::Python)));
        check(
            "ls",
            json!(" TypeScript "),
            Ok(Kind::Program(Language::TypeScript)),
        );
        check("ls", json!(""), Ok(Kind::Program(Language::TypeScript)));
        check("1", json!("ruby"), Err("Unsupported language: ruby"));
        check("1", json!("shell"), Err("Unsupported language: shell"));
        check("1", json!(5), Err("Unsupported language: 5"));
    }

    #[test]
    fn s0_44_blank_code_is_refused() {
        for code in [Value::Null, json!(""), json!(" \n\t"), json!(5), json!(["a"])] {
            assert_eq!(read(&json!({ "code": code })), Err("code is required".to_owned()));
        }
        assert_eq!(read(&json!({})), Err("code is required".to_owned()));
    }

    #[test]
    fn s0_18_a_time_is_clamped() {
        #[track_caller]
        fn check(timeout: Value, expected: Result<Option<u128>, &str>) {
            let read = read(&json!({"code": "1", "timeout_ms": timeout}));
            let timeout = read.map(|read| read.timeout.map(|timeout| timeout.as_millis()));
            assert_eq!(timeout, expected.map_err(str::to_owned));
        }
        check(Value::Null, Ok(None));
        check(json!(1500), Ok(Some(1500)));
        check(json!("1500"), Ok(Some(1500)));
        check(json!(1500.0), Ok(Some(1500)));
        check(json!(1), Ok(Some(100)));
        check(json!(-5), Ok(Some(100)));
        check(json!(1e300), Ok(Some(60_000)));
        check(json!(86_400_000), Ok(Some(60_000)));
        for wrong in [json!(true), json!("soon"), json!(1.5), json!([1])] {
            check(wrong, Err("timeout_ms must be an integer"));
        }
    }

    #[test]
    fn c077_a_number_of_entries_is_never_an_error() {
        #[track_caller]
        fn check(value: Value, expected: usize) {
            let arguments = json!({ "max_entries": value });
            let bounds = EntryBounds::default();
            assert_eq!(
                browse(arguments.as_object().unwrap(), bounds)
                    .unwrap()
                    .max_entries,
                expected
            );
        }
        for (value, expected) in [
            (Value::Null, 200),
            (json!(true), 200),
            (json!("x"), 200),
            (json!({}), 200),
            (json!(3), 3),
            (json!(2.9), 2),
            (json!("7"), 7),
            (json!(0), 1),
            (json!(-1), 1),
            (json!(99_999), 1000),
            (json!(1e300), 1000),
        ] {
            check(value, expected);
        }
    }
}

//! Checks the arguments of both tools and reports all mistakes at once, with allowed and nearest values.

use std::fmt;
use std::ops::RangeInclusive;

use broker::Detail;
use policy::{LimitRequest, Policy};
use rmcp::model::JsonObject;
use serde_json::Value;
use session::session_name;
use types::{
    Answers, CheckMode, Format, Granted, Language, MAX_FOUND, MAX_QUERY, Results, RunProfile, RunSpec,
    Selector, SessionName, USUALLY_FOUND,
};

use super::config::CodeConfig;
use super::service::Search;
use crate::execute::{Execute, SearchCounts};

/// Maximum size of a program in bytes. A larger program should read its data from a tool or file.
const MAX_CODE: usize = 8 * 1024 * 1024;

/// Range of a result's JSON size that a call may allow, in bytes.
const MAX_RESULT: RangeInclusive<u64> = 1_000..=1_000_000;

/// Most characters of a session name; all are ASCII.
const MAX_SESSION: usize = 64;

const EXECUTE_ARGUMENTS: [&str; 9] = [
    "code",
    "language",
    "session",
    "timeout_ms",
    "limits",
    "receipt",
    "check",
    "format",
    "max_result",
];

const SEARCH_ARGUMENTS: [&str; 3] = ["query", "limit", "detail"];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExecuteArguments {
    pub(super) request: Execute,
    pub(super) format: Format,
    /// The changed argument and the reason.
    pub(super) note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BadArguments {
    tool: &'static str,
    mistakes: Vec<String>,
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not run: {}", self.tool, self.mistakes.join("; "))
    }
}

/// Shortest timeout in milliseconds; a shorter run would end before its program starts.
const LEAST_TIMEOUT_MS: u64 = 100;

/// Checks the arguments of `execute_code`. The policy limits what a call may request; `config` has the defaults.
pub(super) fn execute(arguments: &JsonObject, config: &CodeConfig) -> Result<ExecuteArguments, BadArguments> {
    let mut reader = ArgumentReader::new(super::tools::EXECUTE, arguments, &EXECUTE_ARGUMENTS);
    let code = reader.text("code", MAX_CODE);
    let language = reader.language();
    let session = reader.session();
    let (mut granted, note) = reader.limits(&config.policy);
    let receipt = reader.flag("receipt");
    let check = reader.word("check", CheckMode::ALL.map(CheckMode::name));
    let answers = reader.answers(config.answers);
    granted.limits.output = granted.limits.output.min(answers.max_printed);
    let request = Execute {
        spec: RunSpec {
            code: code.unwrap_or_default(),
            language,
            session,
            granted,
        },
        profile: RunProfile {
            check: check.and_then(CheckMode::from_name).unwrap_or(config.check),
            results: Results::UpTo(answers.max_result.unwrap_or(u64::MAX)),
            ..RunProfile::default()
        },
        receipt: receipt.unwrap_or(config.receipt),
        searched: SearchCounts::default(),
        trace: None,
    };
    reader.finish(ExecuteArguments {
        request,
        format: answers.format,
        note,
    })
}

pub(super) fn search(arguments: &JsonObject) -> Result<Search, BadArguments> {
    let mut reader = ArgumentReader::new(super::tools::SEARCH, arguments, &SEARCH_ARGUMENTS);
    let query = match reader.get("query").map(Value::as_str) {
        None => None,
        Some(Some(query)) if asks_for_everything(query) => None,
        Some(_) => reader.text("query", MAX_QUERY),
    };
    let limit = reader
        .not_zero("limit")
        .and_then(|_| reader.whole("limit", 1..=u64::from(MAX_FOUND)))
        .unwrap_or(u64::from(USUALLY_FOUND));
    let detail = match reader.word("detail", ["name", "summary", "full"]) {
        Some("name") => Detail::Name,
        Some("full") => Detail::Full,
        _ => Detail::Summary,
    };
    let request = Search {
        query: query.unwrap_or_default(),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        detail,
    };
    reader.finish(request)
}

/// Whether a query asks for all connected servers.
fn asks_for_everything(query: &str) -> bool {
    const FILLING: [&str; 24] = [
        "a",
        "all",
        "any",
        "are",
        "available",
        "can",
        "connected",
        "do",
        "every",
        "everything",
        "have",
        "here",
        "i",
        "is",
        "list",
        "me",
        "servers",
        "show",
        "the",
        "there",
        "tools",
        "what",
        "which",
        "you",
    ];
    let query = query.trim().to_lowercase();
    let mut words = query
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    let has_words = words.peek().is_some();
    matches!(&*query, "" | "*") || has_words && words.all(|word| FILLING.contains(&word))
}

struct ArgumentReader<'a> {
    arguments: &'a JsonObject,
    bad: BadArguments,
}

impl<'a> ArgumentReader<'a> {
    fn new(tool: &'static str, arguments: &'a JsonObject, known: &[&'static str]) -> Self {
        let mut bad = BadArguments {
            tool,
            mistakes: Vec::new(),
        };
        for name in arguments.keys() {
            if !known.contains(&name.as_str()) {
                let near = synonym(name, known).unwrap_or_else(|| nearest(name, known));
                bad.mistakes.push(format!(
                    "no argument is named `{}`; did you mean `{near}`?",
                    shortened(name)
                ));
            }
        }
        Self { arguments, bad }
    }

    /// `null` and `""` count as absent, because some clients write them.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.arguments
            .get(name)
            .filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// Treats 0 as absent: a strict schema forces a model to write every argument, and models write 0 for an unneeded
    /// number.
    fn not_zero(&self, name: &str) -> Option<&'a Value> {
        self.get(name).filter(|value| value.as_f64() != Some(0.0))
    }

    fn mistake(&mut self, text: String) {
        self.bad.mistakes.push(text);
    }

    /// A required string, not blank.
    fn text(&mut self, name: &str, max: usize) -> Option<String> {
        match self.arguments.get(name) {
            None | Some(Value::Null) => self.mistake(format!("`{name}` is missing; it must be a string")),
            Some(Value::String(text)) if text.trim().is_empty() => {
                self.mistake(format!("`{name}` is blank; it must be a string with some text"));
            }
            Some(Value::String(text)) if text.len() > max => {
                self.mistake(format!("`{name}` has {} bytes; it may have {max}", text.len()));
            }
            Some(Value::String(text)) => return Some(text.clone()),
            Some(other) => self.mistake(format!("`{name}` must be a string, not {}", quoted(other))),
        }
        None
    }

    fn whole(&mut self, name: &str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.get(name)?;
        let (low, high) = (*range.start(), *range.end());
        let near = match value {
            Value::Number(number) => match number.as_u64().or_else(|| whole_float(number.as_f64())) {
                Some(number) if range.contains(&number) => return Some(number),
                _ => near_number(number.as_f64(), low, high),
            },
            Value::String(text) => text
                .trim()
                .parse::<f64>()
                .ok()
                .and_then(|number| near_number(Some(number), low, high)),
            _ => None,
        };
        let hint = near.map_or(String::new(), |near| format!("; the nearest is {near}"));
        self.mistake(format!(
            "`{name}` must be an integer from {low} to {high}, not {}{hint}",
            quoted(value)
        ));
        None
    }

    /// The limits that the policy grants. A timeout out of range is replaced by the nearest allowed timeout, and the
    /// note says so.
    fn limits(&mut self, policy: &Policy) -> (Granted, Option<String>) {
        let highest = u64::try_from(policy.longest().as_millis()).unwrap_or(u64::MAX);
        let lowest = LEAST_TIMEOUT_MS.min(highest);
        let timeout = self.not_zero("timeout_ms");
        let whole = timeout
            .and_then(Value::as_f64)
            .filter(|number| number.fract() == 0.0);
        let near = whole.and_then(|number| near_number(Some(number), lowest, highest));
        let near = near.filter(|near| timeout.and_then(Value::as_u64) != Some(*near));
        let note = near.map(|near| {
            let given = timeout.map(quoted).unwrap_or_default();
            format!("timeout_ms may be {lowest} to {highest}; {near} was used instead of {given}")
        });
        let asked = LimitRequest {
            timeout_ms: near.map(Value::from).or_else(|| timeout.cloned()),
            limits: self.get("limits").cloned(),
        };
        let granted = policy.limits(&asked).unwrap_or_else(|errors| {
            self.mistake(errors.to_string());
            Granted::default()
        });
        (granted, note)
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.get(name)?;
        if value.as_bool().is_none() {
            self.mistake(format!("`{name}` must be true or false, not {}", quoted(value)));
        }
        value.as_bool()
    }

    fn word<const N: usize>(&mut self, name: &str, words: [&'static str; N]) -> Option<&'static str> {
        let value = self.get(name)?;
        let found = value.as_str().and_then(|text| {
            words
                .into_iter()
                .find(|word| word.eq_ignore_ascii_case(text.trim()))
        });
        if found.is_none() {
            let hint = value.as_str().map_or(String::new(), |text| {
                format!("; the nearest is \"{}\"", nearest(text, &words))
            });
            let words = words.join("\" or \"");
            self.mistake(format!(
                "`{name}` must be \"{words}\", not {}{hint}",
                quoted(value)
            ));
        }
        found
    }

    /// Format and largest size of the result; `default` if the call sets none.
    fn answers(&mut self, default: Answers) -> Answers {
        let format = self.word("format", Format::ALL.map(Format::name));
        let max_result = self.whole("max_result", MAX_RESULT);
        Answers {
            max_printed: default.max_printed,
            format: format.and_then(Format::from_name).unwrap_or(default.format),
            max_result: max_result.or(default.max_result),
        }
    }

    fn language(&mut self) -> Language {
        match self.get("language") {
            None => return Language::Python,
            Some(Value::String(language)) => {
                let name = language.trim().to_ascii_lowercase();
                if let Ok(language) = Language::from_name(&name) {
                    return language;
                }
            }
            Some(_) => {}
        }
        if let Some(other) = self.get("language") {
            let shown = quoted(other);
            self.mistake(format!(
                "`language` must be \"python\", \"typescript\" or \"shell\", not {shown}"
            ));
        }
        Language::Python
    }

    fn session(&mut self) -> Selector {
        match self.get("session") {
            None => Selector::Default,
            Some(Value::String(name)) if name == "new" => Selector::New,
            Some(Value::String(name)) if name.starts_with("fork:") => {
                self.mistake(
                    "`session` cannot be a fork in this version; write a name or \"new\"".to_owned(),
                );
                Selector::Default
            }
            Some(Value::String(name)) => match session_name(name) {
                Ok(name) => Selector::Named(name),
                Err(bad) => {
                    let hint =
                        near_session(name).map_or(String::new(), |near| format!("; the nearest is '{near}'"));
                    self.mistake(format!("{bad}{hint}"));
                    Selector::Default
                }
            },
            Some(other) => {
                self.mistake(format!("`session` must be a string, not {}", quoted(other)));
                Selector::Default
            }
        }
    }

    fn finish<T>(self, arguments: T) -> Result<T, BadArguments> {
        if self.bad.mistakes.is_empty() {
            Ok(arguments)
        } else {
            Err(self.bad)
        }
    }
}

/// The known argument that models mean by this word.
fn synonym(word: &str, known: &[&'static str]) -> Option<&'static str> {
    const WORDS: [(&str, &[&str]); 2] = [
        (
            "code",
            &["program", "script", "source", "python", "command", "input"],
        ),
        ("query", &["q", "text", "search", "keywords", "question", "input"]),
    ];
    let word = word.to_lowercase();
    let synonym = WORDS
        .iter()
        .find(|(name, words)| known.contains(name) && words.contains(&&*word));
    synonym.map(|(name, _)| *name)
}

/// The nearest valid name, with a dash for each invalid character.
fn near_session(name: &str) -> Option<SessionName> {
    let near: String = name
        .trim()
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(MAX_SESSION)
        .collect();
    session_name(&near).ok()
}

/// JSON Schema counts a float without a fraction as an integer.
fn whole_float(number: Option<f64>) -> Option<u64> {
    number
        .filter(|number| number.fract() == 0.0)
        .and_then(|number| format!("{number:.0}").parse().ok())
}

/// The nearest integer in the range.
fn near_number(number: Option<f64>, low: u64, high: u64) -> Option<u64> {
    let number = number.filter(|number| !number.is_nan())?;
    let text = format!("{:.0}", number.round());
    match text.parse::<u64>() {
        Ok(near) => Some(near.clamp(low, high)),
        Err(_) if number < 0.0 => Some(low),
        Err(_) => Some(high),
    }
}

fn nearest<'w>(word: &str, words: &[&'w str]) -> &'w str {
    let word = shortened(word).to_lowercase();
    words
        .iter()
        .min_by_key(|known| {
            // A common prefix counts more than edit distance: `timeout` means `timeout_ms`.
            let begins = known.starts_with(&word) || word.starts_with(*known);
            (!begins, strsim::damerau_levenshtein(known, &word))
        })
        .copied()
        .unwrap_or_default()
}

fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", shortened(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests;

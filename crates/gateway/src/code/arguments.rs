//! Checks the arguments of both tools: every mistake at once, each with what is allowed and what comes nearest.

use std::fmt;

use policy::{Asked, Policy};
use rmcp::model::JsonObject;
use serde_json::Value;
use session::{Language, Selector, session_name};
use types::{Answers, CheckMode, Format, Granted, MAX_FOUND, MAX_QUERY, SessionName, USUALLY_FOUND};

use super::format;
use super::service::{Detail, Execute, Search, SearchedBefore};

/// Longest program; what comes near it should be data in a tool or file.
const MAX_CODE: usize = 8 * 1024 * 1024;

/// Longest name of a session.
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

/// Languages that codeyard will have, so that a model is told what to do instead of being corrected to them.
const LATER_LANGUAGES: [&str; 5] = ["typescript", "javascript", "shell", "bash", "sh"];

/// The arguments of `execute_code`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExecuteArguments {
    pub(super) request: Execute,
    pub(super) format: Format,
    /// What was changed of what the caller wrote, and why.
    pub(super) note: Option<String>,
}

/// Everything that is wrong with the arguments of one call.
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

/// A shorter run would end before it begins.
const LEAST_TIMEOUT_MS: u64 = 100;

/// Checks the arguments of `execute_code`; the policy decides what may be asked for, and `receipts` whether there is a receipt
/// where nothing is said of it.
pub(super) fn execute(
    arguments: &JsonObject,
    policy: &Policy,
    usual: Answers,
    receipts: bool,
) -> Result<ExecuteArguments, BadArguments> {
    let mut check = Check::new(super::tools::EXECUTE, arguments, &EXECUTE_ARGUMENTS);
    let code = check.text("code", MAX_CODE);
    let language = check.language();
    let session = check.session();
    let (mut granted, note) = check.limits(policy);
    let receipt = check.flag("receipt");
    let before = check.word("check", CheckMode::ALL.map(CheckMode::name));
    let answers = format::asked(&mut check, usual);
    granted.limits.output = granted.limits.output.min(answers.max_printed);
    let request = Execute {
        code: code.unwrap_or_default(),
        language,
        session,
        granted,
        check: before.and_then(CheckMode::from_name),
        keep_over: Some(answers.max_result.unwrap_or(u64::MAX)),
        receipt: receipt.unwrap_or(receipts),
        searched: SearchedBefore::default(),
    };
    check.finish(ExecuteArguments {
        request,
        format: answers.format,
        note,
    })
}

/// Checks the arguments of `search_tools`.
pub(super) fn search(arguments: &JsonObject) -> Result<Search, BadArguments> {
    let mut check = Check::new(super::tools::SEARCH, arguments, &SEARCH_ARGUMENTS);
    let query = match check.get("query").map(Value::as_str) {
        None => None,
        Some(Some(query)) if asks_for_everything(query) => None,
        Some(_) => check.text("query", MAX_QUERY),
    };
    let limit = check
        .not_zero("limit")
        .and_then(|_| check.whole("limit", 1..=u64::from(MAX_FOUND)))
        .unwrap_or(u64::from(USUALLY_FOUND));
    let detail = match check.word("detail", ["name", "summary", "full"]) {
        Some("name") => Detail::Name,
        Some("full") => Detail::Full,
        _ => Detail::Summary,
    };
    let request = Search {
        query: query.unwrap_or_default(),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        detail,
    };
    check.finish(request)
}

/// Whether a query asks what there is, and for nothing in particular.
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

/// Collects mistakes while arguments are read.
pub(super) struct Check<'a> {
    arguments: &'a JsonObject,
    bad: BadArguments,
}

impl<'a> Check<'a> {
    fn new(tool: &'static str, arguments: &'a JsonObject, known: &[&'static str]) -> Self {
        let mut bad = BadArguments {
            tool,
            mistakes: Vec::new(),
        };
        for name in arguments.keys() {
            if !known.contains(&name.as_str()) {
                let near = meant(name, known).unwrap_or_else(|| nearest(name, known));
                bad.mistakes.push(format!(
                    "no argument is named `{}`; did you mean `{near}`?",
                    shown_text(name)
                ));
            }
        }
        Self { arguments, bad }
    }

    /// The argument, unless it is absent. `null` and `""` are how some clients write absent.
    fn get(&self, name: &str) -> Option<&'a Value> {
        self.arguments
            .get(name)
            .filter(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// The same of a number. A client whose schemas are strict makes the model write every argument, and 0 is how models
    /// write a number that they do not care about.
    fn not_zero(&self, name: &str) -> Option<&'a Value> {
        self.get(name).filter(|value| value.as_f64() != Some(0.0))
    }

    fn mistake(&mut self, text: String) {
        self.bad.mistakes.push(text);
    }

    /// A text that must be there and not blank.
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
            Some(other) => self.mistake(format!("`{name}` must be a string, not {}", shown(other))),
        }
        None
    }

    pub(super) fn whole(&mut self, name: &str, range: std::ops::RangeInclusive<u64>) -> Option<u64> {
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
            shown(value)
        ));
        None
    }

    /// What the policy grants. A whole number of milliseconds that is too small or too large is replaced by the nearest
    /// right one, with a note that says so.
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
            let given = timeout.map(shown).unwrap_or_default();
            format!("timeout_ms may be {lowest} to {highest}; {near} was used instead of {given}")
        });
        let asked = Asked {
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
            self.mistake(format!("`{name}` must be true or false, not {}", shown(value)));
        }
        value.as_bool()
    }

    pub(super) fn word<const N: usize>(
        &mut self,
        name: &str,
        words: [&'static str; N],
    ) -> Option<&'static str> {
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
                shown(value)
            ));
        }
        found
    }

    fn language(&mut self) -> Language {
        match self.get("language") {
            None => {}
            Some(Value::String(language)) if language.trim().eq_ignore_ascii_case("python") => {}
            Some(Value::String(language)) if LATER_LANGUAGES.contains(&language.as_str()) => {
                self.mistake(format!(
                    "`language` \"{language}\" is not available in this version; write the program in \"python\""
                ));
            }
            Some(other) => {
                self.mistake(format!("`language` must be \"python\", not {}", shown(other)));
            }
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
                self.mistake(format!("`session` must be a string, not {}", shown(other)));
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

/// The argument that models call by another word.
fn meant(word: &str, known: &[&'static str]) -> Option<&'static str> {
    const WORDS: [(&str, &[&str]); 2] = [
        (
            "code",
            &["program", "script", "source", "python", "command", "input"],
        ),
        ("query", &["q", "text", "search", "keywords", "question", "input"]),
    ];
    let word = word.to_lowercase();
    let meant = WORDS
        .iter()
        .find(|(name, words)| known.contains(name) && words.contains(&&*word));
    meant.map(|(name, _)| *name)
}

/// The name that comes nearest: what may not be in a name becomes a dash.
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

/// A float without a fraction is an integer to JSON Schema.
fn whole_float(number: Option<f64>) -> Option<u64> {
    number
        .filter(|number| number.fract() == 0.0)
        .and_then(|number| format!("{number:.0}").parse().ok())
}

/// The whole number of the range that comes nearest.
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
    let word = shown_text(word).to_lowercase();
    words
        .iter()
        .min_by_key(|known| {
            // What one name begins with is nearer than what is merely as short: `timeout` means `timeout_ms`.
            let begins = known.starts_with(&word) || word.starts_with(*known);
            (!begins, strsim::damerau_levenshtein(known, &word))
        })
        .copied()
        .unwrap_or_default()
}

/// A value for a message, cut short.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", shown_text(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

fn shown_text(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests;

//! What differs between two executions of one program.

use std::fmt;

use serde_json::Value;

use crate::recording::{RESULT, RecordedAnswer, RecordedHostCall, RunRecording, STDERR, STDOUT};

/// Characters of a value in a difference.
const MAX_SHOWN: usize = 200;

/// One thing that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Such as `the result` or `call 2 (crm.find)`.
    pub what: String,
    /// In the first execution.
    pub before: String,
    /// In the second.
    pub after: String,
}

/// Compares an execution with its recording: status, result, output, error, and each call with its answer.
pub fn differences(recorded: &RunRecording, again: &RunRecording) -> Vec<Difference> {
    let (before, after) = (&recorded.outcome, &again.outcome);
    let mut found = Vec::new();
    let mut compare = |what: &str, before: String, after: String| {
        let is_known = !recorded.lacks(what) && !again.lacks(what);
        if is_known && before != after {
            found.push(Difference {
                what: what.to_owned(),
                before: cut(&before),
                after: cut(&after),
            });
        }
    };
    compare("status", before.status.clone(), after.status.clone());
    let result = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".to_owned(), Value::to_string);
    compare(RESULT, result(&before.result), result(&after.result));
    compare(STDOUT, before.stdout.clone(), after.stdout.clone());
    compare(STDERR, before.stderr.clone(), after.stderr.clone());
    let error = |error: &Option<types::GuestError>| match error {
        Some(error) => format!("{}: {}", error.kind, error.message),
        None => "none".to_owned(),
    };
    compare("error", error(&before.error), error(&after.error));
    calls(&recorded.calls, &again.calls, &mut compare);
    found
}

/// Compares the calls in their order.
fn calls(
    before: &[RecordedHostCall],
    after: &[RecordedHostCall],
    compare: &mut impl FnMut(&str, String, String),
) {
    for place in 0..before.len().max(after.len()) {
        let (one, other) = (before.get(place), after.get(place));
        let name = one.or(other).map(title).unwrap_or_default();
        let number = place + 1;
        let what = format!("call {number} ({name})");
        let shown = |call: Option<&RecordedHostCall>| {
            call.map_or_else(
                || "not made".to_owned(),
                |call| format!("{} {}", title(call), call.args),
            )
        };
        let (made, made_again) = (shown(one), shown(other));
        if made != made_again {
            compare(&what, made, made_again);
            continue;
        }
        let answer =
            |call: Option<&RecordedHostCall>| call.map(|call| text(&call.answer)).unwrap_or_default();
        compare(&format!("answer of {what}"), answer(one), answer(other));
    }
}

/// The tool of a call, or the call's own name.
fn title(call: &RecordedHostCall) -> String {
    let part = |name: &str| call.args[name].as_str();
    match (part("server"), part("tool")) {
        (Some(server), Some(tool)) if call.name == "tool" => format!("{server}.{tool}"),
        _ => call.name.clone(),
    }
}

fn text(answer: &RecordedAnswer) -> String {
    match answer {
        RecordedAnswer::Ok(value) => value.get().to_owned(),
        RecordedAnswer::Error(error) => format!("failed: {}", error.message),
        RecordedAnswer::None => "none".to_owned(),
        RecordedAnswer::Dropped => "not recorded, too large".to_owned(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

// === impl Difference ===

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:", self.what)?;
        let lines = |text: &str| text.trim_end_matches('\n').replace('\n', "\n    ");
        writeln!(f, "  - {}", lines(&self.before))?;
        write!(f, "  + {}", lines(&self.after))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;
    use types::{Appearance, Language, Outcome, Results, SessionFate, Status, Text};

    use super::*;
    use crate::recording::{ProgramKind, RecordedProgram};

    fn recording(printed: &str, sum: i64) -> RunRecording {
        let call = RecordedHostCall {
            name: "tool".to_owned(),
            args: json!({"server": "stub", "tool": "add", "args": {"a": 1}}),
            answer: RecordedAnswer::Ok(to_raw_value(&sum).expect("JSON")),
        };
        let outcome = Outcome {
            stdout: Text::whole(printed),
            ..Outcome::bare(Status::Completed, SessionFate::Kept, None)
        };
        let program = RecordedProgram {
            code: String::new(),
            kind: ProgramKind::Program(Language::Python),
            appearance: Appearance::Code,
            results: Results::Whole,
        };
        RunRecording::new(program, vec![call], &outcome)
    }

    #[test]
    fn what_differs_is_named_and_shown() {
        assert_eq!(differences(&recording("a\n", 3), &recording("a\n", 3)), []);
        let found = differences(&recording("a\n", 3), &recording("b\n", 4));
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "standard output:\n  - a\n  + b",
                "answer of call 1 (stub.add):\n  - 3\n  + 4"
            ]
        );
        let mut fewer = recording("a\n", 3);
        fewer.calls.clear();
        let found = differences(&recording("a\n", 3), &fewer);
        assert_eq!(found[0].after, "not made");
    }
}

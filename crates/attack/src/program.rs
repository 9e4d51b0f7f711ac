//! The source that runs: the input, the shared prelude, and the program.

use std::collections::BTreeMap;

use serde_json::Value;
use types::Language;

use crate::probe::{Probe, When};

const PRELUDE: &str = include_str!("../probes/prelude.py");
const TYPESCRIPT_PRELUDE: &str = include_str!("../probes/prelude.ts");
const SHELL_PRELUDE: &str = include_str!("../probes/prelude.sh");

/// Appended to a program that attacks between two runs: leaves something behind.
const LEAVE: &str = include_str!("../probes/leave.py");
/// The next run: reports which of these acted.
pub(crate) const FOUND: &str = include_str!("../probes/found.py");
/// Outside a session, stands for the time between the two runs.
const PAUSE: &str = include_str!("../probes/pause.py");

pub(crate) fn attacker(probe: &Probe, given: &Value) -> String {
    let language = probe.plan.language;
    match probe.when {
        When::During => compose(language, probe.guest, given),
        When::Between => compose(language, &format!("{}\n{LEAVE}", probe.guest), given),
    }
}

/// The Python program that tries the same outside a session, where there are no runs. The attacker's own program if
/// that is Python.
pub(crate) fn control(probe: &Probe, given: &Value) -> Option<String> {
    if let Some(control) = probe.control {
        return Some(compose(Language::Python, control, given));
    }
    if probe.plan.language != Language::Python {
        return None;
    }
    let whole = attacker(probe, given);
    Some(match probe.when {
        When::During => whole,
        When::Between => format!("{whole}\n{PAUSE}\n{FOUND}"),
    })
}

pub(crate) fn compose(language: Language, source: &str, given: &Value) -> String {
    match language {
        Language::Python => {
            // A JSON string is also a Python string.
            let given = Value::String(given.to_string());
            format!("{PRELUDE}\ngiven = json.loads({given})\n{source}")
        }
        // JSON is also an expression of TypeScript.
        Language::Shell => format!("{SHELL_PRELUDE}\ndeclare -A given=({})\n{source}", pairs(given)),
        Language::TypeScript => format!("{TYPESCRIPT_PRELUDE}\nconst given: any = {given};\n{source}"),
    }
}

/// The fields of an object as those of an associative array of a shell.
fn pairs(given: &Value) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let fields = given.as_object().into_iter().flatten();
    let pairs = fields.map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("[{}]={}", quoted(key), quoted(&text))
    });
    pairs.collect::<Vec<_>>().join(" ")
}

/// Parses `attempt: answer` lines; later lines win.
pub(crate) fn answers(printed: &str) -> BTreeMap<String, String> {
    let lines = printed.lines().filter_map(|line| line.split_once(": "));
    lines
        .map(|(attempt, answer)| (attempt.to_owned(), answer.to_owned()))
        .collect()
}

//! The progress of a run, for its waiting caller.

use std::fmt;

use serde_json::Value;

use crate::{ToolRef, spelled_out};

/// Characters shown of a server's progress message.
const MAX_TOLD: usize = 120;

/// Counts a run's tool calls and names the last one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// Calls that have begun.
    pub calls: u64,
    /// The tool that was last called or last reported progress.
    pub tool: Option<ToolRef>,
    /// The last progress that the tool's server reported.
    pub told: Option<String>,
}

impl Activity {
    /// Records the start of a call.
    pub fn begin(&mut self, tool: &ToolRef) {
        self.calls += 1;
        self.tool = Some(tool.clone());
        self.told = None;
    }

    /// Records the parameters of a `notifications/progress`.
    pub fn tell(&mut self, tool: &ToolRef, notice: &Value) {
        self.tool = Some(tool.clone());
        self.told = told(notice);
    }
}

/// `3 calls, last git.git_log: 40 of 100, reading`; empty before the first call.
impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(tool) = &self.tool else { return Ok(()) };
        let calls = match self.calls {
            1 => "1 call".to_owned(),
            calls => format!("{calls} calls"),
        };
        write!(f, "{calls}, last {}", spelled_out(&tool.to_string()))?;
        match &self.told {
            Some(told) => write!(f, ": {told}"),
            None => Ok(()),
        }
    }
}

/// The numbers and text of a progress notification, as far as it has some.
fn told(notice: &Value) -> Option<String> {
    let number = |key: &str| notice[key].as_f64();
    let done = number("progress").map(|progress| match number("total") {
        Some(total) => format!("{progress} of {total}"),
        None => progress.to_string(),
    });
    let words = notice["message"]
        .as_str()
        .filter(|words| !words.trim().is_empty());
    let words = words.map(|words| spelled_out(words.trim()).chars().take(MAX_TOLD).collect());
    let parts: Vec<String> = done.into_iter().chain(words).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(notice: Value, expected: &str) {
        let tool = ToolRef::new("git", "git_log");
        let mut activity = Activity::default();
        assert_eq!(activity.to_string(), "");
        activity.begin(&tool);
        assert_eq!(activity.to_string(), "1 call, last git.git_log");
        activity.begin(&tool);
        activity.tell(&tool, &notice);
        assert_eq!(activity.to_string(), expected, "{notice}");
    }

    #[test]
    fn progress_is_told_in_one_line() {
        check(json!({}), "2 calls, last git.git_log");
        check(
            json!({"progress": 40, "total": 100, "message": "reading"}),
            "2 calls, last git.git_log: 40 of 100, reading",
        );
        check(json!({"progress": 0.5}), "2 calls, last git.git_log: 0.5");
        check(
            json!({"message": " a\nb\u{1b}[2J "}),
            "2 calls, last git.git_log: a\\nb\\u{1b}[2J",
        );
        check(
            json!({"progress": "half", "message": 7}),
            "2 calls, last git.git_log",
        );
        let long = format!("2 calls, last git.git_log: {}", "x".repeat(MAX_TOLD));
        check(json!({"message": "x".repeat(1000)}), &long);
    }
}

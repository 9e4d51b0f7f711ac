//! Compares Codeyard's records with the answers that clients received.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use test_support::Codeyard;

/// A killed codeyard may lose runs that ended within this time before the kill; `record = "required"` loses none.
pub const MAY_BE_LOST: Duration = Duration::from_millis(100);

/// A run whose answer a client received.
#[derive(Debug, Clone)]
pub struct AnsweredRun {
    run: String,
    status: String,
    at: Instant,
}

/// Statuses by run.
pub struct RecordedRuns(BTreeMap<String, String>);

// === impl AnsweredRun ===

impl AnsweredRun {
    /// The run of an answer that has just arrived; `None` if the answer belongs to no run.
    pub fn by(answer: &Value) -> Option<AnsweredRun> {
        let content = &answer["result"]["structuredContent"];
        Some(AnsweredRun {
            run: content["run_id"].as_str()?.to_owned(),
            status: content["status"].as_str()?.to_owned(),
            at: Instant::now(),
        })
    }

    /// Whether the answer is so early that its record must exist.
    pub fn is_before(&self, moment: Instant) -> bool {
        self.at + MAY_BE_LOST < moment
    }
}

// === impl RecordedRuns ===

impl RecordedRuns {
    pub async fn read(codeyard: &Codeyard) -> Result<RecordedRuns> {
        let output = codeyard.run(["runs", "--json", "--limit", "10000000"]).await?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "`codeyard runs` failed: {complaint}");
        let mut runs = BTreeMap::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let run: Value = serde_json::from_str(line).with_context(|| line.to_owned())?;
            let text = |field: &str| run[field].as_str().map(str::to_owned);
            runs.insert(
                text("id").context("a run without an id")?,
                text("status").context("a status")?,
            );
        }
        Ok(RecordedRuns(runs))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Answered runs without a record, or with another status than the answer's.
    pub fn missing<'a>(&'a self, answered: impl IntoIterator<Item = &'a AnsweredRun>) -> Vec<String> {
        let wrong = |answered: &AnsweredRun| match self.0.get(&answered.run) {
            Some(status) if *status == answered.status => None,
            Some(status) => Some(format!(
                "record of {}: {status}, but its answer said {}",
                answered.run, answered.status
            )),
            None => Some(format!(
                "no record of {}, whose answer said {}",
                answered.run, answered.status
            )),
        };
        answered.into_iter().filter_map(wrong).collect()
    }

    /// Runs whose record says that they still run.
    pub fn running(&self) -> Vec<String> {
        let running = self.0.iter().filter(|(_, status)| *status == "running");
        running
            .map(|(run, _)| format!("record of {run}: running, but without a process"))
            .collect()
    }
}

//! What codeyard has written down, held against what clients were told.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use test_support::Codeyard;

/// A killed codeyard may lose what ended within this time before; `record = "required"` loses nothing.
pub const MAY_BE_LOST: Duration = Duration::from_millis(100);

/// A run of which a client was told.
#[derive(Debug, Clone)]
pub struct AnsweredRun {
    run: String,
    status: String,
    at: Instant,
}

/// Every run that is recorded, with its status.
pub struct RecordedRuns(BTreeMap<String, String>);

// === impl AnsweredRun ===

impl AnsweredRun {
    /// What an answer that has just come tells; `None` if it is of no run.
    pub fn by(answer: &Value) -> Option<AnsweredRun> {
        let content = &answer["result"]["structuredContent"];
        Some(AnsweredRun {
            run: content["run_id"].as_str()?.to_owned(),
            status: content["status"].as_str()?.to_owned(),
            at: Instant::now(),
        })
    }

    /// Whether it came so long before that moment that it cannot be among what may be lost.
    pub fn is_before(&self, moment: Instant) -> bool {
        self.at + MAY_BE_LOST < moment
    }
}

// === impl RecordedRuns ===

impl RecordedRuns {
    /// Asks `codeyard runs`.
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

    /// How many runs are recorded.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Runs that clients were told of, and that are not recorded as they were told.
    pub fn missing<'a>(&'a self, told: impl IntoIterator<Item = &'a AnsweredRun>) -> Vec<String> {
        let wrong = |told: &AnsweredRun| match self.0.get(&told.run) {
            Some(status) if *status == told.status => None,
            Some(status) => Some(format!(
                "record of {}: it is {status} and was {}",
                told.run, told.status
            )),
            None => Some(format!(
                "record of {}, which was {}: there is none",
                told.run, told.status
            )),
        };
        told.into_iter().filter_map(wrong).collect()
    }

    /// Runs that are recorded as if they still ran.
    pub fn running(&self) -> Vec<String> {
        let running = self.0.iter().filter(|(_, status)| *status == "running");
        running
            .map(|(run, _)| format!("record of {run}: it is running, in no process"))
            .collect()
    }
}

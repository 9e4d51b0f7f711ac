//! The result of an attack: one row for each probe on each stage.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Where a probe ran.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stage {
    /// The backend's name.
    pub backend: String,
    /// The mode of machine and user, as `codeyard doctor` names it.
    pub mode: String,
    /// `plain` or `data`.
    pub profile: String,
    /// `fresh` or `pooled`.
    pub session: String,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stage {
            backend,
            mode,
            profile,
            session,
        } = self;
        write!(f, "{backend}, {mode}, {profile}, {session}")
    }
}

/// One probe on one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The probe's name.
    pub probe: String,
    /// The attack in one sentence.
    pub tries: String,
    /// Where the probe ran.
    #[serde(flatten)]
    pub stage: Stage,
    /// How it ended.
    pub verdict: Verdict,
    /// The duration in milliseconds, without the control.
    pub took_ms: u64,
    /// The attempts that succeeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Attempts that were stopped without a control to show that they could succeed, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untested: Vec<String>,
}

/// An attack on all stages that this machine offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// In the order of execution.
    pub rows: Vec<Row>,
    /// Stages that this machine lacks, with reasons.
    pub not_offered: Vec<String>,
    /// Stages whose attack was aborted, with reasons.
    pub failed: Vec<String>,
}

impl Report {
    /// Whether every promised guard holds, at least one was tested, and no stage was aborted.
    pub fn holds(&self) -> bool {
        let broken = self.rows.iter().any(|row| row.verdict == Verdict::Broken);
        let tested = self.rows.iter().any(|row| row.verdict == Verdict::Held);
        tested && !broken && self.failed.is_empty()
    }

    /// Adds the rows of another report.
    pub fn absorb(&mut self, other: Report) {
        self.rows.extend(other.rows);
        self.failed.extend(other.failed);
        for why in other.not_offered {
            if !self.not_offered.contains(&why) {
                self.not_offered.push(why);
            }
        }
    }
}

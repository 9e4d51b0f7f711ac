//! The result of an attack: one row for each probe on each stage.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::verdict::Verdict;

/// Where a probe ran.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stage {
    /// Name of the backend.
    pub backend: String,
    /// The mode of machine and user, as the doctor names it.
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
    /// The probe.
    pub probe: String,
    /// What it tries.
    pub tries: String,
    /// Where it ran.
    #[serde(flatten)]
    pub stage: Stage,
    /// How it ended.
    pub verdict: Verdict,
    /// How long it took, its control left aside.
    pub took_ms: u64,
    /// What got through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// Attempts that were stopped, and why no control shows that they could succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untested: Vec<String>,
}

/// An attack on all stages that this machine offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// In the order in which they ran.
    pub rows: Vec<Row>,
    /// Stages that there are not, and why.
    pub not_offered: Vec<String>,
    /// Stages that could not be attacked to the end, and why.
    pub failed: Vec<String>,
}

impl Report {
    /// Whether every guard that was promised holds, at least one was put to the test, and no stage was given up.
    pub fn holds(&self) -> bool {
        let broken = self.rows.iter().any(|row| row.verdict == Verdict::Broken);
        let tested = self.rows.iter().any(|row| row.verdict == Verdict::Held);
        tested && !broken && self.failed.is_empty()
    }

    /// Adds another's rows.
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

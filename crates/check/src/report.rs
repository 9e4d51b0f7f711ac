//! What the check has found, in lines that say what to write instead.

use std::fmt;

/// Findings that are told; the others are counted.
const MAX_FINDINGS: usize = 20;

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It would fail.
    Error,
    /// It may be meant.
    Warning,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line of the program, from 1.
    pub line: u32,
    /// How certain it is.
    pub weight: Weight,
    /// What is wrong and what to write instead, on one line.
    pub text: String,
}

/// Everything that was found in one program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// By line; at most some.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: usize,
    /// Why the program was not checked, where it may use tools and was not.
    pub unchecked: Option<&'static str>,
}

// === impl Finding ===

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warning = match self.weight {
            Weight::Error => "",
            Weight::Warning => "warning: ",
        };
        write!(f, "line {}: {warning}{}", self.line, self.text)
    }
}

// === impl Report ===

impl Report {
    pub(crate) fn of(mut findings: Vec<Finding>, unchecked: Option<&'static str>) -> Report {
        findings.sort_by(|a, b| (a.line, &a.text).cmp(&(b.line, &b.text)));
        findings.dedup();
        // What would fail is told before what may be meant.
        let more = findings.len().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            findings.sort_by_key(|finding| finding.weight == Weight::Warning);
            findings.truncate(MAX_FINDINGS);
            findings.sort_by_key(|finding| finding.line);
        }
        Report {
            findings,
            more,
            unchecked,
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether the program would fail for certain.
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.weight == Weight::Error)
    }

    /// One line a finding, one for those that are left out, and one if nothing was checked.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.findings.iter().map(ToString::to_string).collect();
        if self.more > 0 {
            lines.push(format!("and {} more", self.more));
        }
        lines.extend(self.unchecked.map(|why| format!("nothing was checked: {why}")));
        lines
    }
}

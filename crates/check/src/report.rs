//! The findings of the check, in lines that say what to write instead.

use std::collections::HashMap;
use std::fmt;

/// Findings listed; the others are counted.
const MAX_FINDINGS: usize = 20;

/// How certain a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The call would fail.
    Error,
    /// The code may be intended.
    Warning,
}

/// One problem in the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Counts from 1.
    pub line: u32,
    /// Error or warning.
    pub weight: Certainty,
    /// What is wrong and what to write instead, on one line.
    pub text: String,
}

/// A finding that may be left out of the report.
pub(crate) struct Draft {
    pub(crate) line: u32,
    pub(crate) weight: Certainty,
    pub(crate) said: FindingText,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingText {
    Text(String),
    /// Wrong names in the call with this index, the first with these names. What to write instead is found by
    /// reading all tools' names.
    WrongNames(usize),
}

/// The findings in one program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Sorted by line, at most 20.
    pub findings: Vec<Finding>,
    /// Findings left out.
    pub more: usize,
    /// Why the program was not checked, if it may use tools.
    pub unchecked: Option<&'static str>,
}

// === impl Finding ===

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warning = match self.weight {
            Certainty::Error => "",
            Certainty::Warning => "warning: ",
        };
        write!(f, "line {}: {warning}{}", self.line, self.text)
    }
}

// === impl Draft ===

impl From<Finding> for Draft {
    fn from(finding: Finding) -> Draft {
        Draft {
            line: finding.line,
            weight: finding.weight,
            said: FindingText::Text(finding.text),
        }
    }
}

// === impl Report ===

impl Report {
    /// The listed findings as text. `instead` returns what to write for a call with wrong names.
    pub(crate) fn of(
        mut drafts: Vec<Draft>,
        instead: impl Fn(usize) -> String,
        unchecked: Option<&'static str>,
    ) -> Report {
        drafts.sort_by(|a, b| (a.line, &a.said).cmp(&(b.line, &b.said)));
        drafts.dedup_by(|a, b| (a.line, a.weight, &a.said) == (b.line, b.weight, &b.said));
        // Errors have precedence over warnings.
        let more = drafts.len().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            drafts.sort_by_key(|draft| draft.weight == Certainty::Warning);
            drafts.truncate(MAX_FINDINGS);
        }
        let mut known: HashMap<usize, String> = HashMap::new();
        let mut findings: Vec<Finding> = drafts
            .into_iter()
            .map(|draft| Finding {
                line: draft.line,
                weight: draft.weight,
                text: match draft.said {
                    FindingText::Text(text) => text,
                    FindingText::WrongNames(call) => {
                        known.entry(call).or_insert_with(|| instead(call)).clone()
                    }
                },
            })
            .collect();
        findings.sort_by(|a, b| (a.line, &a.text).cmp(&(b.line, &b.text)));
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

    /// Whether the program would certainly fail.
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.weight == Certainty::Error)
    }

    /// One line per finding, one for those left out, and one if nothing was checked.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.findings.iter().map(ToString::to_string).collect();
        if self.more > 0 {
            lines.push(format!("and {} more", self.more));
        }
        lines.extend(self.unchecked.map(|why| format!("nothing was checked: {why}")));
        lines
    }
}

//! The findings of the structural rules, without the boolean parameters that `exceptions.toml`
//! lists with reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::file::Problem;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    ImportCycles,
    ReExports,
    Constructors,
    TypeNames,
    BooleanParameters,
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) rule: Rule,
    /// Without a line number, so that edits elsewhere do not change it.
    pub(super) place: String,
    problem: Problem,
}

impl Finding {
    pub(super) fn new(rule: Rule, place: String, (file, line): (&str, usize), message: String) -> Finding {
        let problem = Problem {
            path: file.to_owned(),
            line: Some(line),
            message,
        };
        Finding { rule, place, problem }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Exceptions {
    /// Place to reason.
    boolean_parameters: BTreeMap<String, String>,
}

/// The findings without exceptions, and the exceptions without a finding.
pub(super) fn compare(exceptions: &str, findings: Vec<Finding>) -> Result<Vec<Problem>> {
    const EXCEPTIONS: &str = "xtask/exceptions.toml";
    let excepted: Exceptions = toml::from_str(exceptions).context(EXCEPTIONS)?;
    let mut stale: BTreeSet<String> = excepted.boolean_parameters.into_keys().collect();
    let excepted = stale.clone();
    let mut problems = Vec::new();
    for finding in findings {
        if finding.rule == Rule::BooleanParameters && excepted.contains(&finding.place) {
            stale.remove(&finding.place);
        } else {
            problems.push(finding.problem);
        }
    }
    problems.extend(stale.into_iter().map(|place| {
        Problem {
            path: EXCEPTIONS.to_owned(),
            line: exceptions
                .lines()
                .position(|line| line.contains(&format!("\"{place}\"")))
                .map(|at| at + 1),
            message: format!("`{place}` no longer has a boolean parameter: remove it"),
        }
    }));
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, places: &[&str], exceptions: &str, expected: &[&str]) {
        let finding = |place: &&str| {
            let message = format!("{place} is found");
            Finding::new(rule, (*place).to_owned(), ("a.rs", 1), message)
        };
        let problems = compare(exceptions, places.iter().map(finding).collect()).unwrap();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn exceptions_cover_boolean_parameters_and_nothing_else() {
        let exceptions = "[boolean-parameters]\n\"e\" = \"the library calls it\"\n";
        let stale = "xtask/exceptions.toml:2: `e` no longer has a boolean parameter: remove it";
        check(Rule::BooleanParameters, &["e"], exceptions, &[]);
        check(
            Rule::BooleanParameters,
            &["e", "f"],
            exceptions,
            &["a.rs:1: f is found"],
        );
        check(Rule::BooleanParameters, &[], exceptions, &[stale]);
        check(
            Rule::TypeNames,
            &["e"],
            exceptions,
            &["a.rs:1: e is found", stale],
        );
        assert!(compare("[type-names]", Vec::new()).is_err());
    }
}

//! Compares what the rules about structure find with two lists: places in debt, and boolean parameters that stay.
//!
//! `debts.toml` has the places that broke a rule when the rule came, `exceptions.toml` the boolean parameters that are right
//! where they are, each with its reason. A place on neither list fails, and so does a line that no longer applies: the
//! debts can only shrink.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::file::Problem;

/// Rules that places may be in debt to.
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

/// A place that breaks one of them.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) rule: Rule,
    /// Names the place without its line, so that edits elsewhere leave it alone.
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

type Debts = BTreeMap<Rule, BTreeSet<String>>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Exceptions {
    /// ModuleId to reason.
    boolean_parameters: BTreeMap<String, String>,
}

/// The findings that are on no list, and the lines of the lists that nothing was found for.
pub(super) fn compare(debts: &str, exceptions: &str, findings: Vec<Finding>) -> Result<Vec<Problem>> {
    const DEBTS: &str = "xtask/debts.toml";
    const EXCEPTIONS: &str = "xtask/exceptions.toml";
    let owed: Debts = toml::from_str(debts).context(DEBTS)?;
    let excepted: Exceptions = toml::from_str(exceptions).context(EXCEPTIONS)?;
    let excepted = excepted.boolean_parameters;
    let mut open: BTreeSet<(Rule, String)> = findings
        .iter()
        .map(|finding| (finding.rule, finding.place.clone()))
        .collect();
    let mut stale = Vec::new();
    let mut cover = |rule: Rule, place: &str, (file, list): (&str, &str)| {
        if !open.remove(&(rule, place.to_owned())) {
            let is_named = |line: &str| line.contains(&format!("\"{place}\""));
            stale.push(Problem {
                path: file.to_owned(),
                line: list.lines().position(is_named).map(|at| at + 1),
                message: format!("`{place}` no longer breaks the rule `{rule}`: remove it"),
            });
        }
    };
    for place in excepted.keys() {
        cover(Rule::BooleanParameters, place, (EXCEPTIONS, exceptions));
    }
    for (rule, places) in &owed {
        for place in places {
            cover(*rule, place, (DEBTS, debts));
        }
    }
    let new = findings
        .into_iter()
        .filter(|finding| open.contains(&(finding.rule, finding.place.clone())));
    Ok(new.map(|finding| finding.problem).chain(stale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(places: &[&str], debts: &str, exceptions: &str) -> Vec<String> {
        let finding = |place: &&str| {
            let message = format!("{place} is new");
            Finding::new(Rule::BooleanParameters, (*place).to_owned(), ("a.rs", 1), message)
        };
        compare(debts, exceptions, places.iter().map(finding).collect())
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_lists_are_exact() {
        let debts = "boolean-parameters = [\n    \"a\",\n    \"b\",\n]\n";
        let exceptions = "[boolean-parameters]\n\"e\" = \"the library calls it\"\n";
        assert_eq!(messages(&["a", "b", "e"], debts, exceptions), [""; 0]);
        assert_eq!(
            messages(&["a", "b", "c", "e"], debts, exceptions),
            ["a.rs:1: c is new"]
        );
        assert_eq!(
            messages(&["a"], debts, exceptions),
            [
                "xtask/exceptions.toml:2: `e` no longer breaks the rule `boolean-parameters`: remove it",
                "xtask/debts.toml:3: `b` no longer breaks the rule `boolean-parameters`: remove it"
            ]
        );
        // Neither list covers what the other rules or the other list cover.
        assert_eq!(messages(&["a"], "type-names = [\"a\"]", "").len(), 2);
        let both = "boolean-parameters = [\"e\"]";
        assert_eq!(messages(&["e"], both, exceptions).len(), 1);
        assert!(compare("no-rule = []", "", Vec::new()).is_err());
        assert!(compare("", "[type-names]", Vec::new()).is_err());
    }
}

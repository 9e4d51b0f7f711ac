//! Lists the acceptance cases and compatibility entries that tests name, each with its tests.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::say;
use crate::run;

/// Prints every ID whose text begins with `prefix`, with file and test.
pub fn print(prefix: &str) -> Result<()> {
    let listed = run::printed(Command::new("git").args(["ls-files", "--", "crates/*.rs"]))?;
    let mut cases: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in listed.lines() {
        let text = fs::read_to_string(file).with_context(|| format!("read {file}"))?;
        for (id, test) in named(&text) {
            cases.entry(id).or_default().push(format!("{file}  {test}"));
        }
    }
    cases.retain(|id, _| id.starts_with(prefix));
    ensure!(
        !cases.is_empty(),
        "no test names a case that begins with {prefix:?}"
    );
    for (id, tests) in &cases {
        for test in tests {
            say(&format!("{id:<7} {test}"));
        }
    }
    say(&format!("{} cases", cases.len()));
    Ok(())
}

/// Each ID with its test: from the name of the test (`c126_…`) and from the comments above the test.
fn named(text: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let mut above = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("//") {
            above.extend(ids(comment));
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
        } else {
            let test = line
                .trim_start_matches("async ")
                .strip_prefix("fn ")
                .and_then(|rest| rest.split_once('('));
            if let Some((test, _)) = test.filter(|_| is_test) {
                let own = test.split('_').map_while(case_of_name);
                let mut all: Vec<String> = above.drain(..).chain(own).collect();
                all.sort();
                all.dedup();
                found.extend(all.into_iter().map(|id| (id, test)));
            }
            above.clear();
            is_test = false;
        }
    }
    found
}

/// `c126` of a test's name is case `C126`.
fn case_of_name(word: &str) -> Option<String> {
    let number = word.strip_prefix('c')?;
    is_number(number, 3).then(|| format!("C{number}"))
}

/// IDs such as `C126`, `S4-60` and `S0-D17`.
fn ids(comment: &str) -> Vec<String> {
    let words = comment.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    let is_id = |word: &&str| match (word.strip_prefix('C'), word.strip_prefix('S')) {
        (Some(number), _) => is_number(number, 3),
        (_, Some(rest)) => rest.split_once('-').is_some_and(|(system, entry)| {
            is_number(system, 1) && is_number(entry.trim_start_matches('D'), 2)
        }),
        _ => false,
    };
    words.filter(is_id).map(str::to_owned).collect()
}

fn is_number(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_names_and_from_comments_of_tests() {
        let text = "
            // C115: S4-60, S4-D02.
            #[tokio::test]
            async fn probes() {
                // C001 is inside.
            }
            /// C002 belongs to a helper.
            fn helper() {}
            #[test]
            fn c126_c127_calls_run_in_parallel() {}
        ";
        let found = named(text);
        let found: Vec<(&str, &str)> = found.iter().map(|(id, test)| (id.as_str(), *test)).collect();
        let parallel = "c126_c127_calls_run_in_parallel";
        assert_eq!(
            found,
            [
                ("C115", "probes"),
                ("S4-60", "probes"),
                ("S4-D02", "probes"),
                ("C126", parallel),
                ("C127", parallel),
            ]
        );
    }
}

//! Runs the test programs that cargo has built; a test that fails beside others has a second chance alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use super::counts::Counts;
use super::rust::with_places;
use crate::layout;
use crate::run::{self, Watched};
use crate::tasks::{say, setup};

/// A test program and where it comes from.
pub struct TestProgram {
    pub executable: PathBuf,
    /// Its package's directory.
    pub directory: PathBuf,
    /// `lib`, `bin` or `test`.
    pub kind: String,
}

/// Builds what `cargo test` with these arguments would run.
pub fn built(packages: &[&str]) -> Result<Vec<TestProgram>> {
    let mut args = vec![
        "test",
        "--locked",
        "--no-run",
        "--quiet",
        "--message-format=json-render-diagnostics",
    ];
    args.extend(packages);
    let messages = run::printed(setup::cargo().args(args))?;
    Ok(messages
        .lines()
        .filter_map(|line| TestProgram::of(&serde_json::from_str(line).ok()?))
        .collect())
}

/// Runs all tests of a program whose names contain one of the filters; without filters, all.
///
/// The machine may be shared and very busy, so those that fail run once more, one at a time, as nextest has it
/// (`retries` in `.config/nextest.toml`). Those that pass then are named: a defect that shows only sometimes is one too.
pub fn run(make: impl Fn() -> Command, filters: &[&str]) -> Result<Counts> {
    let first = run::watched(make().args(filters))?;
    let (counts, flaky) = counted(&first, |failed| {
        say("once more, one at a time:");
        run::watched(make().args(["--exact", "--test-threads=1"]).args(failed))
    })?;
    for test in flaky {
        say(&format!("flaky: {test} failed beside others and passed alone"));
    }
    Ok(counts)
}

/// How a program's tests went and which passed only when `again` ran them once more.
fn counted(
    first: &Watched,
    again: impl FnOnce(&BTreeSet<String>) -> Result<Watched>,
) -> Result<(Counts, Vec<String>)> {
    let counts = Counts::of_libtest(&first.lines).with_end(first.success);
    let failed = failed(&first.lines);
    // A program that dies does not tell how its tests went.
    if failed.is_empty() || failed.len() != counts.failed {
        return Ok((counts, Vec::new()));
    }
    let second = again(&failed)?;
    let again = Counts::of_libtest(&second.lines).with_end(second.success);
    if again.passed + again.failed != failed.len() {
        return Ok((counts, Vec::new()));
    }
    let still = self::failed(&second.lines);
    let all = Counts {
        passed: counts.passed + again.passed,
        failed: again.failed,
    };
    Ok((all, failed.difference(&still).cloned().collect()))
}

/// The names under the last `failures:`.
fn failed(lines: &[String]) -> BTreeSet<String> {
    let start = lines.iter().rposition(|line| line == "failures:");
    let listed = start.map(|start| &lines[start + 1..]).unwrap_or_default();
    listed
        .iter()
        .map_while(|line| line.strip_prefix("    "))
        .map(str::to_owned)
        .collect()
}

// === impl TestProgram ===

impl TestProgram {
    /// Reads one of cargo's messages.
    fn of(message: &Value) -> Option<TestProgram> {
        let directory = Path::new(message["manifest_path"].as_str()?).parent()?;
        (message["profile"]["test"] == true).then_some(TestProgram {
            executable: PathBuf::from(message["executable"].as_str()?),
            directory: directory.to_owned(),
            kind: message["target"]["kind"][0].as_str()?.to_owned(),
        })
    }

    /// Gives a command that runs it the directory and the variables that cargo would, and those of the tests.
    pub fn surround(&self, command: &mut Command) {
        command
            .current_dir(&self.directory)
            .env("CARGO_MANIFEST_DIR", &self.directory)
            .env("INSTA_WORKSPACE_ROOT", layout::root())
            .env("INSTA_UPDATE", "no");
        with_places(command);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_test_programs_are_taken() {
        let message = |executable: Value, test: bool| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": "/w/crates/jail/Cargo.toml",
                "target": {"kind": ["lib"]},
                "profile": {"test": test},
                "executable": executable,
            })
        };
        let taken = |executable, test| TestProgram::of(&message(executable, test)).is_some();
        assert!(taken(json!("/w/target/debug/deps/x"), true));
        assert!(!taken(json!("/w/target/debug/x"), false) && !taken(Value::Null, true));
    }

    /// What two runs of a program print and whether they end well.
    fn check(first: (&str, bool), second: (&str, bool), passed: usize, failed: usize) {
        let watched = |(text, success): (&str, bool)| Watched {
            lines: text.lines().map(str::to_owned).collect(),
            success,
        };
        let (counts, _) = counted(&watched(first), |_| Ok(watched(second))).expect("counts");
        assert_eq!(counts, Counts { passed, failed }, "{first:?} {second:?}");
    }

    #[test]
    fn a_failure_counts_unless_the_test_passes_alone() {
        let good = ("test result: ok. 2 passed; 0 failed; 0 ignored", true);
        let two = (
            "failures:\n\n---- b stdout ----\n\nfailures:\n    b\n    c::d\n\ntest result: FAILED. 3 passed; 2 failed; 0 ignored",
            false,
        );
        let again = |passed: usize, names: &str| {
            format!(
                "failures:\n    {names}\n\ntest result: FAILED. {passed} passed; {} failed; 0 ignored",
                2 - passed
            )
        };
        let dies = ("failures:\n    b", false);
        check(good, dies, 2, 0);
        check(two, good, 5, 0);
        check(two, (&again(1, "b"), false), 4, 1);
        check(two, (&again(0, "b\n    c::d"), false), 3, 2);
        check(two, dies, 3, 2);
        check(
            two,
            ("test result: ok. 0 passed; 0 failed; 0 ignored", true),
            3,
            2,
        );
        check(dies, good, 0, 1);
    }
}

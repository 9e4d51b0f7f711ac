//! Parses the numbers of passed and failed tests from each runner's output.

use std::fmt;
use std::iter::Sum;

/// Numbers of passed and failed tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(all: I) -> Counts {
        all.fold(Counts::default(), |sum, one| Counts {
            passed: sum.passed + one.passed,
            failed: sum.failed + one.failed,
        })
    }
}

impl Counts {
    /// A runner that failed without naming a test (it died, or could not start) counts as one failure.
    pub fn with_end(mut self, success: bool) -> Counts {
        if !success && self.failed == 0 {
            self.failed = 1;
        }
        self
    }

    /// `Summary [  54.367s] 18 tests run: 17 passed (1 slow), 1 timed out, 2 skipped`
    pub fn of_nextest(lines: &[String]) -> Counts {
        let summary = lines.iter().rev().find_map(|line| {
            let (before, after) = line.trim().strip_prefix("Summary")?.split_once(" run: ")?;
            let run = before
                .split_whitespace()
                .find_map(|word| word.split('/').next()?.parse::<usize>().ok())?;
            Some(Counts {
                passed: number_before(after, " passed"),
                failed: run,
            })
        });
        summary.map_or(Counts::default(), |it| Counts {
            failed: it.failed.saturating_sub(it.passed),
            ..it
        })
    }

    /// `test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s`, once a binary
    pub fn of_libtest(lines: &[String]) -> Counts {
        lines
            .iter()
            .filter_map(|line| line.trim().strip_prefix("test result: "))
            .map(|rest| Counts {
                passed: number_before(rest, " passed"),
                failed: number_before(rest, " failed"),
            })
            .sum()
    }

    /// `Ran 12 tests in 0.5s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=2, skipped=1)`
    pub fn of_unittest(lines: &[String]) -> Counts {
        let last = |prefix: &str| {
            lines
                .iter()
                .rev()
                .find_map(|line| line.trim().strip_prefix(prefix))
        };
        let run: usize = last("Ran ")
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .unwrap_or_default();
        let end = last("FAILED (").or_else(|| last("OK (")).unwrap_or_default();
        let named = |name: &str| {
            let value = end
                .trim_end_matches(')')
                .split(", ")
                .find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            value
                .and_then(|value| value.parse::<usize>().ok())
                .unwrap_or_default()
        };
        let failed = named("failures") + named("errors") + named("unexpected successes");
        Counts {
            passed: run.saturating_sub(failed + named("skipped")),
            failed,
        }
    }
}

/// The number directly before a word.
fn number_before(text: &str, word: &str) -> usize {
    text.split_once(word)
        .and_then(|(before, _)| {
            before
                .rsplit(|character: char| !character.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: fn(&[String]) -> Counts, text: &str, passed: usize, failed: usize) {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(read(&lines), Counts { passed, failed }, "{text}");
    }

    #[test]
    fn the_format_of_each_runner_is_parsed() {
        check(
            Counts::of_nextest,
            "     Summary [  54.367s] 18 tests run: 18 passed, 0 skipped",
            18,
            0,
        );
        check(
            Counts::of_nextest,
            "Summary [ 1.0s] 18 tests run: 15 passed (1 slow), 2 failed, 1 timed out, 4 skipped",
            15,
            3,
        );
        check(
            Counts::of_nextest,
            "Summary [ 1.0s] 1 test run: 0 passed, 1 failed, 0 skipped",
            0,
            1,
        );
        check(
            Counts::of_nextest,
            "Summary [ 1.0s] 13/18 tests run: 12 passed, 1 failed, 0 skipped",
            12,
            1,
        );
        check(Counts::of_nextest, "error: could not compile", 0, 0);
        let two = "test result: ok. 3 passed; 0 failed; 0 ignored\ntest result: FAILED. 4 passed; 2 failed; 1 ignored";
        check(Counts::of_libtest, two, 7, 2);
        check(Counts::of_unittest, "Ran 12 tests in 0.5s\n\nOK", 12, 0);
        check(Counts::of_unittest, "Ran 1 test in 0.5s\n\nOK (skipped=1)", 0, 0);
        check(
            Counts::of_unittest,
            "Ran 9 tests in 0.5s\n\nFAILED (failures=1, errors=2, skipped=3)",
            3,
            3,
        );
    }

    #[test]
    fn a_runner_that_dies_counts_as_a_failure() {
        let none = Counts::default();
        assert_eq!(none.with_end(false).failed, 1);
        assert_eq!(none.with_end(true).failed, 0);
        assert_eq!(Counts { passed: 1, failed: 3 }.with_end(false).failed, 3);
    }
}

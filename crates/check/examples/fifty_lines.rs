//! Times the check of fifty lines, and of fifty wrong names of tools, against the tools of 46 real servers;
//! fails if it takes too long.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends here")]
#![expect(clippy::print_stdout, reason = "what it is for")]

#[path = "../tests/labelled/report.rs"]
mod report;

use std::fmt;
use std::time::{Duration, Instant};

use catalog::Catalog;
use test_support::catalogue;

use report::report;

/// The first fifty lines of these programs.
const PROGRAMS: &str = include_str!("../../test-support/programs/correct/plain.txt");
const LINES: usize = 50;
const ROUNDS: usize = 200;

/// Longest time for right calls and for wrong names, optimised.
const MOST: Duration = Duration::from_millis(1);
const MOST_WRONG: Duration = Duration::from_millis(100);

fn main() {
    let catalog = Catalog::build(&catalogue::lists().unwrap());
    let lines = PROGRAMS
        .lines()
        .filter(|line| !line.starts_with("=== ") && !line.starts_with("--- "))
        .take(LINES);
    let code: String = lines
        .map(|line| format!("{}\n", line.replace("return ", "last = ")))
        .collect();
    let right = timed(&catalog, &code);
    let names = (0..LINES).map(|n| format!("await runtime.call_tool('', 'crate_isue_{n}')\n"));
    let wrong = timed(&catalog, &names.collect::<String>());
    assert_eq!(wrong.findings, LINES);
    println!("{LINES} lines: {right}");
    println!("{LINES} wrong names of tools: {wrong}");
    if !cfg!(debug_assertions) {
        assert!(right.median < MOST, "{right}");
        assert!(wrong.median < MOST_WRONG, "{wrong}");
    }
}

/// Of one program.
struct Times {
    findings: usize,
    median: Duration,
    p99: Duration,
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Times {
            findings,
            median,
            p99,
        } = self;
        write!(f, "{findings} findings, median {median:?}, p99 {p99:?}")
    }
}

fn timed(catalog: &Catalog, code: &str) -> Times {
    // The first round compiles the schemas, which the calls need anyway.
    let found = report(catalog, code);
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            report(catalog, code);
            begun.elapsed()
        })
        .collect();
    times.sort();
    Times {
        findings: found.findings.len() + found.more,
        median: times[ROUNDS / 2],
        p99: times[ROUNDS * 99 / 100],
    }
}

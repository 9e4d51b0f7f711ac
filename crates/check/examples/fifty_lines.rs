//! Times the check of a program of fifty lines against the catalogue of 46 real servers: median and 99th percentile.

#![expect(clippy::unwrap_used, reason = "a measurement that cannot go on ends here")]
#![expect(clippy::print_stdout, reason = "what it is for")]

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::Catalog;
use check::{Names, Program, Report, View, judge};
use serde_json::Value;
use serde_json::value::to_raw_value;
use test_support::catalogue;
use types::{ServerTools, Tool};

/// The first fifty lines of these, one program after the other.
const PROGRAMS: &str = include_str!("../../test-support/programs/correct/plain.txt");
const LINES: usize = 50;
const ROUNDS: usize = 1_000;

fn main() {
    let catalog = catalog();
    let lines = PROGRAMS
        .lines()
        .filter(|line| !line.starts_with("=== ") && !line.starts_with("--- "))
        .take(LINES);
    let code: String = lines
        .map(|line| format!("{}\n", line.replace("return ", "last = ")))
        .collect();
    // The first time compiles the schemas, which the calls need anyway.
    let found = check(&catalog, &code);
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            check(&catalog, &code);
            begun.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "{LINES} lines, {} findings: median {:?}, p99 {:?}",
        found.findings.len(),
        times[ROUNDS / 2],
        times[ROUNDS * 99 / 100]
    );
}

fn check(catalog: &Catalog, code: &str) -> Report {
    let view = View {
        catalog,
        may_call: &|_| true,
        learned: &|_| None,
        takes_positional: &|_| false,
        own_tools: &[],
    };
    judge(&Program::read(code, &Names::default()), &view)
}

fn catalog() -> Catalog {
    let servers = catalogue::servers().into_iter().map(|name| {
        let listed: Value = serde_json::from_slice(&fs::read(catalogue::file(&name)).unwrap()).unwrap();
        let tools = listed.as_array().or(listed["tools"].as_array()).unwrap().iter();
        let tools = tools.map(|tool| Arc::new(Tool::parse(to_raw_value(tool).unwrap()).unwrap()));
        ServerTools {
            tools: Some(tools.collect()),
            name,
            description: None,
            cwd: None,
        }
    });
    Catalog::build(&servers.collect::<Vec<_>>())
}

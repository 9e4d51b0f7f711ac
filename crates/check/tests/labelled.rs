//! The labelled programs, against real servers' tools: most flawed ones are caught, and no correct one is
//! refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "labelled/report.rs"]
mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use catalog::Catalog;
use check::Certainty;
use test_support::catalogue;

use report::report;

/// Least share of flawed programs caught: of all, and of each class.
const OVERALL: f64 = 0.95;
const EACH: f64 = 0.90;

/// One program with its header.
struct Labelled {
    name: String,
    label: String,
    code: String,
}

/// The classes in a folder with their programs.
fn programs(folder: &str) -> BTreeMap<String, Vec<Labelled>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../test-support/programs")
        .join(folder);
    let files = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|extension| extension == "txt"))
        .map(|file| {
            let class = file.file_stem().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&file).unwrap();
            let parts = format!("\n{text}");
            let programs = parts.split("\n=== ").skip(1).map(|part| {
                let (name, rest) = part.split_once('\n').unwrap();
                let (label, code) = rest.split_once('\n').unwrap();
                Labelled {
                    name: name.to_owned(),
                    label: label.trim_start_matches("--- ").to_owned(),
                    code: code.to_owned(),
                }
            });
            (class, programs.collect())
        })
        .collect()
}

/// The lines on which a flaw may be reported: the call that contains the labelled line.
fn lines_of(program: &Labelled) -> std::ops::RangeInclusive<u32> {
    let line: u32 = program.label.split([' ', ':']).nth(1).unwrap().parse().unwrap();
    let source: Vec<&str> = program.code.lines().collect();
    let depth = |line: &str| -> i64 {
        let count = |brackets: &str| line.chars().filter(|c| brackets.contains(*c)).count();
        i64::try_from(count("([{")).unwrap() - i64::try_from(count(")]}")).unwrap()
    };
    let at = usize::try_from(line).unwrap();
    // Back to where the open brackets were opened.
    let (mut first, mut open) = (at, source[..at - 1].iter().map(|line| depth(line)).sum::<i64>());
    while open > 0 && first > 1 {
        first -= 1;
        open -= depth(source[first - 1]);
    }
    u32::try_from(first).unwrap()..=line
}

#[test]
fn flawed_programs_are_caught() {
    let catalog = Catalog::build(&catalogue::lists().unwrap());
    let (mut all, mut caught_of_all) = (0, 0);
    let mut table = format!("{:<18} {:>5} {:>7} {:>7}\n", "class", "all", "caught", "refused");
    let mut missed = Vec::new();
    let mut weak = Vec::new();
    for (class, programs) in programs("flawed") {
        let (mut caught, mut refused) = (0, 0);
        for program in &programs {
            let lines = lines_of(program);
            let report = report(&catalog, &program.code);
            let mut on_line = report
                .findings
                .iter()
                .filter(|finding| lines.contains(&finding.line))
                .peekable();
            if on_line.peek().is_some() {
                caught += 1;
            } else {
                missed.push(format!(
                    "{} ({}): {:?}",
                    program.name,
                    program.label,
                    report.lines()
                ));
            }
            refused += usize::from(on_line.any(|finding| finding.weight == Certainty::Error));
        }
        table += &format!("{class:<18} {:>5} {caught:>7} {refused:>7}\n", programs.len());
        if share(caught, programs.len()) < EACH {
            weak.push(class);
        }
        all += programs.len();
        caught_of_all += caught;
    }
    println!(
        "{table}{:<18} {all:>5} {caught_of_all:>7}\nmissed:\n{}",
        "all",
        missed.join("\n")
    );
    assert!(weak.is_empty(), "classes below {EACH}: {weak:?}");
    assert!(share(caught_of_all, all) >= OVERALL, "{caught_of_all} of {all}");
}

#[test]
fn no_correct_program_is_refused() {
    let catalog = Catalog::build(&catalogue::lists().unwrap());
    let mut refused = Vec::new();
    for program in programs("correct").into_values().flatten() {
        let report = report(&catalog, &program.code);
        if !report.is_empty() {
            let word = if report.has_errors() { "REFUSED" } else { "warned" };
            refused.push(format!(
                "{word} {} ({}): {:#?}",
                program.name,
                program.label,
                report.lines()
            ));
        }
    }
    println!("{}", refused.join("\n"));
    assert!(!refused.iter().any(|told| told.starts_with("REFUSED")));
}

fn share(part: usize, whole: usize) -> f64 {
    f64::from(u32::try_from(part).unwrap()) / f64::from(u32::try_from(whole).unwrap())
}

//! The sentences whose figures `docs/task-runner.md` reports: each is planned over its tools, and what comes of it is held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::tools::{planned, search, selected, shown};
use catalog::Search;
use serde_json::Value;
use task::{Plan, Step};

/// The files of sentences below `reported/`, each with the files of the tools that they are planned over.
const SETS: [(&str, &[&str]); 6] = [
    ("library", &["library"]),
    ("travel", &["travel"]),
    ("warehouse", &["warehouse"]),
    ("affairs", &["affairs"]),
    ("office", &["affairs", "office"]),
    ("bounds", &["bounds"]),
];

/// What becomes of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// What is meant is done, or asked for where the sentence lacks it; nothing is run of what is not to be done.
    Right,
    /// Nothing is run of what should have been: a value is asked for, or a word is named.
    Stopped,
    /// Something is run that is not meant.
    Wrong,
}

/// One sentence of a round.
struct Sentence {
    round: String,
    text: String,
    /// Whether it says plainly what is to be done; the others are not to be done as they stand.
    is_plain: bool,
    /// What it means, a line for each step: its call, or that and how the question for what is missing begins.
    meant: Vec<String>,
}

fn read(file: &str) -> String {
    let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/task/reported");
    std::fs::read_to_string(below.join(file)).expect(file)
}

fn tools(files: &[&str]) -> Search {
    let servers = |file: &&str| -> BTreeMap<String, Value> {
        serde_json::from_str(&read(&format!("{file}.json"))).expect("servers")
    };
    search(files.iter().flat_map(servers))
}

/// A round begins with `#`, a plain sentence with `+`, another with `-`; what a sentence means stands below it.
fn sentences(set: &str) -> Vec<Sentence> {
    let mut round = String::new();
    let mut sentences: Vec<Sentence> = Vec::new();
    for line in read(&format!("{set}.txt"))
        .lines()
        .filter(|line| !line.is_empty())
    {
        let (mark, text) = line.split_at(2);
        match mark {
            "# " => text.clone_into(&mut round),
            "+ " | "- " => sentences.push(Sentence {
                round: round.clone(),
                text: text.to_owned(),
                is_plain: mark == "+ ",
                meant: Vec::new(),
            }),
            _ => {
                let last = sentences.last_mut().expect("a sentence");
                last.meant.push(text.trim().to_owned());
            }
        }
    }
    sentences
}

/// Each step as its call, as that and what it needs, or as why it is not made; then the notes.
fn lines(plan: &Plan) -> Vec<String> {
    let line = |step: &Step| {
        let call = step.call.as_ref();
        let problem = plan.problem(step);
        let needs = call
            .zip(problem.as_ref())
            .and_then(|(call, problem)| problem.strip_prefix(&format!("{} needs ", call.entry.tool)));
        match (call.map(shown), needs) {
            (Some(shown), Some(needs)) => format!("{shown} needs {needs}"),
            (shown, _) => problem.or(shown).unwrap_or_default(),
        }
    };
    plan.steps.iter().map(line).chain(plan.notes()).collect()
}

fn outcome(sentence: &Sentence, plan: &Plan) -> Outcome {
    let lines = lines(plan);
    let is_it = |(line, meant): (&String, &String)| {
        line == meant || meant.contains(" needs ") && line.starts_with(meant)
    };
    let is_meant = lines.len() == sentence.meant.len() && lines.iter().zip(&sentence.meant).all(is_it);
    let runs = plan.problems().is_empty();
    match (sentence.is_plain, runs) {
        (true, _) if is_meant => Outcome::Right,
        (false, false) => Outcome::Right,
        (true, false) => Outcome::Stopped,
        (_, true) => Outcome::Wrong,
    }
}

#[test]
fn what_becomes_of_each_sentence() {
    for (set, files) in SETS {
        let (search, mut text) = (tools(files), String::new());
        for sentence in sentences(set) {
            let plan = planned(&search, &sentence.text);
            let kind = if sentence.is_plain {
                "plain"
            } else {
                "not to be done"
            };
            let outcome = outcome(&sentence, &plan);
            writeln!(text, "{}\n  {kind}: {outcome:?}", sentence.text).expect("text");
            for line in lines(&plan) {
                writeln!(text, "    {line}").expect("text");
            }
        }
        insta::assert_snapshot!(set, text);
    }
}

#[test]
fn the_document_has_these_figures() {
    let mut rounds: BTreeMap<String, BTreeMap<(bool, Outcome), usize>> = BTreeMap::new();
    for (set, files) in SETS {
        let search = tools(files);
        for sentence in sentences(set) {
            let outcome = outcome(&sentence, &planned(&search, &sentence.text));
            let round = rounds.entry(sentence.round).or_default();
            *round.entry((sentence.is_plain, outcome)).or_default() += 1;
        }
    }
    let row = |(round, counts): (&String, &BTreeMap<(bool, Outcome), usize>)| {
        let count = |is_plain, outcome| counts.get(&(is_plain, outcome)).copied().unwrap_or_default();
        let [right, stopped, wrong] =
            [Outcome::Right, Outcome::Stopped, Outcome::Wrong].map(|it| count(true, it));
        let [kept, run] = [Outcome::Right, Outcome::Wrong].map(|it| count(false, it));
        format!("| {round} | {right} | {stopped} | {wrong} | {kept} | {run} |")
    };
    let document = include_str!("../../../../docs/task-runner.md");
    let written: BTreeSet<&str> = document.lines().collect();
    let rows: Vec<String> = rounds.iter().map(row).collect();
    let is_written = rows.iter().all(|row| written.contains(row.as_str()));
    assert!(is_written, "docs/task-runner.md has not these rows: {rows:#?}");
}

#[test]
fn what_the_first_ten_mean_is_selected() {
    for (set, files) in SETS {
        let search = tools(files);
        let all = sentences(set).into_iter();
        for sentence in all.filter(|sentence| sentence.round == "first ten") {
            let selected = selected(&planned(&search, &sentence.text));
            let mut meant = sentence.meant.iter().filter_map(|meant| meant.split_once('('));
            let is_selected = meant.all(|(tool, _)| selected.iter().any(|name| name == tool));
            assert!(is_selected, "{}: {selected:?}", sentence.text);
        }
    }
}

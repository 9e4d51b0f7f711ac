//! Measures the search: how often a right tool is among the first hits, also without parts of the ranking,
//! and how long a query takes.

#![expect(clippy::print_stdout, reason = "a program whose purpose is to print a table")]

mod alone;
mod data;
mod fit;
mod measure;
mod scale;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{Catalog, FEATURES, Ranking, Search, WordMatching};
use data::{Author, Query};
use measure::{Score, score};
use test_support::catalogue;

const USAGE: &str = "usage: search_eval UNANSWERABLE-QUERIES QUERIES... [--fit] [--scale]";

#[derive(Default)]
struct Arguments {
    files: Vec<String>,
    fit: bool,
    scale: bool,
}

/// Sorted.
struct Times(Vec<Duration>);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(std::env::args().skip(1)).ok_or(USAGE)?;
    let (unanswerable, files) = arguments.files.split_first().ok_or(USAGE)?;
    let servers = catalogue::lists()?;
    let authors = files.iter().map(|file| Author::read(Path::new(file)));
    let authors = authors.collect::<Result<Vec<Author>, _>>()?;
    let queries: Vec<&Query> = authors.iter().flat_map(|author| &author.queries).collect();
    let unanswerable = data::queries(Path::new(unanswerable))?;
    let search = built(Arc::new(Catalog::build(&servers)));
    answered(&search, &authors, &queries);
    silent(&search, &unanswerable);
    alone::report(&servers, &queries, &unanswerable);
    let times = times(&search, &queries);
    println!(
        "\na query: median {:.2} ms, p99 {:.2} ms",
        times.at(50),
        times.at(99)
    );
    if arguments.fit {
        fit::report(&search, &authors);
        fit::floors(&search, &queries, &unanswerable);
    }
    if arguments.scale {
        scale::report(&servers, &authors[0].queries);
    }
    Ok(())
}

/// Prints how often right tools are found: without parts of the ranking, per author, and per kind.
fn answered(search: &Search, authors: &[Author], queries: &[&Query]) {
    let row = |name: &str, queries: &[&Query], ranking: &Ranking| {
        println!(
            "{}",
            numbers(name, &score(search, queries.iter().copied(), ranking))
        );
    };
    header();
    for (name, ranking) in rankings() {
        row(&name, queries, &ranking);
    }
    let usual = Ranking::default();
    let work: Vec<&Query> = queries.iter().copied().filter(|query| query.is_work()).collect();
    row("work (task and paraphrase)", &work, &usual);
    println!();
    for (kind, queries) in kinds(queries.iter().copied()) {
        row(kind, &queries, &usual);
    }
    println!();
    for author in authors {
        let queries: Vec<&Query> = author.queries.iter().collect();
        row(&author.name, &queries, &usual);
    }
}

/// Prints how often a query without an answer counts as unanswered.
fn silent(search: &Search, unanswerable: &[Query]) {
    let row = |name: &str, queries: &[&Query]| {
        println!(
            "{}",
            numbers(name, &score(search, queries.iter().copied(), &Ranking::default()))
        );
    };
    println!();
    for (half, name) in ["no answer, to choose by", "no answer, to report"]
        .into_iter()
        .enumerate()
    {
        let queries: Vec<&Query> = unanswerable.iter().skip(half).step_by(2).collect();
        row(name, &queries);
    }
    for (kind, queries) in kinds(unanswerable.iter()) {
        row(&format!("no answer, {kind}"), &queries);
    }
}

/// Names the columns of [`numbers`].
fn header() {
    println!(
        "\n{:44}{:>10}{:>10}{:>10}{:>12}",
        "", "recall@1", "@5", "@10", "unanswered"
    );
}

fn numbers(name: &str, score: &Score) -> String {
    let shares = score.recall.map(|share| format!("{share:>10.3}")).concat();
    format!("{name:44}{shares}{:>12.3}", score.unanswered)
}

/// Builds the index and prints its cost.
fn built(catalog: Arc<Catalog>) -> Search {
    let before = resident();
    let start = Instant::now();
    let search = Search::build(catalog.clone());
    let first = ms(start.elapsed());
    // The first search loads data that belongs to the index.
    search.find("create an issue", |_| true);
    let grown = resident()
        .zip(before)
        .map(|(after, before)| after.saturating_sub(before));
    let start = Instant::now();
    search.update(catalog.clone());
    let again = ms(start.elapsed());
    let tools = catalog.entries().count();
    println!(
        "{tools} tools indexed in {first:.0} ms; once more, with all definitions known, in {again:.0} ms"
    );
    if let Some(grown) = grown {
        println!(
            "memory: {:.1} MB more than before, the embedding included",
            grown as f64 / 1e6
        );
    }
    search
}

/// The whole ranking, then the ranking without each of its parts.
fn rankings() -> Vec<(String, Ranking)> {
    let all = Ranking::default();
    let always = Ranking { floor: 0.0, ..all };
    let mut rankings = vec![("all".to_owned(), all), ("answering always".to_owned(), always)];
    for (sign, name) in FEATURES.iter().enumerate() {
        let mut without = always;
        without.weights[sign] = 0.0;
        rankings.push((format!("without {name}"), without));
    }
    let reading = WordMatching::Literal;
    rankings.push(("without the lexicon".to_owned(), Ranking { reading, ..always }));
    let spread = 0.0;
    rankings.push(("without spreading".to_owned(), Ranking { spread, ..always }));
    rankings
}

fn kinds<'a>(queries: impl Iterator<Item = &'a Query>) -> BTreeMap<&'a str, Vec<&'a Query>> {
    let mut kinds: BTreeMap<&str, Vec<&Query>> = BTreeMap::new();
    for query in queries {
        kinds.entry(&query.kind).or_default().push(query);
    }
    kinds
}

/// Asks every query again to measure its time.
fn times(search: &Search, queries: &[&Query]) -> Times {
    let time = |query: &&Query| {
        let start = Instant::now();
        std::hint::black_box(search.find(&query.query, |_| true));
        start.elapsed()
    };
    let mut times: Vec<Duration> = queries.iter().map(time).collect();
    times.sort();
    Times(times)
}

/// Resident memory in bytes, where the machine has `/proc`.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

impl Times {
    /// Percentile in milliseconds.
    fn at(&self, percent: usize) -> f64 {
        self.0
            .get(self.0.len() * percent / 100)
            .map_or(0.0, |time| ms(*time))
    }
}

impl Arguments {
    fn read(words: impl Iterator<Item = String>) -> Option<Arguments> {
        let mut arguments = Arguments::default();
        for word in words {
            match word.as_str() {
                "--fit" => arguments.fit = true,
                "--scale" => arguments.scale = true,
                _ => arguments.files.push(word),
            }
        }
        (arguments.files.len() > 1).then_some(arguments)
    }
}

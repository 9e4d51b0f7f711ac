//! Measures the search: how often a right tool is among the first hits, with parts of the ranking left out, and how long it takes.

#![expect(clippy::print_stdout, reason = "a program whose purpose is to print a table")]

mod alone;
mod data;
mod folds;
mod measure;
mod scale;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{Catalog, Ranking, Search};
use data::Query;
use measure::score;
use test_support::catalogue;

const USAGE: &str = "usage: search_eval QUERIES UNANSWERABLE-QUERIES [--folds N] [--scale]";

/// What is asked for on the command line.
struct Arguments {
    files: [String; 2],
    folds: usize,
    scale: bool,
}

/// How long each query took, in order.
struct Times(Vec<Duration>);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read(std::env::args().skip(1)).ok_or(USAGE)?;
    let [queries, unanswerable] = arguments.files.each_ref().map(Path::new);
    let servers = catalogue::lists()?;
    let queries = data::queries(queries)?;
    let unanswerable = data::queries(unanswerable)?;
    let search = built(Arc::new(Catalog::build(&servers)));
    println!(
        "\n{:28}{:>10}{:>10}{:>10}{:>12}",
        "", "recall@1", "@5", "@10", "unanswered"
    );
    for (name, ranking) in rankings() {
        row(name, queries.iter(), &search, &ranking);
    }
    println!();
    for (kind, queries) in kinds(&queries) {
        row(kind, queries.into_iter(), &search, &Ranking::default());
    }
    println!();
    for (half, name) in ["no answer, to choose by", "no answer, to report"]
        .into_iter()
        .enumerate()
    {
        let queries = unanswerable.iter().skip(half).step_by(2);
        row(name, queries, &search, &Ranking::default());
    }
    for (kind, queries) in kinds(&unanswerable) {
        row(
            &format!("no answer, {kind}"),
            queries.into_iter(),
            &search,
            &Ranking::default(),
        );
    }
    alone::report(&servers, &queries, &unanswerable);
    let times = times(&search, &queries);
    println!(
        "\na query: median {:.2} ms, p99 {:.2} ms",
        times.at(50),
        times.at(99)
    );
    if arguments.folds > 1 {
        folds::report(&search, &queries, &unanswerable, arguments.folds);
    }
    if arguments.scale {
        scale::report(&servers, &queries);
    }
    Ok(())
}

/// Builds what is searched, and says what that takes.
fn built(catalog: Arc<Catalog>) -> Search {
    let before = resident();
    let start = Instant::now();
    let search = Search::build(catalog.clone());
    let first = ms(start.elapsed());
    // What the first search loads belongs to it.
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

/// The whole ranking, and each part of it left out.
fn rankings() -> Vec<(&'static str, Ranking)> {
    let all = Ranking::default();
    let always = Ranking { floor: 0.0, ..all };
    let words = Ranking {
        meant: 0.0,
        leaning: 0.0,
        likeness: 0.0,
        names: 0.0,
        spread: 0.0,
        ..always
    };
    vec![
        ("all", all),
        ("answering always", always),
        (
            "without meaning",
            Ranking {
                likeness: 0.0,
                ..always
            },
        ),
        (
            "without the lexicon",
            Ranking {
                meant: 0.0,
                leaning: 0.0,
                ..always
            },
        ),
        ("without servers' names", Ranking { names: 0.0, ..always }),
        (
            "without spreading",
            Ranking {
                spread: 0.0,
                ..always
            },
        ),
        ("words alone", words),
    ]
}

fn kinds(queries: &[Query]) -> BTreeMap<&str, Vec<&Query>> {
    let mut kinds: BTreeMap<&str, Vec<&Query>> = BTreeMap::new();
    for query in queries {
        kinds.entry(&query.kind).or_default().push(query);
    }
    kinds
}

fn row<'a>(name: &str, queries: impl Iterator<Item = &'a Query>, search: &Search, ranking: &Ranking) {
    let score = score(search, queries, ranking);
    let shares = score.recall.map(|share| format!("{share:>10.3}")).concat();
    println!("{name:28}{shares}{:>12.3}", score.unanswered);
}

/// Asks every query once more for the time it takes.
fn times(search: &Search, queries: &[Query]) -> Times {
    let time = |query: &Query| {
        let start = Instant::now();
        std::hint::black_box(search.find(&query.query, |_| true));
        start.elapsed()
    };
    let mut times: Vec<Duration> = queries.iter().map(time).collect();
    times.sort();
    Times(times)
}

/// Resident memory of this process in bytes, where the machine tells.
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
    /// The time in milliseconds that so many percent stay within.
    fn at(&self, percent: usize) -> f64 {
        self.0
            .get(self.0.len() * percent / 100)
            .map_or(0.0, |time| ms(*time))
    }
}

impl Arguments {
    fn read(words: impl Iterator<Item = String>) -> Option<Arguments> {
        let mut words = words.peekable();
        let mut files = Vec::new();
        let (mut folds, mut scale) = (0, false);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--folds" => folds = words.next()?.parse().ok()?,
                "--scale" => scale = true,
                _ => files.push(word),
            }
        }
        let files = files.try_into().ok()?;
        Some(Arguments { files, folds, scale })
    }
}

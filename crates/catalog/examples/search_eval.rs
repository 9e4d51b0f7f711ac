//! Measures the search: how often a right tool is among the first hits, with parts of the ranking left out, and how long it takes.

#![expect(clippy::print_stdout, reason = "a program whose purpose is to print a table")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use catalog::{Catalog, Ranking};
use serde::Deserialize;
use serde_json::value::RawValue;
use types::{ServerTools, Tool};

/// Hits that are looked at.
const DEPTHS: [usize; 3] = [1, 5, 10];

/// What somebody looks for, and every tool that is a right answer, as `server/tool`.
#[derive(Debug, Deserialize)]
struct Query {
    query: String,
    relevant: Vec<String>,
    kind: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [catalogue, queries] = arguments.as_slice() else {
        return Err("usage: search_eval DIRECTORY-OF-TOOL-LISTS FILE-OF-QUERIES".into());
    };
    let servers = servers(Path::new(catalogue))?;
    let text = std::fs::read_to_string(queries)?;
    let queries: Vec<Query> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let catalog = Catalog::build(&servers);
    let start = Instant::now();
    catalog.prepare_search();
    let tools = catalog.entries().count();
    println!("{tools} tools indexed in {:.0} ms", ms(start.elapsed()));
    println!("\n{:28}{:>10}{:>10}{:>10}", "", "recall@1", "@5", "@10");
    for (name, ranking) in rankings() {
        row(name, queries.iter(), &catalog, ranking);
    }
    println!();
    let mut kinds: BTreeMap<&str, Vec<&Query>> = BTreeMap::new();
    for query in &queries {
        kinds.entry(&query.kind).or_default().push(query);
    }
    for (kind, queries) in kinds {
        row(kind, queries.into_iter(), &catalog, Ranking::default());
    }
    println!();
    let mut times: Vec<Duration> = queries.iter().map(|query| time(&catalog, query)).collect();
    times.sort();
    let at = |percent: usize| ms(times[times.len() * percent / 100]);
    println!("a query: median {:.2} ms, p99 {:.2} ms", at(50), at(99));
    Ok(())
}

/// The whole ranking, and each part of it left out.
fn rankings() -> [(&'static str, Ranking); 5] {
    let all = Ranking::default();
    let words = Ranking {
        meaning: false,
        lexicon: false,
        names: false,
    };
    [
        ("all", all),
        (
            "without meaning",
            Ranking {
                meaning: false,
                ..all
            },
        ),
        (
            "without the lexicon",
            Ranking {
                lexicon: false,
                ..all
            },
        ),
        ("without servers' names", Ranking { names: false, ..all }),
        ("words alone", words),
    ]
}

fn row<'a>(name: &str, queries: impl Iterator<Item = &'a Query>, catalog: &Catalog, ranking: Ranking) {
    let places: Vec<usize> = queries.map(|query| place(catalog, query, ranking)).collect();
    let shares = DEPTHS.map(|depth| {
        let found = places.iter().filter(|place| **place < depth).count();
        format!("{:>10.3}", found as f64 / places.len() as f64)
    });
    println!("{name:28}{}", shares.concat());
}

/// How many hits go before the first right one.
fn place(catalog: &Catalog, query: &Query, ranking: Ranking) -> usize {
    let hits = catalog.ranked_by(&query.query, ranking);
    let is_right = |server: &str, tool: &str| {
        let right = |name: &String| name.split_once('/') == Some((server, tool));
        query.relevant.iter().any(right)
    };
    let place = hits
        .iter()
        .position(|hit| is_right(&hit.entry.tool.server, &hit.entry.tool.tool));
    place.unwrap_or(usize::MAX)
}

fn time(catalog: &Catalog, query: &Query) -> Duration {
    let start = Instant::now();
    std::hint::black_box(catalog.search(&query.query, 5));
    start.elapsed()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Every `SERVER.tools.json` of a directory.
fn servers(directory: &Path) -> Result<Vec<ServerTools>, Box<dyn Error>> {
    let mut servers = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let Some(name) = name.strip_suffix(".tools.json") else {
            continue;
        };
        let definitions: Vec<Box<RawValue>> = serde_json::from_slice(&std::fs::read(&path)?)?;
        let tools = definitions
            .into_iter()
            .map(|definition| Ok(Arc::new(Tool::parse(definition)?)));
        servers.push(ServerTools {
            name: name.to_owned(),
            description: None,
            cwd: None,
            tools: Some(tools.collect::<Result<_, Box<dyn Error>>>()?),
        });
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(servers)
}

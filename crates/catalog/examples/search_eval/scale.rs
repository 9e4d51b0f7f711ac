//! Recall and time by number of tools: parts of the lists that hold the right tools, and copies under other
//! names.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use catalog::{Catalog, Ranking, Search};
use types::{ServerTools, Tool};

use crate::data::{Query, server};
use crate::measure::score;
use crate::{ms, times};

const SIZES: [usize; 7] = [100, 300, 1_000, 2_040, 5_000, 10_000, 20_000];

/// Fewest queries, at the smallest size: their right tools must fit.
const AT_LEAST: usize = 40;

/// Prints one line per size.
pub fn report(servers: &[ServerTools], queries: &[Query]) {
    println!(
        "\n{:>8}{:>10}{:>12}{:>10}{:>10}{:>12}{:>12}{:>12}",
        "tools", "queries", "index, ms", "recall@1", "@5", "unanswered", "p50, ms", "p99, ms"
    );
    for size in SIZES {
        let (servers, queries) = sized(servers, queries, size);
        let catalog = Arc::new(Catalog::build(&servers));
        let start = Instant::now();
        let search = Search::build(catalog);
        let built = ms(start.elapsed());
        let score = score(&search, queries.iter(), &Ranking::default());
        let times = times(&search, &queries.iter().collect::<Vec<_>>());
        println!(
            "{:>8}{:>10}{built:>12.0}{:>10.3}{:>10.3}{:>12.3}{:>12.2}{:>12.2}",
            search.catalog().entries().count(),
            queries.len(),
            score.recall[0],
            score.recall[1],
            score.unanswered,
            times.at(50),
            times.at(99)
        );
    }
}

/// A set of `size` tools, and the queries whose right tools are in it. A copy of a right tool is right, too.
fn sized(servers: &[ServerTools], queries: &[Query], size: usize) -> (Vec<ServerTools>, Vec<Query>) {
    let all: usize = servers.iter().map(|server| tools(server).len()).sum();
    if size < all {
        return part(servers, queries, size);
    }
    let mut grown = servers.to_vec();
    let mut queries = queries.to_vec();
    let mut left = size - all;
    for copy in 2.. {
        for original in servers {
            if left == 0 {
                return (grown, queries);
            }
            let name = format!("{}-{copy}", original.name);
            let copied: Arc<[Arc<Tool>]> = tools(original).iter().take(left).cloned().collect();
            left -= copied.len();
            for query in &mut queries {
                let begins = format!("{}/", original.name);
                let right = query
                    .relevant
                    .iter()
                    .filter_map(|right| right.strip_prefix(&begins));
                let copies: Vec<String> = right.map(|tool| format!("{name}/{tool}")).collect();
                query.relevant.extend(copies);
            }
            grown.push(server(&name, copied));
        }
    }
    (grown, queries)
}

/// The first right tools of as many queries as fit, and an even sample of the other tools.
fn part(servers: &[ServerTools], queries: &[Query], size: usize) -> (Vec<ServerTools>, Vec<Query>) {
    let room = AT_LEAST.max(size / 4);
    let step = queries.len().div_ceil(room).max(1);
    let asked: Vec<Query> = queries.iter().step_by(step).cloned().collect();
    let mut kept: HashSet<String> = HashSet::new();
    for query in &asked {
        kept.extend(
            query
                .relevant
                .iter()
                .take(if size <= 100 { 1 } else { usize::MAX })
                .cloned(),
        );
    }
    let named = |server: &ServerTools| -> Vec<String> {
        let tools = tools(server).iter();
        tools
            .map(|tool| format!("{}/{}", server.name, tool.name))
            .collect()
    };
    let others: Vec<String> = servers
        .iter()
        .flat_map(named)
        .filter(|name| !kept.contains(name))
        .collect();
    let missing = size.saturating_sub(kept.len()).max(1);
    let step = others.len() / missing;
    kept.extend(others.into_iter().step_by(step.max(1)).take(missing));
    let parts = servers.iter().map(|each| {
        let is_kept = |tool: &&Arc<Tool>| kept.contains(&format!("{}/{}", each.name, tool.name));
        server(&each.name, tools(each).iter().filter(is_kept).cloned().collect())
    });
    (parts.filter(|part| !tools(part).is_empty()).collect(), asked)
}

fn tools(server: &ServerTools) -> &[Arc<Tool>] {
    server.tools.as_deref().unwrap_or_default()
}

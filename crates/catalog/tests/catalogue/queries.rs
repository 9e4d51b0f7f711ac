//! How often a search over the lists of real servers has a right tool among its first hits.

use std::collections::BTreeMap;

use catalog::Catalog;
use serde_json::Value;

#[test]
fn a_right_tool_is_among_the_first() {
    let catalog = Catalog::build(&super::servers());
    let queries = std::fs::read_to_string("/work/shared/cases/tool-queries.jsonl").unwrap();
    let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let start = std::time::Instant::now();
    catalog.prepare_search();
    println!("index {:?}", start.elapsed());
    let start = std::time::Instant::now();
    for line in queries.lines() {
        let query: Value = serde_json::from_str(line).unwrap();
        let hits = catalog.search(query["query"].as_str().unwrap(), 10);
        let relevant: Vec<String> = query["relevant"].as_array().unwrap().iter().map(|r| r.as_str().unwrap().replacen('/', ".", 1)).collect();
        let at = hits.iter().position(|hit| relevant.contains(&hit.entry.tool.to_string())).unwrap_or(999);
        for kind in [query["kind"].as_str().unwrap(), "all"] {
            kinds.entry(kind.to_owned()).or_default().push(at);
        }
    }
    println!("{:?} a query", start.elapsed() / 150);
    for (kind, at) in kinds {
        let share = |k: usize| at.iter().filter(|at| **at < k).count() as f64 / at.len() as f64;
        println!("{kind:12} {:.3} {:.3} {:.3}", share(1), share(5), share(10));
    }
}

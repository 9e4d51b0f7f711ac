//! How often a search over the lists of real servers has a right tool among its first hits.

use std::path::Path;

use catalog::Catalog;
use serde_json::Value;

#[test]
fn a_right_tool_is_among_the_first_for_most_queries() {
    let catalog = Catalog::build(&super::servers());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-support/queries/tool-queries.jsonl");
    let queries = std::fs::read_to_string(file).expect("the queries of test-support");
    let places: Vec<usize> = queries.lines().map(|line| place(&catalog, line)).collect();
    assert_eq!(places.len(), 150);
    let found = |depth: usize| places.iter().filter(|place| **place < depth).count();
    assert!(found(1) >= 150 * 60 / 100, "{} of 150 come first", found(1));
    assert!(found(5) >= 150 * 80 / 100, "{} of 150 are among five", found(5));
}

/// How many hits go before the first right one.
fn place(catalog: &Catalog, line: &str) -> usize {
    let query: Value = serde_json::from_str(line).expect("a query");
    let relevant = query["relevant"].as_array().expect("right tools");
    let hits = catalog.search(query["query"].as_str().expect("text"), 10);
    let is_right =
        |server: &str, tool: &str| relevant.iter().any(|right| *right == format!("{server}/{tool}"));
    let place = hits
        .iter()
        .position(|hit| is_right(&hit.entry.tool.server, &hit.entry.tool.tool));
    place.unwrap_or(usize::MAX)
}

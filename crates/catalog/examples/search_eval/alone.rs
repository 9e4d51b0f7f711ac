//! Silence with one server connected: each query is asked of each server that holds a right tool, alone.

use std::sync::Arc;

use catalog::{Catalog, Search};
use types::ServerTools;

use crate::data::Query;

/// Prints how often a server alone reports no tool: for queries it answers, and for queries that no server
/// answers.
pub fn report(servers: &[ServerTools], queries: &[&Query], unanswerable: &[Query]) {
    let [mut wrong, mut asked, mut right, mut without] = [0usize; 4];
    for server in servers {
        let search = Search::build(Arc::new(Catalog::build(std::slice::from_ref(server))));
        let is_silent = |query: &Query| search.find(&query.query, |_| true).hits.is_empty();
        let begins = format!("{}/", server.name);
        let holds = |query: &&&Query| query.relevant.iter().any(|right| right.starts_with(&begins));
        asked += queries.iter().filter(holds).count();
        wrong += queries
            .iter()
            .filter(holds)
            .filter(|query| is_silent(query))
            .count();
        without += unanswerable.len();
        right += unanswerable.iter().filter(|query| is_silent(query)).count();
    }
    println!(
        "\none server alone: {wrong} of {asked} queries that it has a tool for are said to have no answer,"
    );
    println!("{right} of {without} queries that nothing answers");
}

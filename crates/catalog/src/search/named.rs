//! Which servers a query names: "create an issue in GitLab" is about the tools of GitLab's servers.

use std::collections::HashSet;
use std::ops::Range;

use super::postings::small;
use super::words::{folded, words};

/// Parts of servers' names that name no product.
const GENERIC: [&str; 12] = [
    "api", "cloud", "desktop", "go", "js", "mcp", "my", "py", "ref", "server", "the", "ts",
];

/// What it counts that a query names a server whole; a part of the name counts less, the more parts there are.
const WHOLE_WEIGHT: f32 = 1.0;

/// Servers by the parts of their names.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<Named>);

#[derive(Debug)]
struct Named {
    /// Its parts in small letters, without generic ones.
    parts: Vec<String>,
    /// The places of its entries.
    entries: Range<usize>,
}

impl Names {
    pub(super) fn insert(&mut self, server: &str, entries: Range<usize>) {
        let parts: Vec<String> = words(server)
            .map(folded)
            .filter(|part| !GENERIC.contains(&part.as_str()))
            .collect();
        self.0.push(Named { parts, entries });
    }

    /// The entries of each server that the query names, and what that counts.
    pub(super) fn named_in(&self, query: &str) -> Vec<(Range<usize>, f32)> {
        let said: Vec<String> = words(query).map(folded).collect();
        // A name in two words is one all the same: "fire crawl".
        let mut known: HashSet<String> = said.windows(2).map(<[String]>::concat).collect();
        known.extend(said);
        let weight = |server: &Named| {
            let parts = small(server.parts.len());
            let met = server.parts.iter().filter(|part| known.contains(*part)).count();
            let whole = known.contains(&server.parts.concat());
            small(met) / parts.max(1.0).sqrt() + if whole { WHOLE_WEIGHT } else { 0.0 }
        };
        let weighed = self
            .0
            .iter()
            .map(|server| (server.entries.clone(), weight(server)));
        weighed.filter(|(_, weight)| *weight > 0.0).collect()
    }
}

//! How many right tools a ranking finds, and how many queries it leaves unanswered.

use catalog::{Ranking, Search};

use crate::data::Query;

/// Hits that are looked at.
pub const DEPTHS: [usize; 3] = [1, 5, 10];

/// What came of some queries.
#[derive(Debug, Clone, Copy)]
pub struct Score {
    /// The share of queries with a right tool among the first hits, for each depth.
    pub recall: [f64; DEPTHS.len()],
    /// The share that was said to have no answer.
    pub unanswered: f64,
    /// Vendors' versions of one tool among the first five: the mean of hits beyond the first of each name.
    pub repeated: f64,
}

/// Measures a ranking over queries.
pub fn score<'a>(search: &Search, queries: impl Iterator<Item = &'a Query>, ranking: &Ranking) -> Score {
    let mut found = [0usize; DEPTHS.len()];
    let [mut unanswered, mut repeated, mut count] = [0usize; 3];
    for query in queries {
        count += 1;
        let answer = search.find_by(&query.query, |_| true, ranking);
        unanswered += usize::from(answer.hits.is_empty());
        let place = answer.hits.iter().position(|hit| {
            let tool = &hit.entry.tool;
            let right = |name: &String| name.split_once('/') == Some((&tool.server, &tool.tool));
            query.relevant.iter().any(right)
        });
        for (found, depth) in found.iter_mut().zip(DEPTHS) {
            *found += usize::from(place.is_some_and(|place| place < depth));
        }
        let first = answer.hits.iter().take(5);
        let mut names: Vec<String> = first.map(|hit| plain(&hit.entry.tool.tool)).collect();
        let shown = names.len();
        names.sort();
        names.dedup();
        repeated += shown - names.len();
    }
    let share = |part: usize| part as f64 / count.max(1) as f64;
    Score {
        recall: found.map(share),
        unanswered: share(unanswered),
        repeated: share(repeated),
    }
}

/// A tool's name without case and separators, its words in order: `createIssue` and `issue-create` are one.
fn plain(name: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_small = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && is_small;
        is_small = c.is_lowercase();
        match words.last_mut() {
            Some(word) if c.is_alphanumeric() && !begins => word.extend(c.to_lowercase()),
            _ => words.push(c.to_lowercase().filter(|c| c.is_alphanumeric()).collect()),
        }
    }
    words.sort();
    words.concat()
}

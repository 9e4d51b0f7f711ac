//! The share of queries for which a ranking finds a right tool, or leaves unanswered.

use catalog::{Ranking, Search};

use crate::data::Query;

/// Numbers of first hits.
pub const DEPTHS: [usize; 3] = [1, 5, 10];

/// The results of a set of queries.
#[derive(Debug, Clone, Copy)]
pub struct Score {
    /// Share of queries with a right tool among the first hits, per depth.
    pub recall: [f64; DEPTHS.len()],
    /// Share of queries reported as unanswered.
    pub unanswered: f64,
}

/// Measures a ranking over queries.
pub fn score<'a>(search: &Search, queries: impl Iterator<Item = &'a Query>, ranking: &Ranking) -> Score {
    let mut found = [0usize; DEPTHS.len()];
    let [mut unanswered, mut count] = [0usize; 2];
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
    }
    let share = |part: usize| part as f64 / count.max(1) as f64;
    Score {
        recall: found.map(share),
        unanswered: share(unanswered),
    }
}

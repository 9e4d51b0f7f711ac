//! The order among hits: equal tools of further servers step back, so that the first ones are not one tool of five vendors.

use super::embedding::{Vector, dot};

/// Tools whose meanings are as near as this, without their servers' names, do the same.
const SAME: f32 = 0.9;

/// Hits among which equal ones step back: the first page, and what may come up to it.
const SPREAD_AMONG: usize = 60;

/// One hit while its place is being found.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedHit {
    /// The number of its entry.
    pub(super) entry: usize,
    pub(super) score: f32,
}

/// Sorts hits, best first; those of equal score in the order of their entries.
pub(super) fn sort(hits: &mut [PlacedHit]) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
}

/// Lets a tool step back that other servers offer further up, by `share` of its score for each of them.
pub(super) fn spread<'a>(hits: &mut [PlacedHit], share: f32, looks: impl Fn(usize) -> (usize, &'a Vector)) {
    let among = hits.len().min(SPREAD_AMONG);
    let first = &mut hits[..among];
    let looks: Vec<(usize, &Vector)> = first.iter().map(|hit| looks(hit.entry)).collect();
    for (at, hit) in first.iter_mut().enumerate() {
        let (server, meaning) = &looks[at];
        let before = looks[..at].iter();
        let equal = before.filter(|(other, same)| other != server && dot(same, meaning) >= SAME);
        let times = i32::try_from(equal.count()).unwrap_or(i32::MAX);
        hit.score *= (1.0 - share).powi(times);
    }
    sort(first);
}

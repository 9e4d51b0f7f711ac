//! The order of hits.
//!
//! A tool that other servers also offer moves down, so that the first hits are not one tool from five vendors.

use super::embedding::{Vector, dot};

/// Minimum cosine of two tools' meanings, without their servers' names, for the tools to count as the same.
const SAME: f32 = 0.9;

/// Number of first hits that are reordered: the first page, and the hits that may move up to it.
const SPREAD_AMONG: usize = 60;

#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedHit {
    pub(super) entry: usize,
    pub(super) score: f32,
}

/// Best first; ties in the order of the entries.
pub(super) fn sort(hits: &mut [PlacedHit]) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
}

/// Lowers the score of a tool by `share` for each other server whose equivalent tool ranks higher. `looks` returns an
/// entry's server and meaning.
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

//! The features: numbers that measure how well a tool matches a query, and the weight of each.

use super::embedding::dot;
use super::postings::{Posting, small};
use super::query::Query;
use super::{MIN_LIKENESS, Search};

/// Number of a server's best tools whose words also count for its other tools.
const SPOKESMEN: usize = 3;

/// The features' names, in their order.
pub const FEATURES: [&str; 10] = [
    "words",
    "meant words",
    "best word for each",
    "likeness",
    "likeness of the description",
    "nearness of the name to the query",
    "farthest word of the name",
    "the server's best",
    "size of the server",
    "length of the name",
];

/// One tool's features, in the order of [`FEATURES`].
pub type Features = [f32; FEATURES.len()];

/// Weight per feature, from `cargo xtask search-eval --fit`. Features are about 0 to 1, except the last two. Those
/// count against a tool: its server has many tools, or its long name has words that the query lacks.
/// says more than the query.
pub(super) const WEIGHTS: Features = [
    0.982, 6.902, 3.044, 6.201, 2.565, 2.529, 1.310, 2.125, -0.816, -0.134,
];

/// Score of a tool that shares nothing with the query, subtracted so that such a tool scores about 0.
pub(super) const NOTHING: f32 = -0.834;

impl Search {
    /// The features of each visible tool related to the query.
    pub(super) fn signs_of(
        &self,
        query: &Query<'_>,
        is_visible: &impl Fn(usize) -> bool,
    ) -> Vec<Option<Features>> {
        let rarest = self.postings.rarity(1);
        let count = self.entries.len();
        let words = sums(&query.said, count);
        let meant = sums(&query.meant, count);
        let best = self.best(query);
        let nearness = self.titles.nearness(query);
        let likeness: Vec<f32> = self
            .meanings
            .iter()
            .map(|meaning| dot(meaning, &query.meaning))
            .collect();
        let is_match =
            |entry: &usize| words[*entry] + meant[*entry] > 0.0 || likeness[*entry] >= MIN_LIKENESS;
        let matches: Vec<bool> = (0..count)
            .map(|entry| is_match(&entry) && is_visible(entry))
            .collect();
        let servers = self.spokesmen(&words, &matches);
        let signs = |entry: usize| {
            let near = nearness[entry];
            let server = self.servers[entry];
            [
                words[entry] / rarest,
                meant[entry] / rarest,
                best[entry] / rarest,
                likeness[entry],
                dot(&self.said[entry].described, &query.meaning),
                near.query,
                near.farthest,
                servers[server] / rarest,
                self.sizes[server],
                self.titles.length(entry),
            ]
        };
        let entries = matches.iter().enumerate();
        entries
            .map(|(entry, is_match)| is_match.then(|| signs(entry)))
            .collect()
    }

    /// Per entry: the sum over the query's words of the best posting for the word.
    fn best(&self, query: &Query<'_>) -> Vec<f32> {
        let mut sums = vec![0.0f32; self.entries.len()];
        let mut most = vec![0.0f32; self.entries.len()];
        for asked in query.telling() {
            for (held, weight) in &asked.terms {
                for (entry, score) in places(held) {
                    most[entry] = most[entry].max(weight * score);
                }
            }
            for (held, _) in &asked.terms {
                for (entry, _) in places(held) {
                    sums[entry] += std::mem::take(&mut most[entry]);
                }
            }
        }
        sums
    }

    /// Per server: the mean of the tools that match best by their words.
    fn spokesmen(&self, words: &[f32], matches: &[bool]) -> Vec<f32> {
        let mut best: Vec<[f32; SPOKESMEN]> = vec![[0.0; SPOKESMEN]; self.sizes.len()];
        for ((words, server), _) in words
            .iter()
            .zip(&self.servers)
            .zip(matches)
            .filter(|(_, is)| **is)
        {
            let mut next = *words;
            for place in &mut best[*server] {
                if next > *place {
                    std::mem::swap(place, &mut next);
                }
            }
        }
        best.iter()
            .map(|best| best.iter().sum::<f32>() / small(SPOKESMEN))
            .collect()
    }
}

/// Per entry: the sum of the words' weights.
fn sums(terms: &[(&[Posting], f32)], count: usize) -> Vec<f32> {
    let mut sums = vec![0.0f32; count];
    for (held, weight) in terms {
        for (entry, score) in places(held) {
            sums[entry] += weight * score;
        }
    }
    sums
}

/// Entries as indexes.
fn places(held: &[Posting]) -> impl Iterator<Item = (usize, f32)> + '_ {
    held.iter()
        .filter_map(|(entry, score)| Some((usize::try_from(*entry).ok()?, *score)))
}

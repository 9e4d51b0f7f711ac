//! The words of tools' names, and their nearness to a query's words: equal, synonyms, or similar.

use std::collections::HashMap;

use super::embedding::{Sum, Vector, dot};
use super::postings::small;
use super::query::{Query, QueryWord};
use super::words::{folded, is_telling, stem, words};

/// Limit on words read per name.
const MAX_WORDS: usize = 8;

/// The names of all entries, as numbers of words: thousands of names have few different words.
#[derive(Debug, Default)]
pub(super) struct Titles {
    numbers: HashMap<String, usize>,
    /// The words by their stem.
    forms: HashMap<String, Vec<usize>>,
    meanings: Vec<Vector>,
    entries: Vec<Box<[usize]>>,
}

/// Nearness of a query and a name; each value is 0 to 1.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Nearness {
    /// Nearness of the name to the query's words.
    pub(super) query: f32,
    /// Nearness of the query to the farthest word of the name.
    pub(super) farthest: f32,
}

// === impl Titles ===

impl Titles {
    pub(super) fn push(&mut self, name: &str) {
        let mut numbers: Vec<usize> = Vec::new();
        for word in words(name).map(folded).filter(|word| is_telling(word)) {
            let number = self.number(word);
            if numbers.len() < MAX_WORDS && !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        self.entries.push(numbers.into_boxed_slice());
    }

    fn number(&mut self, word: String) -> usize {
        if let Some(number) = self.numbers.get(&word) {
            return *number;
        }
        let number = self.meanings.len();
        self.meanings.push(Sum::of(&word).direction());
        self.forms.entry(stem(word.clone())).or_default().push(number);
        self.numbers.insert(word, number);
        number
    }

    /// Length of the name in words.
    pub(super) fn length(&self, entry: usize) -> f32 {
        small(self.entries[entry].len())
    }

    /// Nearness by index of the entry.
    pub(super) fn nearness(&self, query: &Query<'_>) -> Vec<Nearness> {
        let rows: Vec<(f32, Vec<f32>)> = query
            .telling()
            .map(|asked| (asked.rarity, self.row(asked)))
            .collect();
        let all: f32 = rows.iter().map(|(rarity, _)| rarity).sum();
        let mut best = vec![0.0f32; self.meanings.len()];
        for (_, row) in &rows {
            for (best, near) in best.iter_mut().zip(row) {
                *best = best.max(*near);
            }
        }
        let near = |name: &[usize]| {
            let nearest = |row: &[f32]| name.iter().map(|word| row[*word]).fold(0.0, f32::max);
            let query = rows
                .iter()
                .map(|(rarity, row)| rarity * nearest(row))
                .sum::<f32>();
            let farthest = name.iter().map(|word| best[*word]).reduce(f32::min);
            Nearness {
                query: query / all.max(f32::MIN_POSITIVE),
                farthest: farthest.unwrap_or_default(),
            }
        };
        self.entries.iter().map(|name| near(name)).collect()
    }

    /// Nearness of a query's word to each word of the names.
    fn row(&self, asked: &QueryWord<'_>) -> Vec<f32> {
        let near = self
            .meanings
            .iter()
            .map(|meaning| dot(meaning, &asked.meaning).max(0.0));
        let mut row: Vec<f32> = near.collect();
        let own = std::iter::once((&asked.stem, &1.0));
        for (stem, share) in own.chain(&asked.links) {
            for form in self.forms.get(stem).into_iter().flatten() {
                row[*form] = row[*form].max(*share);
            }
        }
        row
    }
}

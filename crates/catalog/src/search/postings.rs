//! Records which tools contain which words, and each word's weight.
//!
//! Uses BM25F, which reads the fields of a tool as one text with weighted repetitions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::said::{DefinitionText, OWN_FIELDS};

/// BM25's saturation of repeated words.
const K1: f32 = 1.2;

/// A field's weight, and how much its length reduces a word's weight.
#[derive(Debug, Clone, Copy)]
struct FieldWeight {
    weight: f32,
    length_effect: f32,
}

/// The fields of [`DefinitionText`], then the server's name and description.
const FIELDS: [FieldWeight; OWN_FIELDS + 2] = [
    field(3.0, 0.3),
    field(1.5, 0.3),
    field(1.0, 0.75),
    field(0.8, 0.75),
    field(0.4, 0.75),
    field(1.5, 0.0),
    field(0.4, 0.75),
];

const fn field(weight: f32, length_effect: f32) -> FieldWeight {
    FieldWeight {
        weight,
        length_effect,
    }
}

/// Number of an entry, and the word's weight there.
pub(super) type Posting = (u32, f32);

/// Final weights of all words, sorted, so that words with the same beginning are adjacent.
#[derive(Debug, Default)]
pub(super) struct Postings {
    words: BTreeMap<String, Box<[Posting]>>,
    entries: usize,
}

/// The postings visible to a caller. A word that only hidden entries contain counts as absent.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    postings: &'a Postings,
    is_visible: &'a dyn Fn(u32) -> bool,
}

/// The entries' texts while the postings are built.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: HashMap<Box<str>, u32>,
    /// Each entry's words by field, as numbers: thousands of entries have few different words.
    entries: Vec<[Box<[u32]>; FIELDS.len()]>,
}

// === impl Texts ===

impl Texts {
    /// Adds the next entry: its definition, and the words of its server's name and description.
    pub(super) fn push(&mut self, said: &Arc<DefinitionText>, server: &str, about: &str) {
        let [name, title, description, parameters, values] = &said.fields;
        let texts: [&str; FIELDS.len()] = [name, title, description, parameters, values, server, about];
        self.entries
            .push(texts.map(|text| numbers(&mut self.numbers, text)));
    }

    pub(super) fn finish(self) -> Postings {
        let count = small(self.entries.len());
        let average = self.average();
        let mut frequencies: Vec<Vec<Posting>> = vec![Vec::new(); self.numbers.len()];
        for (entry, fields) in (0u32..).zip(&self.entries) {
            for ((field, words), average) in FIELDS.iter().zip(fields).zip(average) {
                let length = small(words.len()) / average.max(f32::MIN_POSITIVE);
                let each = field.weight / (1.0 - field.length_effect + field.length_effect * length);
                for word in words {
                    let number = usize::try_from(*word).ok();
                    let Some(postings) = number.and_then(|number| frequencies.get_mut(number)) else {
                        continue;
                    };
                    match postings.last_mut() {
                        Some((last, frequency)) if *last == entry => *frequency += each,
                        _ => postings.push((entry, each)),
                    }
                }
            }
        }
        let words = self.numbers.into_iter().filter_map(|(word, number)| {
            let postings = frequencies.get_mut(usize::try_from(number).ok()?)?;
            let rarity = rarity(count, small(postings.len()));
            for (_, frequency) in postings.iter_mut() {
                *frequency = rarity * *frequency / (K1 + *frequency);
            }
            Some((String::from(word), std::mem::take(postings).into_boxed_slice()))
        });
        Postings {
            words: words.collect(),
            entries: self.entries.len(),
        }
    }

    fn average(&self) -> [f32; FIELDS.len()] {
        let count = small(self.entries.len());
        let mut average = [0.0f32; FIELDS.len()];
        for fields in &self.entries {
            for (sum, words) in average.iter_mut().zip(fields) {
                *sum += small(words.len()) / count;
            }
        }
        average
    }
}

fn numbers(known: &mut HashMap<Box<str>, u32>, text: &str) -> Box<[u32]> {
    let words = text.split(' ').filter(|word| !word.is_empty());
    let number = words.map(|word| match known.get(word) {
        Some(number) => *number,
        None => {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            known.insert(word.into(), next);
            next
        }
    });
    number.collect()
}

// === impl Postings ===

impl Postings {
    pub(super) fn seen<'a>(&'a self, is_visible: &'a dyn Fn(u32) -> bool) -> Seen<'a> {
        Seen {
            postings: self,
            is_visible,
        }
    }

    fn of(&self, stem: &str) -> Option<&[Posting]> {
        self.words.get(stem).map(|postings| &**postings)
    }

    /// Words with this beginning and their entries, in order.
    fn beginning<'a, 'b>(
        &'a self,
        with: &'b str,
    ) -> impl Iterator<Item = (&'a str, &'a [Posting])> + use<'a, 'b> {
        let range = self
            .words
            .range::<str, _>((std::ops::Bound::Included(with), std::ops::Bound::Unbounded));
        let words = range.take_while(move |(word, _)| word.starts_with(with));
        words.map(|(word, postings)| (word.as_str(), &**postings))
    }

    /// The information value of a word that `holders` entries contain.
    pub(super) fn rarity(&self, holders: usize) -> f32 {
        rarity(small(self.entries), small(holders))
    }
}

// === impl Seen ===

impl<'a> Seen<'a> {
    /// The entries that contain a word, if one of them is visible.
    pub(super) fn of(&self, stem: &str) -> Option<&'a [Posting]> {
        self.postings.of(stem).filter(|held| self.is_held(held))
    }

    /// Postings of `wanted` words of visible entries that begin with this, sorted by word.
    pub(super) fn beginning<'b>(
        &'b self,
        with: &'b str,
        wanted: impl Fn(&str) -> bool + 'b,
    ) -> impl Iterator<Item = &'a [Posting]> + 'b {
        let words = self.postings.beginning(with);
        let wanted = words.filter(move |(word, _)| wanted(word)).map(|(_, held)| held);
        wanted.filter(|held| self.is_held(held))
    }

    /// The information value of a word that `holders` entries contain.
    pub(super) fn rarity(&self, holders: usize) -> f32 {
        self.postings.rarity(holders)
    }

    fn is_held(&self, held: &[Posting]) -> bool {
        held.iter().any(|(entry, _)| (self.is_visible)(*entry))
    }
}

fn rarity(count: f32, holders: f32) -> f32 {
    (1.0 + (count - holders + 0.5).max(0.0) / (holders + 0.5)).ln()
}

/// Converts exactly: counts here are far below the point where `f32` is inexact.
pub(super) fn small(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

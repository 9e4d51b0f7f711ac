//! Ranking of tools for a query: BM25 over weighted fields, with an index that is built once per snapshot.

mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::catalog::Server;
use crate::entry::Entry;
use crate::schema;
use words::{stems, words};

/// Saturation of repeated words, as BM25 calls it.
const K1: f32 = 1.2;

/// Different words of one query that count; more say nothing more.
const MAX_TERMS: usize = 32;

/// Unknown words of one query for which similar ones are looked up.
const MAX_REPAIRS: usize = 4;

/// Similar words that stand in for one unknown word.
const MAX_SIMILAR: usize = 8;

/// What a similar word counts beside an exact one.
const SIMILAR_WEIGHT: f32 = 0.6;

/// Shortest word that may be the beginning of another, or mistyped.
const MIN_REPAIRED: usize = 3;

/// Characters of one field that are indexed.
const MAX_FIELD: usize = 16 * 1024;

/// A hit this much weaker than the best is none.
const MIN_SHARE: f32 = 0.1;

/// A tool that matches a query.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The tool.
    pub entry: &'a Arc<Entry>,
    /// How well it matches; comparable within one search only.
    pub score: f32,
}

/// Where a word stands, how much it counts there, and how much the length of the field takes from it.
#[derive(Debug, Clone, Copy)]
struct Field {
    weight: f32,
    length_effect: f32,
}

const NAME: usize = 0;
const TITLE: usize = 1;
const SERVER: usize = 2;
const DESCRIPTION: usize = 3;
const PARAMETERS: usize = 4;
const VALUES: usize = 5;
const ABOUT_SERVER: usize = 6;

const FIELDS: [Field; 7] = [
    Field {
        weight: 3.0,
        length_effect: 0.3,
    },
    Field {
        weight: 1.5,
        length_effect: 0.3,
    },
    Field {
        weight: 1.5,
        length_effect: 0.0,
    },
    Field {
        weight: 1.0,
        length_effect: 0.75,
    },
    Field {
        weight: 0.8,
        length_effect: 0.75,
    },
    Field {
        weight: 0.4,
        length_effect: 0.75,
    },
    Field {
        weight: 0.4,
        length_effect: 0.75,
    },
];

/// Inverted index: for each word the entries that hold it, with the finished weight.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Arc<Entry>>,
    /// In order, so that words with a common beginning are neighbours.
    postings: BTreeMap<String, Box<[Posting]>>,
}

/// The number of an entry, and what a word weighs there.
type Posting = (u32, f32);

/// The words of one entry by field, each as its number: thousands of entries have few different words.
type Text = [Vec<u32>; FIELDS.len()];

/// Numbers for words, in the order in which they are first met.
#[derive(Debug, Default)]
struct Vocabulary(HashMap<String, u32>);

// === impl Index ===

impl Index {
    pub(crate) fn build(servers: &[Arc<Server>]) -> Self {
        let mut entries = Vec::new();
        let mut texts: Vec<Text> = Vec::new();
        let mut vocabulary = Vocabulary::default();
        for server in servers {
            let about = stems(server.description.as_deref().unwrap_or_default(), MAX_FIELD);
            let name = stems(&server.name, MAX_FIELD);
            for entry in server.entries() {
                entries.push(entry.clone());
                texts.push(fields(entry, &name, &about).map(|words| vocabulary.numbers(words)));
            }
        }
        let postings = postings(&texts, vocabulary);
        Self { entries, postings }
    }

    /// All matches, best first; entries of equal score in catalog order.
    pub(crate) fn search(&self, query: &str) -> Vec<Hit<'_>> {
        let terms = self.terms(query);
        if terms.is_empty() && words(query).next().is_none() {
            return self
                .entries
                .iter()
                .map(|entry| Hit { entry, score: 0.0 })
                .collect();
        }
        let mut scores = vec![0.0f32; self.entries.len()];
        for (postings, weight) in terms {
            for (entry, score) in postings {
                if let Some(sum) = usize::try_from(*entry)
                    .ok()
                    .and_then(|entry| scores.get_mut(entry))
                {
                    *sum += weight * score;
                }
            }
        }
        let best = scores.iter().copied().fold(0.0, f32::max);
        let mut hits: Vec<(usize, f32)> = scores
            .into_iter()
            .enumerate()
            .filter(|(_, score)| *score > 0.0 && *score >= best * MIN_SHARE)
            .collect();
        hits.sort_by(|(a, score_a), (b, score_b)| score_b.total_cmp(score_a).then(a.cmp(b)));
        hits.into_iter()
            .map(|(index, score)| Hit {
                entry: &self.entries[index],
                score,
            })
            .collect()
    }

    /// The query's words with their postings; words that no tool has are replaced by similar ones.
    fn terms(&self, query: &str) -> Vec<(&[Posting], f32)> {
        let mut distinct: Vec<String> = Vec::new();
        for stem in stems(query, MAX_FIELD) {
            if distinct.len() < MAX_TERMS && !distinct.contains(&stem) {
                distinct.push(stem);
            }
        }
        let mut repairs = 0;
        let mut terms = Vec::new();
        for stem in distinct {
            if let Some(postings) = self.postings.get(&stem) {
                terms.push((&**postings, 1.0));
            } else if repairs < MAX_REPAIRS && stem.len() >= MIN_REPAIRED {
                repairs += 1;
                terms.extend(
                    self.similar(&stem)
                        .into_iter()
                        .map(|postings| (postings, SIMILAR_WEIGHT)),
                );
            }
        }
        terms
    }

    /// Postings of words that begin with `stem`, else of those one typing mistake away with the same first letter.
    fn similar(&self, stem: &str) -> Vec<&[Posting]> {
        let from = |beginning: &str| {
            let beginning = beginning.to_owned();
            let range = self.postings.range(beginning.clone()..);
            range.take_while(move |(word, _)| word.starts_with(&beginning))
        };
        let longer: Vec<&[Posting]> = from(stem)
            .take(MAX_SIMILAR)
            .map(|(_, postings)| &**postings)
            .collect();
        if !longer.is_empty() || stem.len() == MIN_REPAIRED {
            return longer;
        }
        let first: String = stem.chars().take(1).collect();
        from(&first)
            .filter(|(word, _)| word.len().abs_diff(stem.len()) <= 1 && strsim::osa_distance(word, stem) <= 1)
            .take(MAX_SIMILAR)
            .map(|(_, postings)| &**postings)
            .collect()
    }
}

/// The words of one entry by field.
fn fields(entry: &Entry, server: &[String], about: &[String]) -> [Vec<String>; FIELDS.len()] {
    let definition = &entry.definition;
    let mut fields: [Vec<String>; FIELDS.len()] = Default::default();
    fields[NAME] = stems(&definition.name, MAX_FIELD);
    fields[TITLE] = stems(definition.title.as_deref().unwrap_or_default(), MAX_FIELD);
    fields[SERVER] = server.to_vec();
    fields[DESCRIPTION] = stems(definition.description.as_deref().unwrap_or_default(), MAX_FIELD);
    fields[ABOUT_SERVER] = about.to_vec();
    let mut left = MAX_FIELD;
    let input = definition.input_schema();
    for parameter in schema::parameters(&input) {
        fields[PARAMETERS].extend(stems(parameter.name, left));
        left = left.saturating_sub(parameter.name.len());
        let Some(object) = schema::follow(&input, parameter.schema).and_then(|s| s.as_object()) else {
            continue;
        };
        for value in schema::array(object, "enum")
            .iter()
            .filter_map(|value| value.as_str())
        {
            fields[VALUES].extend(stems(value, left));
            left = left.saturating_sub(value.len());
        }
    }
    fields
}

/// The finished weights: BM25F, in which the fields of an entry are one text with weighted repetitions.
fn postings(texts: &[Text], vocabulary: Vocabulary) -> BTreeMap<String, Box<[Posting]>> {
    let count = small(texts.len());
    let mut average = [0.0f32; FIELDS.len()];
    for fields in texts {
        for (sum, words) in average.iter_mut().zip(fields) {
            *sum += small(words.len()) / count;
        }
    }
    let mut frequencies: Vec<Vec<Posting>> = vec![Vec::new(); vocabulary.0.len()];
    for (entry, fields) in (0u32..).zip(texts) {
        for ((field, words), average) in FIELDS.iter().zip(fields).zip(average) {
            let length = small(words.len()) / average.max(f32::MIN_POSITIVE);
            let each = field.weight / (1.0 - field.length_effect + field.length_effect * length);
            for word in words {
                let Some(postings) = usize::try_from(*word)
                    .ok()
                    .and_then(|word| frequencies.get_mut(word))
                else {
                    continue;
                };
                match postings.last_mut() {
                    Some((last, frequency)) if *last == entry => *frequency += each,
                    _ => postings.push((entry, each)),
                }
            }
        }
    }
    let finished = vocabulary.0.into_iter().filter_map(|(word, number)| {
        let postings = frequencies.get_mut(usize::try_from(number).ok()?)?;
        let holders = small(postings.len());
        let rarity = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
        for (_, frequency) in postings.iter_mut() {
            *frequency = rarity * *frequency / (K1 + *frequency);
        }
        Some((word, std::mem::take(postings).into_boxed_slice()))
    });
    finished.collect()
}

// === impl Vocabulary ===

impl Vocabulary {
    fn numbers(&mut self, words: Vec<String>) -> Vec<u32> {
        let known = &mut self.0;
        words
            .into_iter()
            .map(|word| {
                let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                *known.entry(word).or_insert(next)
            })
            .collect()
    }
}

/// A count as a number to compute with; counts here stay far below where that would be inexact.
fn small(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests;

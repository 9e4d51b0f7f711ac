//! Ranking of tools for a query: what they say (BM25 over weighted fields), what they mean (a static embedding), and the
//! server that the query names; with an index that is built once per snapshot.

mod embedding;
mod lexicon;
mod named;
mod pieces;
mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::catalog::Server;
use crate::entry::Entry;
use crate::schema;
use crate::text::first_sentence;
use embedding::{Sum, Vector, dot};
use lexicon::Lexicon;
use named::Names;
use words::{stem, stems, words};

/// Saturation of repeated words, as BM25 calls it.
const K1: f32 = 1.2;

/// Words of one query that count; more say nothing more.
const MAX_WORDS: usize = 64;

/// Unknown words of one query for which similar ones are looked up.
const MAX_REPAIRS: usize = 4;

/// Similar words that stand in for one unknown word.
const MAX_SIMILAR: usize = 8;

/// What a similar word counts beside an exact one.
const SIMILAR_WEIGHT: f32 = 0.6;

/// What a word counts that the lexicon gives for one of the query's: less beside a word that tools use themselves.
const MEANT_WEIGHT: f32 = 0.6;
const SAID_WEIGHT: f32 = 1.0;

/// What the lexicon's words count in the meaning of a query beside its own.
const MEANT_LEANING: f32 = 0.5;

/// What a likeness of meaning counts beside the sum of a query's words.
const LIKENESS_WEIGHT: f32 = 20.0;

/// A tool that shares no word with the query is a hit if its meaning is as near as this.
const MIN_LIKENESS: f32 = 0.35;

/// Shortest word that may be the beginning of another, or mistyped.
const MIN_REPAIRED: usize = 3;

/// Characters of one field that are indexed.
const MAX_FIELD: usize = 16 * 1024;

/// A hit this much weaker than the best is none.
const MIN_SHARE: f32 = 0.1;

/// What counts in a search beside the words themselves. Everything does by default; measurements leave some of it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranking {
    /// Likeness of meaning.
    pub meaning: bool,
    /// What people say in place of tools' words.
    pub lexicon: bool,
    /// That the query names a server.
    pub names: bool,
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking {
            meaning: true,
            lexicon: true,
            names: true,
        }
    }
}

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

/// What is known of the entries of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Arc<Entry>>,
    /// For each word the entries that hold it, with the finished weight; in order, so that words with a common beginning
    /// are neighbours.
    postings: BTreeMap<String, Box<[Posting]>>,
    /// What each entry means, in the order of the entries.
    meanings: Vec<Vector>,
    names: Names,
}

/// The number of an entry, and what a word weighs there.
type Posting = (u32, f32);

/// The words of one entry by field, each as its number: thousands of entries have few different words.
type Text = [Vec<u32>; FIELDS.len()];

/// Numbers for words, in the order in which they are first met.
#[derive(Debug, Default)]
struct Vocabulary(HashMap<String, u32>);

/// What a query says and means.
struct Query<'a> {
    /// Words that some tool has, with what each counts.
    terms: Vec<(&'a [Posting], f32)>,
    meaning: Vector,
}

// === impl Index ===

impl Index {
    pub(crate) fn build(servers: &[Arc<Server>]) -> Self {
        let mut index = Index::default();
        let mut texts: Vec<Text> = Vec::new();
        let mut vocabulary = Vocabulary::default();
        for server in servers {
            let about = stems(server.description.as_deref().unwrap_or_default(), MAX_FIELD);
            let name = stems(&server.name, MAX_FIELD);
            let first = index.entries.len();
            for entry in server.entries() {
                index.entries.push(entry.clone());
                index.meanings.push(meaning(&server.name, entry));
                texts.push(fields(entry, &name, &about).map(|words| vocabulary.numbers(words)));
            }
            index.names.insert(&server.name, first..index.entries.len());
        }
        index.postings = postings(&texts, vocabulary);
        index
    }

    /// All matches, best first; entries of equal score in catalog order.
    pub(crate) fn search(&self, query: &str, ranking: Ranking) -> Vec<Hit<'_>> {
        let query = &query[..query.floor_char_boundary(MAX_FIELD)];
        if words(query).next().is_none() {
            return self
                .entries
                .iter()
                .map(|entry| Hit { entry, score: 0.0 })
                .collect();
        }
        let scores = self.scores(query, ranking);
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

    /// How well each entry matches; 0 where it has nothing to do with the query.
    fn scores(&self, text: &str, ranking: Ranking) -> Vec<f32> {
        let query = self.read(text, ranking);
        let mut scores = vec![0.0f32; self.entries.len()];
        for (postings, weight) in query.terms {
            for (entry, score) in postings {
                let entry = usize::try_from(*entry).ok();
                if let Some(sum) = entry.and_then(|entry| scores.get_mut(entry)) {
                    *sum += weight * score;
                }
            }
        }
        if ranking.meaning {
            for (score, meaning) in scores.iter_mut().zip(&self.meanings) {
                let likeness = dot(meaning, &query.meaning);
                if *score > 0.0 || likeness >= MIN_LIKENESS {
                    *score += LIKENESS_WEIGHT * likeness.max(0.0);
                }
            }
        }
        if ranking.names {
            for (entries, weight) in self.names.named_in(text) {
                for score in scores[entries].iter_mut().filter(|score| **score > 0.0) {
                    *score += weight;
                }
            }
        }
        scores
    }

    /// The query's words and what they may mean, with their postings; words that no tool has and that mean nothing known are
    /// replaced by similar ones.
    fn read(&self, text: &str, ranking: Ranking) -> Query<'_> {
        let said: Vec<&str> = words(text).take(MAX_WORDS).collect();
        let mut weights: BTreeMap<String, f32> = BTreeMap::new();
        let mut meant: BTreeSet<&str> = BTreeSet::new();
        let mut is_known = vec![false; said.len()];
        let meanings = if ranking.lexicon {
            Lexicon::get().meanings(&said)
        } else {
            Vec::new()
        };
        for meaning in meanings {
            let is_used =
                meaning.said.len() == 1 && self.postings.contains_key(&of(said[meaning.said.start]));
            let weight = if is_used { MEANT_WEIGHT } else { SAID_WEIGHT };
            let share = weight / small(meaning.words.len()).sqrt();
            for word in meaning.words {
                let most = weights.entry(of(word)).or_default();
                *most = most.max(share);
            }
            meant.extend(meaning.words);
            is_known[meaning.said].fill(true);
        }
        let mut repairs = 0;
        let mut terms = Vec::new();
        for (word, is_known) in said.iter().zip(is_known) {
            let Some(stem) = stems(word, MAX_FIELD).pop() else {
                continue;
            };
            if self.postings.contains_key(&stem) {
                weights.insert(stem, SAID_WEIGHT);
            } else if !is_known && repairs < MAX_REPAIRS && stem.len() >= MIN_REPAIRED {
                repairs += 1;
                let similar = self.similar(&stem).into_iter();
                terms.extend(similar.map(|postings| (postings, SIMILAR_WEIGHT)));
            }
        }
        terms.extend(
            weights
                .iter()
                .filter_map(|(stem, weight)| Some((&**self.postings.get(stem)?, *weight))),
        );
        let meaning = meaning_of(text, &meant.into_iter().collect::<Vec<_>>().join(" "));
        Query { terms, meaning }
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

/// What an entry is about: its name, its title, and the first sentence of its description.
fn meaning(server: &str, entry: &Entry) -> Vector {
    let definition = &entry.definition;
    let title = definition.title.as_deref().unwrap_or_default();
    let description = first_sentence(definition.description.as_deref().unwrap_or_default());
    let text = format!("{server} {} {title} {description}", definition.name);
    Sum::of(&text[..text.floor_char_boundary(MAX_FIELD)]).direction()
}

/// What a query is about, which leans towards the words of tools that it may mean.
fn meaning_of(query: &str, meant: &str) -> Vector {
    let mut sum = Sum::of(query);
    sum.lean(&Sum::of(meant), MEANT_LEANING);
    sum.direction()
}

/// The stem of one word of tools.
fn of(word: &str) -> String {
    stem(word.to_lowercase())
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

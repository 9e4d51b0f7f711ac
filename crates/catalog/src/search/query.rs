//! The words of a query, the words that they may stand for, and the tools that contain them.

use std::collections::{BTreeMap, BTreeSet};

use super::embedding::{Sum, Vector};
use super::lexicon::Lexicon;
use super::postings::{Posting, Seen, small};
use super::said::MAX_FIELD;
use super::words::{is_telling, stem, stems, words};

/// Limit on the words of one query; further words add little.
const MAX_WORDS: usize = 64;

/// Unknown words of one query that are replaced by similar ones.
const MAX_REPAIRS: usize = 4;

/// Replacements for one unknown word.
const MAX_SIMILAR: usize = 8;

/// Shortest word that may be the beginning of another word, or mistyped.
const MIN_REPAIRED: usize = 3;

/// Weight of a similar word; an exact one counts 1.
const SIMILAR_WEIGHT: f32 = 0.6;

/// Weight of a query word that tools use.
const SAID_WEIGHT: f32 = 1.0;

/// Weight of a synonym, if tools also use the query's own word.
const MEANT_WEIGHT: f32 = 0.6;

/// Words of tools, with the certainty that each is meant.
type Links = BTreeMap<String, f32>;

/// Whether query words also match the lexicon's synonyms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordMatching {
    /// Only the words themselves.
    Literal,
    /// Also their synonyms.
    WithMeanings,
}

#[derive(Debug)]
pub(super) struct Query<'a> {
    /// The query's words that some tool has, or similar words, with their weights.
    pub(super) said: Vec<(&'a [Posting], f32)>,
    /// Words of tools that the query may mean but does not contain.
    pub(super) meant: Vec<(&'a [Posting], f32)>,
    /// The query's words without common words and duplicates.
    pub(super) asked: Vec<QueryWord<'a>>,
    pub(super) meaning: Vector,
}

#[derive(Debug)]
pub(super) struct QueryWord<'a> {
    pub(super) stem: String,
    /// The information value of the word.
    pub(super) rarity: f32,
    /// Whether the word is not everyday speech.
    pub(super) telling: bool,
    pub(super) meaning: Vector,
    /// The tools' words that it may stand for.
    pub(super) links: Links,
    /// Postings of the word and of its synonyms, with their certainty.
    pub(super) terms: Vec<(&'a [Posting], f32)>,
}

/// Synonyms of the query's words.
struct Meanings {
    /// Synonyms of all words together.
    all: Links,
    /// Synonyms by position of the word.
    links: Vec<Links>,
}

// === impl Query ===

impl<'a> Query<'a> {
    /// Replaces words that no tool has and that have no known meaning by similar ones.
    pub(super) fn read(text: &str, postings: Seen<'a>, reading: WordMatching) -> Query<'a> {
        let said: Vec<&str> = words(text).take(MAX_WORDS).collect();
        let Meanings { mut all, links } = match reading {
            WordMatching::WithMeanings => Meanings::of(&said, postings),
            WordMatching::Literal => Meanings::of(&[], postings),
        };
        let mut query = Query {
            said: Vec::new(),
            meant: Vec::new(),
            asked: Vec::new(),
            meaning: Sum::of(text).direction(),
        };
        let mut repairs = 0;
        let mut links = links.into_iter();
        for word in said {
            let links = links.next().unwrap_or_default();
            let Some(stem) = stems(word, MAX_FIELD).pop() else {
                continue;
            };
            all.remove(&stem);
            if query.asked.iter().any(|asked| asked.stem == stem) {
                continue;
            }
            let mut terms: Vec<(&[Posting], f32)> = Vec::new();
            if let Some(held) = postings.of(&stem) {
                terms.push((held, SAID_WEIGHT));
            } else if links.is_empty() && repairs < MAX_REPAIRS && word.len() >= MIN_REPAIRED {
                repairs += 1;
                let similar = similar(postings, word, &stem).into_iter();
                terms.extend(similar.map(|held| (held, SIMILAR_WEIGHT)));
            }
            query.said.extend(&terms);
            query
                .asked
                .push(QueryWord::new(word, stem, terms, links, postings));
        }
        let held = |(stem, weight): (&String, &f32)| Some((postings.of(stem)?, *weight));
        query.meant.extend(all.iter().filter_map(held));
        if query.asked.iter().all(|asked| !asked.telling) {
            query.asked.iter_mut().for_each(|asked| asked.telling = true);
        }
        query
    }

    /// Whether an entry contains every word of the query or a synonym of it.
    pub(super) fn is_held_by(&self, entry: usize) -> bool {
        let number = u32::try_from(entry).unwrap_or(u32::MAX);
        let holds = |held: &[Posting]| held.binary_search_by_key(&number, |(entry, _)| *entry).is_ok();
        let mut asked = self.telling();
        asked.all(|asked| asked.terms.iter().any(|(held, _)| holds(held)))
    }

    /// The words that are not everyday speech; all words if every word is.
    pub(super) fn telling(&self) -> impl Iterator<Item = &QueryWord<'a>> {
        self.asked.iter().filter(|asked| asked.telling)
    }
}

/// Postings of words that begin with this word's stem. If none exist and the word is long enough: of words with the
/// same first letter and one typing mistake.
fn similar<'a>(postings: Seen<'a>, word: &str, stem: &str) -> Vec<&'a [Posting]> {
    let longer: Vec<&[Posting]> = postings.beginning(stem, |_| true).take(MAX_SIMILAR).collect();
    if !longer.is_empty() || word.len() <= MIN_REPAIRED {
        return longer;
    }
    let first: String = stem.chars().take(1).collect();
    let near = |word: &str| word.len().abs_diff(stem.len()) <= 1 && strsim::osa_distance(word, stem) <= 1;
    postings.beginning(&first, near).take(MAX_SIMILAR).collect()
}

// === impl Meanings ===

impl Meanings {
    /// Weights each synonym by the number of synonyms: more synonyms weigh less each. A word of everyday speech has
    /// synonyms only in phrases.
    fn of(said: &[&str], postings: Seen<'_>) -> Meanings {
        let mut meant = Meanings {
            all: Links::new(),
            links: vec![Links::new(); said.len()],
        };
        for meaning in Lexicon::get().meanings(said) {
            let is_word = meaning.said.len() == 1;
            let word = said[meaning.said.start];
            if is_word && !is_telling(word) {
                continue;
            }
            let is_used = is_word && postings.of(&stem(word.to_lowercase())).is_some();
            let weight = if is_used { MEANT_WEIGHT } else { SAID_WEIGHT };
            let share = weight / small(meaning.words.len()).sqrt();
            let stems: BTreeSet<String> = meaning
                .words
                .iter()
                .map(|word| stem(word.to_lowercase()))
                .collect();
            for stem in stems {
                for links in &mut meant.links[meaning.said.clone()] {
                    raise(links, stem.clone(), share);
                }
                raise(&mut meant.all, stem, share);
            }
        }
        meant
    }
}

fn raise(links: &mut Links, stem: String, weight: f32) {
    let most = links.entry(stem).or_default();
    *most = most.max(weight);
}

// === impl QueryWord ===

impl<'a> QueryWord<'a> {
    /// An unknown word has the information value of the rarest word. A word with synonyms has the value of the most
    /// common synonym.
    fn new(
        word: &str,
        stem: String,
        mut terms: Vec<(&'a [Posting], f32)>,
        links: Links,
        postings: Seen<'a>,
    ) -> Self {
        let held = |(stem, share): (&String, &f32)| Some((postings.of(stem)?, *share));
        terms.extend(links.iter().filter_map(held));
        let holders = terms.iter().map(|(held, _)| held.len()).max();
        Self {
            rarity: postings.rarity(holders.unwrap_or(1)),
            telling: is_telling(word),
            meaning: Sum::of(word).direction(),
            stem,
            links,
            terms,
        }
    }
}

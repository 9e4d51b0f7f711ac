//! What a query says and means: its words, those that they may stand for, and where the tools hold them.

use std::collections::{BTreeMap, BTreeSet};

use super::Ranking;
use super::embedding::{Sum, Vector};
use super::lexicon::Lexicon;
use super::postings::{Posting, Seen, small};
use super::said::MAX_FIELD;
use super::words::{stem, stems, words};

/// Words of one query that count; more say nothing more.
const MAX_WORDS: usize = 64;

/// Unknown words of one query for which similar ones are looked up.
const MAX_REPAIRS: usize = 4;

/// Similar words that stand in for one unknown word.
const MAX_SIMILAR: usize = 8;

/// Shortest word that may be the beginning of another, or mistyped.
const MIN_REPAIRED: usize = 3;

/// What a similar word counts beside an exact one.
const SIMILAR_WEIGHT: f32 = 0.6;

/// What a word counts that tools use themselves.
const SAID_WEIGHT: f32 = 1.0;

/// A query that was read.
#[derive(Debug)]
pub(super) struct Query<'a> {
    /// Words that some tool has, with what each counts.
    pub(super) terms: Vec<(&'a [Posting], f32)>,
    /// The query's own words, without common ones.
    pub(super) asked: Vec<Asked<'a>>,
    pub(super) meaning: Vector,
}

/// One word of a query.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    /// How much it says.
    pub(super) rarity: f32,
    /// Whether tools have it themselves, perhaps spelt otherwise.
    pub(super) known: bool,
    /// The tools' words that it is or may stand for, with how surely.
    terms: Vec<(&'a [Posting], f32)>,
}

// === impl Query ===

impl<'a> Query<'a> {
    /// Words that no tool has and that mean nothing known are replaced by similar ones.
    pub(super) fn read(text: &str, postings: Seen<'a>, ranking: &Ranking) -> Query<'a> {
        let said: Vec<&str> = words(text).take(MAX_WORDS).collect();
        let mut weights: BTreeMap<String, f32> = BTreeMap::new();
        let mut meant: BTreeSet<&str> = BTreeSet::new();
        let mut links: Vec<BTreeMap<String, f32>> = vec![BTreeMap::new(); said.len()];
        let meanings = match ranking.meant > 0.0 {
            true => Lexicon::get().meanings(&said),
            false => Vec::new(),
        };
        for meaning in meanings {
            let is_used = meaning.said.len() == 1 && postings.of(&of(said[meaning.said.start])).is_some();
            let weight = if is_used { ranking.meant } else { SAID_WEIGHT };
            let share = weight / small(meaning.words.len()).sqrt();
            for word in meaning.words {
                let stem = of(word);
                for link in &mut links[meaning.said.clone()] {
                    raise(link, stem.clone(), share);
                }
                raise(&mut weights, stem, share);
            }
            meant.extend(meaning.words);
        }
        let mut repairs = 0;
        let mut terms = Vec::new();
        let mut asked = Vec::new();
        for (word, link) in said.iter().zip(links) {
            let Some(stem) = stems(word, MAX_FIELD).pop() else {
                continue;
            };
            let mut own: Vec<(&[Posting], f32)> = Vec::new();
            if let Some(held) = postings.of(&stem) {
                own.push((held, SAID_WEIGHT));
                weights.insert(stem, SAID_WEIGHT);
            } else if link.is_empty() && repairs < MAX_REPAIRS && word.len() >= MIN_REPAIRED {
                repairs += 1;
                let similar = similar(postings, &stem, word.len() > MIN_REPAIRED).into_iter();
                own.extend(similar.map(|held| (held, SIMILAR_WEIGHT)));
                terms.extend(&own);
            }
            let known = !own.is_empty();
            own.extend(
                link.iter()
                    .filter_map(|(stem, share)| Some((postings.of(stem)?, *share))),
            );
            asked.push(Asked::new(known, own, postings));
        }
        let held = |(stem, weight): (&String, &f32)| Some((postings.of(stem)?, *weight));
        terms.extend(weights.iter().filter_map(held));
        let meant = meant.into_iter().collect::<Vec<_>>().join(" ");
        let mut meaning = Sum::of(text);
        meaning.lean(&Sum::of(&meant), ranking.leaning);
        Query {
            terms,
            asked,
            meaning: meaning.direction(),
        }
    }
}

fn raise(weights: &mut BTreeMap<String, f32>, stem: String, weight: f32) {
    let most = weights.entry(stem).or_default();
    *most = most.max(weight);
}

/// The stem of one word of tools.
fn of(word: &str) -> String {
    stem(word.to_lowercase())
}

/// Where words stand that begin with `stem`, else, of a word long enough, those one typing mistake away with the same
/// first letter.
fn similar<'a>(postings: Seen<'a>, stem: &str, is_long: bool) -> Vec<&'a [Posting]> {
    let longer: Vec<&[Posting]> = postings.beginning(stem, |_| true).take(MAX_SIMILAR).collect();
    if !longer.is_empty() || !is_long {
        return longer;
    }
    let first: String = stem.chars().take(1).collect();
    let near = |word: &str| word.len().abs_diff(stem.len()) <= 1 && strsim::osa_distance(word, stem) <= 1;
    postings.beginning(&first, near).take(MAX_SIMILAR).collect()
}

// === impl Asked ===

impl<'a> Asked<'a> {
    /// An unknown word says as much as the rarest; one that stands for others as much as the most common of them.
    fn new(known: bool, terms: Vec<(&'a [Posting], f32)>, postings: Seen<'_>) -> Self {
        let holders = terms.iter().map(|(held, _)| held.len()).max();
        Self {
            rarity: postings.rarity(holders.unwrap_or(1)),
            terms,
            known,
        }
    }

    /// How surely an entry has this word, from 0 to 1.
    pub(super) fn held_by(&self, entry: u32) -> f32 {
        let holds = |held: &[Posting]| held.binary_search_by_key(&entry, |(entry, _)| *entry).is_ok();
        let sure = self.terms.iter().filter(|(held, _)| holds(held));
        sure.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }
}

//! Ranking of tools for a query: what they say (BM25 over weighted fields), what they mean (a static embedding), and the
//! server that the query names; with an index that is built once per snapshot.

mod embedding;
mod lexicon;
mod named;
mod order;
mod pieces;
mod postings;
mod query;
mod said;
mod words;

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::entry::Entry;
use embedding::{Sum, Vector, dot};
use lexicon::Lexicon;
use named::Names;
use order::Placed;
use postings::{Postings, Texts};
use query::Query;
use said::{Known, MAX_FIELD, Said};
use words::stems;
pub use words::{stem, words};

/// A hit this much weaker than the best is none.
const MIN_SHARE: f32 = 0.1;

/// A tool that shares no word with the query is a hit if its meaning is as near as this.
const MIN_LIKENESS: f32 = 0.35;

/// What counts, beside a likeness of 1, that tools have words for all that is asked, and that a tool has one of the rarest.
const KNOWN_SPEAKS: f32 = 0.5;
const HELD_SPEAKS: f32 = 0.4;

/// What the rarest word weighs among some two thousand tools: there chance likeness is as high as the floor expects.
const MANY: f32 = 7.2;

/// The part of the floor that holds among the fewest tools, which know few words and are seldom like anything by chance.
const LOWEST_FLOOR: f32 = 0.6;

/// How steeply the floor rises with the rarity of the rarest word: the tools of one server or a few answer in few words.
const STEEPNESS: i32 = 5;

/// Tools that are named where nothing answers the query.
const NEAREST: usize = 3;

/// What counts in a search beside the words themselves. Measurements change it or leave some of it out; 0 leaves out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// What a word counts that people say in place of the tools' own.
    pub meant: f32,
    /// What such words count in the meaning of a query beside its own.
    pub leaning: f32,
    /// What a likeness of meaning counts beside the rarest word.
    pub likeness: f32,
    /// What it counts that the query names a server, beside the rarest word.
    pub names: f32,
    /// The share of its score that a tool loses for each other server that offers the same further up.
    pub spread: f32,
    /// How much must speak for a hit for the query to count as answered.
    pub floor: f32,
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking {
            meant: 0.6,
            leaning: 0.5,
            likeness: 2.77,
            names: 0.14,
            spread: 0.2,
            floor: 0.9,
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

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct Found<'a> {
    /// Every tool that the query matches, best first.
    pub hits: Vec<Hit<'a>>,
    /// Where nothing answers the query, and there are no hits therefore, the tools that come nearest.
    pub nearest: Vec<Hit<'a>>,
}

/// The tools of one snapshot, ready to be searched.
#[derive(Debug, Default)]
pub struct Search {
    catalog: Arc<Catalog>,
    entries: Vec<Arc<Entry>>,
    postings: Postings,
    /// What the definition of each entry says, in the order of the entries.
    said: Vec<Arc<Said>>,
    /// What each entry means together with its server's name.
    meanings: Vec<Vector>,
    /// The number of each entry's server.
    servers: Vec<usize>,
    names: Names,
    known: Known,
}

/// The words of tools that a word may stand for, in English and in the languages that the lexicon has.
pub fn meant(word: &str) -> Vec<&'static str> {
    let meanings = Lexicon::get().meanings(&[word]).into_iter();
    meanings
        .flat_map(|meaning| meaning.words.iter().copied())
        .collect()
}

// === impl Search ===

impl Search {
    /// Reads all tools of a catalog: a tenth of a second's work for thousands.
    pub fn build(catalog: Arc<Catalog>) -> Search {
        Search::default().update(catalog)
    }

    /// Reads the next catalog; of definitions that were read before only what depends on the others is computed anew.
    pub fn update(&self, catalog: Arc<Catalog>) -> Search {
        let mut search = Search {
            known: self.known.next(),
            ..Search::default()
        };
        let mut texts = Texts::default();
        for (number, server) in catalog.servers().enumerate() {
            let about = stems(server.description.as_deref().unwrap_or_default(), MAX_FIELD).join(" ");
            let name = stems(&server.name, MAX_FIELD).join(" ");
            let meaning = Sum::of(&server.name);
            let first = search.entries.len();
            for entry in server.entries() {
                let said = search.known.said(entry);
                search.entries.push(entry.clone());
                search.meanings.push(said.meaning.plus(&meaning).direction());
                search.servers.push(number);
                texts.push(&said, &name, &about);
                search.said.push(said);
            }
            search.names.insert(&server.name, first..search.entries.len());
        }
        search.known.settle();
        search.postings = texts.finish();
        search.catalog = catalog;
        search
    }

    /// The catalog that was read.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// What answers the query among the tools that `visible` lets through, best first; an empty query lists them all.
    pub fn find(&self, query: &str, visible: impl Fn(&Entry) -> bool) -> Found<'_> {
        self.find_by(query, visible, &Ranking::default())
    }

    /// The same where other things count.
    pub fn find_by(&self, query: &str, visible: impl Fn(&Entry) -> bool, ranking: &Ranking) -> Found<'_> {
        let query = &query[..query.floor_char_boundary(MAX_FIELD)];
        if query.trim().is_empty() {
            let all = self.entries.iter().filter(|entry| visible(entry));
            return Found {
                hits: all.map(|entry| Hit { entry, score: 0.0 }).collect(),
                nearest: Vec::new(),
            };
        }
        // A word stands in many entries: each is asked for once.
        let asked: Vec<OnceCell<bool>> = vec![OnceCell::new(); self.entries.len()];
        let is_visible = |entry: usize| {
            let asked = asked.get(entry);
            asked.is_some_and(|asked| *asked.get_or_init(|| visible(&self.entries[entry])))
        };
        let is_seen = |entry: u32| usize::try_from(entry).is_ok_and(is_visible);
        let read = Query::read(query, self.postings.seen(&is_seen), ranking);
        let mut hits = self.placed(query, &read, &is_visible, ranking);
        let best = hits.first();
        let is_answered =
            best.is_some_and(|best| self.evidence(&read, best.entry) >= ranking.floor * self.floor());
        if hits.is_empty() && !read.asked.is_empty() {
            hits = self.likeliest(&read, &is_visible, ranking);
        }
        let hit = |placed: &Placed| Hit {
            entry: &self.entries[placed.entry],
            score: placed.score,
        };
        match is_answered {
            true => Found {
                hits: hits.iter().map(hit).collect(),
                nearest: Vec::new(),
            },
            false => Found {
                hits: Vec::new(),
                nearest: hits.iter().take(NEAREST).map(hit).collect(),
            },
        }
    }

    /// Every visible match in its place.
    fn placed(
        &self,
        text: &str,
        query: &Query<'_>,
        is_visible: &impl Fn(usize) -> bool,
        ranking: &Ranking,
    ) -> Vec<Placed> {
        let mut named = self.names.named_in(text);
        named.retain(|(entries, _)| entries.clone().any(is_visible));
        let scores = self.scores(query, &named, ranking);
        let matches = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0);
        let mut hits: Vec<Placed> = matches
            .filter(|(entry, _)| is_visible(*entry))
            .map(|(entry, score)| Placed { entry, score })
            .collect();
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        hits.retain(|hit| hit.score >= best * MIN_SHARE);
        order::sort(&mut hits);
        if ranking.spread > 0.0 && named.is_empty() {
            order::spread(&mut hits, ranking.spread, |entry| {
                (self.servers[entry], &self.said[entry].direction)
            });
        }
        hits
    }

    /// The visible entries that are most like a query that nothing matches.
    fn likeliest(
        &self,
        query: &Query<'_>,
        is_visible: &impl Fn(usize) -> bool,
        ranking: &Ranking,
    ) -> Vec<Placed> {
        let weight = ranking.likeness * self.postings.rarity(1);
        let likeness = self.meanings.iter().map(|meaning| dot(meaning, &query.meaning));
        let mut near: Vec<Placed> = likeness
            .enumerate()
            .filter(|(entry, likeness)| *likeness > 0.0 && is_visible(*entry))
            .map(|(entry, likeness)| Placed {
                entry,
                score: weight * likeness,
            })
            .collect();
        order::sort(&mut near);
        near.truncate(NEAREST);
        near
    }

    /// How well each entry matches; 0 where it has nothing to do with the query.
    fn scores(&self, query: &Query<'_>, named: &[(Range<usize>, f32)], ranking: &Ranking) -> Vec<f32> {
        let mut scores = vec![0.0f32; self.entries.len()];
        for (postings, weight) in &query.terms {
            for (entry, score) in *postings {
                let entry = usize::try_from(*entry).ok();
                if let Some(sum) = entry.and_then(|entry| scores.get_mut(entry)) {
                    *sum += weight * score;
                }
            }
        }
        let rarest = self.postings.rarity(1);
        for (score, meaning) in scores.iter_mut().zip(&self.meanings) {
            let likeness = dot(meaning, &query.meaning);
            if *score > 0.0 || (ranking.likeness > 0.0 && likeness >= MIN_LIKENESS) {
                *score += ranking.likeness * rarest * likeness.max(0.0);
            }
        }
        for (entries, weight) in named {
            for score in scores[entries.clone()].iter_mut().filter(|score| **score > 0.0) {
                *score += ranking.names * rarest * weight;
            }
        }
        scores
    }

    /// The part of the floor that holds among so many tools.
    fn floor(&self) -> f32 {
        let many = (self.postings.rarity(1) / MANY).min(1.0);
        LOWEST_FLOOR + (1.0 - LOWEST_FLOOR) * many.powi(STEEPNESS)
    }

    /// How much speaks for it that the entry answers the query: the share of the query that tools have words for, how much
    /// of it this one has, and how near their meanings are.
    fn evidence(&self, query: &Query<'_>, entry: usize) -> f32 {
        let number = u32::try_from(entry).unwrap_or(u32::MAX);
        let asked = query.asked.iter();
        let [mut all, mut known, mut held] = [f32::MIN_POSITIVE, 0.0, 0.0];
        for word in asked {
            all += word.rarity;
            known += if word.known { word.rarity } else { 0.0 };
            held += word.rarity * word.held_by(number);
        }
        let likeness = dot(&self.meanings[entry], &query.meaning);
        KNOWN_SPEAKS * known / all + HELD_SPEAKS * held / self.postings.rarity(1) + likeness
    }
}

#[cfg(test)]
mod tests;

//! Ranks tools for a query by a weighted sum of features, such as shared words, synonyms, similarity of meaning, and
//! the server.
//!
//! The index is built once per snapshot.

mod embedding;
mod features;
mod lexicon;
mod order;
mod pieces;
mod postings;
mod query;
mod said;
mod titles;
mod words;

use std::cell::OnceCell;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::entry::Entry;
use embedding::{Sum, Vector, dot};
pub use features::{FEATURES, Features};
use features::{NOTHING, WEIGHTS};
use lexicon::Lexicon;
use order::PlacedHit;
use postings::{Postings, Texts, small};
use query::Query;
pub use query::WordMatching;
use said::{DefinitionText, Known, MAX_FIELD};
use titles::Titles;
use words::stems;
pub use words::{stem, words};

/// Minimum score relative to the best hit; weaker tools are not hits.
const MIN_SHARE: f32 = 0.1;

/// Minimum similarity of meaning for a hit without a shared word.
const MIN_LIKENESS: f32 = 0.35;

/// Rarity of the rarest word among about two thousand tools. Above it, chance similarity is as high as the floor
/// expects.
const MANY: f32 = 7.2;

/// Lowest share of the floor, for very few tools. Few tools have few words, so chance similarity is rare.
const LOWEST_FLOOR: f32 = 0.4;

/// Exponent by which the floor rises with the rarity of the rarest word. A high exponent keeps the
/// floor low for the tools of one server or a few.
const STEEPNESS: i32 = 6;

/// Tools listed if no tool matches the query.
const NEAREST: usize = 3;

/// The parameters of a search, for measurements; 0 switches a part off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// Weight of each feature.
    pub weights: Features,
    /// Score of a tool that shares nothing with the query; it is subtracted.
    pub nothing: f32,
    /// How the words of the query are matched.
    pub reading: WordMatching,
    /// Share of its score that a tool loses for each other server whose equivalent tool ranks higher.
    pub spread: f32,
    /// Minimum score of the best hit; below it, the query counts as unanswered.
    pub floor: f32,
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking {
            weights: WEIGHTS,
            nothing: NOTHING,
            reading: WordMatching::WithMeanings,
            spread: 0.2,
            floor: 4.5,
        }
    }
}

/// One tool that matches a query.
#[derive(Debug, Clone, Copy)]
pub struct Hit<'a> {
    /// The matching tool.
    pub entry: &'a Arc<Entry>,
    /// Score, comparable within one search only.
    pub score: f32,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct SearchHits<'a> {
    /// Best first.
    pub hits: Vec<Hit<'a>>,
    /// The nearest tools if no tool matches the query; `hits` is then empty.
    pub nearest: Vec<Hit<'a>>,
}

/// The search index of the tools of one snapshot.
#[derive(Debug, Default)]
pub struct Search {
    catalog: Arc<Catalog>,
    entries: Vec<Arc<Entry>>,
    postings: Postings,
    /// Texts, by index of the entry.
    said: Vec<Arc<DefinitionText>>,
    /// The meaning of each entry together with its server's name.
    meanings: Vec<Vector>,
    /// The number of each entry's server.
    servers: Vec<usize>,
    /// Logarithm of each server's number of tools.
    sizes: Vec<f32>,
    titles: Titles,
    known: Known,
}

/// The tools' words that a word may stand for, in English and the lexicon's languages.
pub fn synonyms(word: &str) -> Vec<&'static str> {
    let meanings = Lexicon::get().meanings(&[word]).into_iter();
    meanings
        .flat_map(|meaning| meaning.words.iter().copied())
        .collect()
}

// === impl Search ===

impl Search {
    /// Reads all tools of a catalog; thousands of tools take a tenth of a second.
    pub fn build(catalog: Arc<Catalog>) -> Search {
        Search::default().update(catalog)
    }

    /// Reads the next catalog. For known definitions, recomputes only the parts that depend on other definitions.
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
                search.titles.push(&entry.tool.tool);
            }
            let size = search.entries.len() - first;
            search.sizes.push(small(size.max(1)).ln());
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

    /// The `visible` tools that answer the query, best first; an empty query lists all.
    pub fn find(&self, query: &str, visible: impl Fn(&Entry) -> bool) -> SearchHits<'_> {
        self.find_by(query, visible, &Ranking::default())
    }

    /// [`Search::find`] with another ranking.
    pub fn find_by(
        &self,
        query: &str,
        visible: impl Fn(&Entry) -> bool,
        ranking: &Ranking,
    ) -> SearchHits<'_> {
        let query = &query[..query.floor_char_boundary(MAX_FIELD)];
        if query.trim().is_empty() {
            let all = self.entries.iter().filter(|entry| visible(entry));
            return SearchHits {
                hits: all.map(|entry| Hit { entry, score: 0.0 }).collect(),
                nearest: Vec::new(),
            };
        }
        let of_server = self.tools_of_named_server(query, &visible);
        if !of_server.is_empty() {
            return SearchHits {
                hits: of_server,
                nearest: Vec::new(),
            };
        }
        // A word is in many entries, so check the visibility of each entry once.
        let asked: Vec<OnceCell<bool>> = vec![OnceCell::new(); self.entries.len()];
        let is_visible = |entry: usize| {
            let asked = asked.get(entry);
            asked.is_some_and(|asked| *asked.get_or_init(|| visible(&self.entries[entry])))
        };
        let is_seen = |entry: u32| usize::try_from(entry).is_ok_and(is_visible);
        let read = Query::read(query, self.postings.seen(&is_seen), ranking.reading);
        let mut hits = self.placed(&read, &is_visible, ranking);
        let is_answered = hits
            .first()
            .is_some_and(|best| best.score >= ranking.floor * self.floor() || read.is_held_by(best.entry));
        if !is_answered && hits.len() < NEAREST && !read.asked.is_empty() {
            hits = self.likeliest(&read, &is_visible);
        }
        let hit = |placed: &PlacedHit| Hit {
            entry: &self.entries[placed.entry],
            score: placed.score,
        };
        match is_answered {
            true => SearchHits {
                hits: hits.iter().map(hit).collect(),
                nearest: Vec::new(),
            },
            false => SearchHits {
                hits: Vec::new(),
                nearest: hits.iter().take(NEAREST).map(hit).collect(),
            },
        }
    }

    /// The visible tools of one server, for a query that names only the server, such as `git tools`.
    fn tools_of_named_server(&self, query: &str, visible: &impl Fn(&Entry) -> bool) -> Vec<Hit<'_>> {
        const FILLING: [&str; 9] = [
            "all", "list", "mcp", "of", "server", "show", "the", "tool", "tools",
        ];
        let query = query.to_lowercase();
        let words = query.split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty());
        let (filling, name): (Vec<&str>, Vec<&str>) = words.partition(|word| FILLING.contains(word));
        // A bare server name may also be an ordinary word of the query.
        if filling.is_empty() {
            return Vec::new();
        }
        let name = name.join("_");
        let mut servers = self.catalog.servers();
        let server = servers.find(|server| server.alias.eq_ignore_ascii_case(&name));
        let tools = server.into_iter().flat_map(|server| server.entries());
        let tools = tools.filter(|entry| visible(entry));
        tools.map(|entry| Hit { entry, score: 1.0 }).collect()
    }

    /// The features of each tool related to the query, by index of the entry.
    pub fn features(&self, query: &str) -> Vec<Option<Features>> {
        let query = &query[..query.floor_char_boundary(MAX_FIELD)];
        let read = Query::read(query, self.postings.seen(&|_| true), WordMatching::WithMeanings);
        self.signs_of(&read, &|_| true)
    }

    /// Every visible match, in order.
    fn placed(
        &self,
        query: &Query<'_>,
        is_visible: &impl Fn(usize) -> bool,
        ranking: &Ranking,
    ) -> Vec<PlacedHit> {
        let signs = self.signs_of(query, is_visible).into_iter().enumerate();
        let score = |signs: Features| {
            let weighed = signs
                .iter()
                .zip(&ranking.weights)
                .map(|(sign, weight)| sign * weight);
            weighed.sum::<f32>() - ranking.nothing
        };
        let scores = signs.filter_map(|(entry, signs)| Some((entry, score(signs?))));
        let mut hits: Vec<PlacedHit> = scores
            .filter(|(_, score)| *score > 0.0)
            .map(|(entry, score)| PlacedHit { entry, score })
            .collect();
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        hits.retain(|hit| hit.score >= best * MIN_SHARE);
        order::sort(&mut hits);
        if ranking.spread > 0.0 {
            order::spread(&mut hits, ranking.spread, |entry| {
                (self.servers[entry], &self.said[entry].direction)
            });
        }
        hits
    }

    /// The visible entries most similar to a query without a match.
    fn likeliest(&self, query: &Query<'_>, is_visible: &impl Fn(usize) -> bool) -> Vec<PlacedHit> {
        let likeness = self.meanings.iter().map(|meaning| dot(meaning, &query.meaning));
        let mut near: Vec<PlacedHit> = likeness
            .enumerate()
            .filter(|(entry, likeness)| *likeness > 0.0 && is_visible(*entry))
            .map(|(entry, score)| PlacedHit { entry, score })
            .collect();
        order::sort(&mut near);
        near.truncate(NEAREST);
        near
    }

    /// Share of the floor among this many tools.
    fn floor(&self) -> f32 {
        let many = (self.postings.rarity(1) / MANY).min(1.0);
        LOWEST_FLOOR + (1.0 - LOWEST_FLOOR) * many.powi(STEEPNESS)
    }
}

#[cfg(test)]
mod tests;

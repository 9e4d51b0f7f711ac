//! Step 3: a clause's tool, ranked by the catalog's search and chosen by what the tool does and its
//! parameters take.

use std::sync::Arc;

use catalog::{Entry, Search};

use crate::clauses::Clause;
use crate::fill::{EarlierStep, Filled, fill};
use crate::verbs::{self, stem};
use crate::vocabulary::REFERRING;
use crate::words::{Word, WordKind};

/// Default share of the score for a tool's own name from which the tool is selected.
pub const DEFAULT_THRESHOLD: f32 = 0.35;

/// Tools selected for one step.
const MAX_TOOLS: usize = 5;
/// Least score of a selected tool, as a share of the best.
const SHARE_OF_BEST: f32 = 0.3;
/// Tools named where none is selected.
const MAX_NEAREST: usize = 3;

/// Added to the rank, 0 to 1: all values are used.
const USES_ALL: f32 = 0.35;
/// The clause has all words of the tool's name.
const NAMED: f32 = 0.15;
/// A value hardly fits another tool.
const TELLING: f32 = 0.2;
/// Subtracted for each missing required argument, at most twice.
const LACKS_ONE: f32 = 0.12;
/// A smaller difference between two tools does not count.
const AS_GOOD: f32 = 0.04;

/// Tools that a search found for a clause.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Best first, with the score as a share of the best.
    pub(crate) tools: Vec<(Arc<Entry>, f32)>,
    pub(crate) nearest: Vec<(Arc<Entry>, f32)>,
}

/// A tool that does what a clause says, with its arguments.
pub(crate) struct Selected {
    pub(crate) entry: Arc<Entry>,
    pub(crate) filled: Filled,
    score: f32,
}

/// Searches the visible tools.
pub(crate) fn candidates(
    search: &Search,
    query: &str,
    visible: &dyn Fn(&Entry) -> bool,
    threshold: f32,
) -> Candidates {
    let mut candidates = Candidates::default();
    if query.is_empty() {
        return candidates;
    }
    let found = search.find(query, visible);
    let best = found.hits.first().map_or(0.0, |hit| hit.score);
    for hit in found.hits.iter().take(MAX_TOOLS) {
        let share = hit.score / best.max(f32::MIN_POSITIVE);
        if share >= SHARE_OF_BEST && hit.score >= threshold * own_score(search, hit.entry) {
            candidates.tools.push((hit.entry.clone(), share));
        }
    }
    let nearest = found.hits.iter().chain(&found.nearest).take(MAX_NEAREST);
    candidates.nearest = nearest.map(|hit| (hit.entry.clone(), 0.0)).collect();
    candidates
}

/// A tool's score for its own name: the most that a clause can score.
fn own_score(search: &Search, entry: &Entry) -> f32 {
    let name = format!("{} {}", entry.tool.server, entry.tool.tool);
    let found = search.find(&name, |other| other.tool == entry.tool);
    found.hits.first().map_or(0.0, |hit| hit.score)
}

/// The search query: plain words, words that `is_server` knows, and the kinds of other values.
pub(crate) fn query(clause: &Clause<'_>, is_server: &dyn Fn(&str) -> bool) -> String {
    let mut query = String::new();
    for word in clause.words {
        query.push_str(spoken(word, is_server));
        query.push(' ');
    }
    // "How late is it" and "what day is it" ask for the current time.
    let says = |word: &str| clause.words.iter().any(|own| own.lower == word);
    let is_of_now = says("it") || says("today") || says("now");
    if clause.is_question && is_of_now && clause.asks_for_time() && !says("time") {
        query.push_str("current time");
    }
    query.trim().to_owned()
}

fn spoken<'a>(word: &'a Word, is_server: &dyn Fn(&str) -> bool) -> &'a str {
    let text = word.text().unwrap_or_default();
    // `acme/site` and `Europe/Berlin` may not be files.
    let is_file = text.contains('.') || text.starts_with(['/', '~']) || text.ends_with('/');
    match word.kind {
        WordKind::Plain if !REFERRING.has(&word.lower) => &word.lower,
        WordKind::Name | WordKind::Code if catalog::words(text).any(is_server) => text,
        WordKind::Path if is_file => "file",
        WordKind::Url => "url",
        WordKind::Email => "email",
        WordKind::Date => "date",
        WordKind::Expression => "expression",
        _ => "",
    }
}

/// Chooses the clause's tool and those that fit as well. If no selected tool answers a question, a
/// value may decide among the nearest.
pub(crate) fn select(
    found: &Candidates,
    task: &str,
    clause: &Clause<'_>,
    earlier: &[EarlierStep],
) -> Option<(Selected, Vec<Selected>)> {
    let mut judged = judge(&found.tools, task, clause, earlier);
    let is_answered = judged.first().is_some_and(|best| best.filled.missing.is_empty());
    if clause.is_question && !is_answered {
        let mut telling = judge(&found.nearest, task, clause, earlier);
        telling.retain(|one| one.filled.is_telling && one.filled.missing.is_empty());
        judged = if telling.is_empty() { judged } else { telling };
    }
    let mut judged = judged.into_iter();
    let best = judged.next()?;
    let as_good = judged.take_while(|one| best.score - one.score <= AS_GOOD);
    let as_good = as_good.collect();
    Some((best, as_good))
}

/// Tools that do what the clause says, best first.
fn judge(
    tools: &[(Arc<Entry>, f32)],
    task: &str,
    clause: &Clause<'_>,
    earlier: &[EarlierStep],
) -> Vec<Selected> {
    let agreeing = tools.iter().filter(|(entry, _)| verbs::agrees(clause, entry));
    let judge = |(entry, rank): &(Arc<Entry>, f32)| {
        let filled = fill(entry, task, clause, earlier);
        let score = rank + score(entry, &filled, clause);
        let entry = entry.clone();
        Selected { entry, filled, score }
    };
    let mut judged: Vec<Selected> = agreeing.map(judge).collect();
    // The sort is stable: equal tools keep their rank.
    judged.sort_by(|a, b| b.score.total_cmp(&a.score));
    judged
}

fn score(entry: &Entry, filled: &Filled, clause: &Clause<'_>) -> f32 {
    let values = clause
        .words
        .iter()
        .zip(&filled.used)
        .filter(|(word, _)| word.is_value());
    let used = values.clone().filter(|(_, used)| **used).count();
    let name: Vec<String> = catalog::words(&entry.tool.tool).map(stem).collect();
    let said: Vec<String> = clause.words.iter().map(|word| stem(&word.lower)).collect();
    let named = name.iter().filter(|word| said.contains(word)).count();
    let telling = if filled.is_telling { TELLING } else { 0.0 };
    telling + USES_ALL * share(used, values.count()) + NAMED * share(named, name.len())
        - LACKS_ONE * share(filled.missing.len().min(2), 1)
}

fn share(some: usize, all: usize) -> f32 {
    let small = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    small(some) / small(all.max(1))
}

//! Selecting the tools of a step: ranked by the catalog's search, kept above a threshold, at most a few.

use std::sync::Arc;

use catalog::{Entry, Search};

/// The share of the score that a tool has for its own name, below which it is not selected.
pub const DEFAULT_THRESHOLD: f32 = 0.35;

/// Tools that are selected for one step at most.
const MOST_FOR_A_STEP: usize = 5;

/// The part of the threshold from which a tool is looked at where none is selected: its values may tell that it is meant.
const WEAKEST: f32 = 0.4;

/// What a tool's score must be beside the best one's.
const SHARE_OF_BEST: f32 = 0.3;

/// Tools that are named where none is selected.
const NEAREST: usize = 3;

/// What a search for one step found.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    /// Best first, each with its score beside the best one's: 1 to 0.
    pub(crate) tools: Vec<(Arc<Entry>, f32)>,
    /// Where there are none, those that the values of the step may speak for.
    pub(crate) weak: Vec<(Arc<Entry>, f32)>,
    /// What comes nearest.
    pub(crate) nearest: Vec<Arc<Entry>>,
}

/// Selects among the tools that `visible` lets through.
pub(crate) fn select(
    search: &Search,
    query: &str,
    visible: &dyn Fn(&Entry) -> bool,
    threshold: f32,
) -> Selected {
    if query.trim().is_empty() {
        return Selected::default();
    }
    let found = search.find(query, visible);
    let best = found.hits.first().map_or(0.0, |hit| hit.score);
    let first = found
        .hits
        .iter()
        .take(MOST_FOR_A_STEP)
        .filter(|hit| hit.score >= best * SHARE_OF_BEST);
    let mut selected = Selected::default();
    for hit in first {
        let own = threshold * own_score(search, hit.entry);
        let tool = (hit.entry.clone(), hit.score / best.max(f32::MIN_POSITIVE));
        if hit.score >= own {
            selected.tools.push(tool);
        } else if hit.score >= own * WEAKEST {
            selected.weak.push(tool);
        }
    }
    let near = found.hits.iter().chain(&found.nearest).take(NEAREST);
    selected.nearest = near.map(|hit| hit.entry.clone()).collect();
    selected
}

/// What the tool scores for its own name: the most that a step can say of it in so many words.
fn own_score(search: &Search, entry: &Entry) -> f32 {
    let name = format!("{} {}", entry.tool.server, entry.tool.tool);
    let found = search.find(&name, |other| other.tool == entry.tool);
    found.hits.first().map_or(0.0, |hit| hit.score)
}

//! Which of the selected tools a step calls: the one that is ranked high and that the step's values fit.

use std::sync::Arc;

use catalog::Entry;

use crate::fill::said::Said;
use crate::fill::{Earlier, Filled, fill};
use crate::select::Selected;
use crate::verbs;

/// What it counts beside the rank that all of the step's values are used.
const USES_ALL: f32 = 0.35;

/// What it counts that the step has all words of the tool's name, somewhere.
const NAMED: f32 = 0.15;

/// What it counts that a value could hardly be meant for anything but the tool's parameter.
const TELLING: f32 = 0.2;

/// What it costs that a needed argument is not said.
const LACKS_ONE: f32 = 0.12;

/// Two tools this near to each other are both told.
const AS_GOOD: f32 = 0.04;

/// The tool that a step calls.
pub(crate) struct Chosen {
    pub(crate) entry: Arc<Entry>,
    pub(crate) filled: Filled,
    /// Tools that fit as well, but for a hair.
    pub(crate) others: Vec<Arc<Entry>>,
}

/// Chooses among the tools of a step with their ranks, 1 to 0.
pub(crate) fn choose(selected: &Selected, task: &str, said: &Said, earlier: &[Earlier]) -> Option<Chosen> {
    let near: Vec<(Arc<Entry>, f32)> = selected
        .nearest
        .iter()
        .map(|entry| (entry.clone(), 0.0))
        .collect();
    let strong = judged(&selected.tools, task, said, earlier);
    let judged = if strong.is_empty() {
        let mut weak = judged(&selected.weak, task, said, earlier);
        weak.retain(|(_, _, filled)| is_whole(filled, said));
        weak
    } else {
        strong
    };
    let lacks = judged
        .first()
        .is_none_or(|(_, _, filled)| !filled.missing.is_empty());
    let judged = if said.is_question && lacks {
        let mut telling = self::judged(&near, task, said, earlier);
        telling.retain(|(_, _, filled)| filled.is_telling && filled.missing.is_empty());
        if telling.is_empty() { judged } else { telling }
    } else {
        judged
    };
    let best = judged.first()?.0;
    let as_good = judged
        .iter()
        .skip(1)
        .take_while(|(worth, ..)| best - worth <= AS_GOOD);
    let others = as_good.map(|(_, entry, _)| (*entry).clone()).collect();
    let (_, entry, filled) = judged.into_iter().next()?;
    Some(Chosen {
        entry: entry.clone(),
        filled,
        others,
    })
}

/// The tools that do what the step says, the best first.
fn judged<'a>(
    tools: &'a [(Arc<Entry>, f32)],
    task: &str,
    said: &Said,
    earlier: &[Earlier],
) -> Vec<(f32, &'a Arc<Entry>, Filled)> {
    let agreeing = tools.iter().filter(|(entry, _)| verbs::agree(said, entry));
    let mut judged: Vec<(f32, &Arc<Entry>, Filled)> = agreeing
        .map(|(entry, rank)| {
            let filled = fill(entry, task, said, earlier);
            (
                rank + worth(&filled, said) + NAMED * named(entry, said),
                entry,
                filled,
            )
        })
        .collect();
    // The sort is stable: of equal ones the better ranked is first.
    judged.sort_by(|a, b| b.0.total_cmp(&a.0));
    judged
}

/// Whether the call has all that it needs and the step says nothing besides.
fn is_whole(filled: &Filled, said: &Said) -> bool {
    let mut marked = said
        .literals
        .iter()
        .enumerate()
        .filter(|(_, literal)| literal.kind.is_marked())
        .peekable();
    marked.peek().is_some() && filled.missing.is_empty() && marked.all(|(at, _)| filled.used.contains(&at))
}

fn worth(filled: &Filled, said: &Said) -> f32 {
    let marked = |at: &usize| said.literals[*at].kind.is_marked();
    let values = (0..said.literals.len()).filter(marked).count();
    let used = filled.used.iter().filter(|at| marked(at)).count();
    let share = if values == 0 {
        0.0
    } else {
        small(used) / small(values)
    };
    let telling = if filled.is_telling { TELLING } else { 0.0 };
    telling + USES_ALL * share - LACKS_ONE * small(filled.missing.len().min(2))
}

/// The share of the words of the tool's name that the step has; twice as much where it says the name as one.
fn named(entry: &Entry, said: &Said) -> f32 {
    let stem = |word: &str| catalog::stem(word.to_lowercase());
    let words: Vec<String> = catalog::words(&entry.tool.tool).map(stem).collect();
    let spoken: Vec<String> = said.words.iter().map(|word| stem(word)).collect();
    if words.len() > 1 && spoken.windows(words.len()).any(|window| window == words) {
        return 2.0;
    }
    let has = |word: &&String| spoken.contains(word);
    small(words.iter().filter(has).count()) / small(words.len().max(1))
}

/// A task has few of anything.
fn small(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

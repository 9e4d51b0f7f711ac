//! A run's successful calls.
//!
//! If the program fails later, its author must know which calls took effect.

use std::sync::{Arc, Mutex, PoisonError};

use catalog::Entry;

/// Limit on tools that are remembered and listed.
const MOST: usize = 100;
const MOST_TOLD: usize = 10;

/// Counts calls that tools answered without an error. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct AnsweredCalls(Arc<Mutex<Vec<Answered>>>);

#[derive(Debug)]
struct Answered {
    entry: Arc<Entry>,
    times: u32,
}

impl AnsweredCalls {
    pub(crate) fn add(&self, entry: &Arc<Entry>) {
        let mut done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = done.len() < MOST;
        match done.iter_mut().find(|known| known.entry.tool == entry.tool) {
            Some(known) => known.times += 1,
            None if has_room => done.push(Answered {
                entry: entry.clone(),
                times: 1,
            }),
            None => {}
        }
    }

    /// Calls that may have changed something: calls of tools that are not declared read-only, ordered by each tool's
    /// first call. `None` if there are none.
    pub fn changes(&self) -> Option<String> {
        let done = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let changes: Vec<String> = done
            .iter()
            .filter(|known| !known.entry.definition.says_it_only_reads())
            .map(|Answered { entry, times }| match times {
                1 => entry.tool.to_string(),
                times => format!("{} ({times} times)", entry.tool),
            })
            .collect();
        let more = changes.len().saturating_sub(MOST_TOLD);
        let told = changes[..changes.len() - more].join(", ");
        match (changes.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(told),
            (false, more) => Some(format!("{told} and {more} more tools")),
        }
    }
}

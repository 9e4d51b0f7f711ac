//! What was learned at one moment: an immutable map that lookups share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use catalog::{Entry, Learned};
use store::Learning;
use types::{Principal, ToolRef};

/// Of a tool whose results are settled, one in so many is looked at.
const SAMPLE: u32 = 10;

/// Whose calls were observed; empty where principals share what is learned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Whose(pub(super) Arc<str>);

/// Everything that is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// What earlier processes learned is among it.
    pub(super) is_loaded: bool,
    pub(super) tools: Arc<Tools>,
}

/// By principal and tool, one for each definition.
pub(super) type Tools = HashMap<Whose, HashMap<ToolRef, Vec<Tool>>>;

/// What is known of one definition.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) definition: Arc<str>,
    /// Absent if the tool declares its results.
    pub(super) learned: Option<Arc<Learned>>,
    pub(super) sampling: Arc<Sampling>,
}

/// Which answers are looked at.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    pub(super) is_settled: AtomicBool,
    turn: AtomicU32,
}

/// What was learned for one principal. Cheap to clone; never changes.
#[derive(Debug, Clone)]
pub struct LearnedTypes {
    known: Known,
    whose: Whose,
}

// === impl Whose ===

impl Whose {
    pub(super) fn of(principal: &Principal, learning: &Learning) -> Whose {
        Whose(if learning.shared {
            Arc::from("")
        } else {
            Arc::from(principal.id.as_str())
        })
    }
}

// === impl Known ===

impl Known {
    fn tool(&self, whose: &Whose, entry: &Entry) -> Option<&Tool> {
        let definitions = self.tools.get(whose)?.get(&entry.tool)?;
        definitions
            .iter()
            .find(|tool| &*tool.definition == entry.fingerprint())
    }

    /// Whether this answer need not be looked at.
    pub(super) fn skips(&self, whose: &Whose, entry: &Entry) -> bool {
        self.tool(whose, entry).is_some_and(|tool| tool.sampling.skips())
    }
}

// === impl Sampling ===

impl Sampling {
    fn skips(&self) -> bool {
        self.is_settled.load(Ordering::Relaxed)
            && !self.turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(SAMPLE)
    }
}

// === impl LearnedTypes ===

impl LearnedTypes {
    pub(super) fn new(known: Known, whose: Whose) -> LearnedTypes {
        LearnedTypes { known, whose }
    }

    /// What was observed of the results of this tool as it is defined now, if it declares none.
    pub fn of(&self, entry: &Entry) -> Option<Arc<Learned>> {
        self.known.tool(&self.whose, entry)?.learned.clone()
    }
}

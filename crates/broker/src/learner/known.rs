//! The types learned so far.
//!
//! A change replaces one entry and leaves the others unchanged.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use catalog::{Entry, Learned};
use store::Learning;
use store::learned::{DEFINITIONS, Subject};
use types::{Principal, ToolRef};

/// Once a tool's results are settled, one in `SAMPLE` answers is observed.
const SAMPLE: u32 = 10;

/// The principal whose calls are observed; `None` if principals share learned types.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LearnerScope(pub(super) Option<Principal>);

#[derive(Debug, Default)]
pub(super) struct Known {
    tools: RwLock<Tools>,
}

/// Learned tools by principal and tool; definitions in order of appearance.
pub(super) type Tools = HashMap<LearnerScope, HashMap<ToolRef, Vec<Tool>>>;

#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) definition: Arc<str>,
    /// Absent if the tool declares its results.
    pub(super) learned: Option<Arc<Learned>>,
    pub(super) sampling: Arc<Sampling>,
}

#[derive(Debug, Default)]
pub(super) struct Sampling {
    pub(super) is_settled: AtomicBool,
    turn: AtomicU32,
}

/// The types learned for one principal. Cheap to clone; each look-up reads the current state.
#[derive(Debug, Clone)]
pub struct LearnedTypes {
    known: Arc<Known>,
    whose: LearnerScope,
}

// === impl LearnerScope ===

impl LearnerScope {
    pub(super) fn of(principal: &Principal, learning: &Learning) -> LearnerScope {
        LearnerScope((!learning.shared).then(|| principal.clone()))
    }
}

// === impl Known ===

impl Known {
    fn tool<T>(&self, whose: &LearnerScope, entry: &Entry, read: impl FnOnce(&Tool) -> T) -> Option<T> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let definitions = tools.get(whose)?.get(&entry.tool)?;
        definitions
            .iter()
            .find(|tool| &*tool.definition == entry.fingerprint())
            .map(read)
    }

    /// Whether the learner may skip this answer.
    pub(super) fn skips(&self, whose: &LearnerScope, entry: &Entry) -> bool {
        self.tool(whose, entry, |tool| tool.sampling.skips())
            .unwrap_or_default()
    }

    /// Stores one definition of a tool. Returns the definition that it displaces, because the number per tool is
    /// limited.
    pub(super) fn put(&self, subject: &Subject, tool: Tool) -> Option<Arc<str>> {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        put(&mut tools, subject, tool)
    }

    pub(super) fn forget(&self, whose: &LearnerScope) {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        tools.remove(whose);
    }

    pub(super) fn replace(&self, tools: Tools) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }
}

/// Stores one definition of a tool. Returns the definition that it displaces, because the number per tool is limited.
pub(super) fn put(tools: &mut Tools, subject: &Subject, tool: Tool) -> Option<Arc<str>> {
    let whose = LearnerScope(subject.principal.clone());
    let named = ToolRef::new(subject.server.as_str(), subject.tool.as_str());
    let definitions = tools.entry(whose).or_default().entry(named).or_default();
    if let Some(known) = definitions
        .iter_mut()
        .find(|known| known.definition == tool.definition)
    {
        *known = tool;
        return None;
    }
    definitions.push(tool);
    (definitions.len() > DEFINITIONS).then(|| definitions.remove(0).definition)
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
    pub(super) fn new(known: Arc<Known>, whose: LearnerScope) -> LearnedTypes {
        LearnedTypes { known, whose }
    }

    /// The observed results of this tool's current definition, if it declares none.
    pub fn of(&self, entry: &Entry) -> Option<Arc<Learned>> {
        self.known
            .tool(&self.whose, entry, |tool| tool.learned.clone())
            .flatten()
    }
}

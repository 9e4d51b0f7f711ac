//! What the runs of a session have left bound for its next one.

use std::collections::HashMap;

use crate::program::Meaning;

/// Names that are remembered of one session; one that binds more is not known any longer.
const MAX_NAMES: usize = 4_096;

/// The names that earlier runs of a session may have bound at top level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names {
    /// What each stands for; `None` for anything.
    bound: HashMap<String, Option<Meaning>>,
    /// Whether any name may stand for anything.
    anything: bool,
}

// === impl Names ===

impl Names {
    /// Takes in what a run may have left.
    pub fn take(&mut self, left: &Names) {
        self.anything |= left.anything;
        for (name, meaning) in &left.bound {
            self.bind(name.clone(), meaning.clone());
        }
    }

    /// Whether nothing was ever bound.
    pub fn is_empty(&self) -> bool {
        self.bound.is_empty() && !self.anything
    }

    pub(crate) fn bind(&mut self, name: String, meaning: Option<Meaning>) {
        // The run may have ended before it bound the name.
        let meaning = match self.bound.get(&name) {
            Some(known) if *known != meaning => None,
            _ => meaning,
        };
        self.bound.insert(name, meaning);
        if self.bound.len() > MAX_NAMES {
            self.bind_anything();
        }
    }

    pub(crate) fn bind_anything(&mut self) {
        self.anything = true;
        self.bound = HashMap::new();
    }

    pub(crate) fn may_be_anything(&self) -> bool {
        self.anything
    }

    /// What an earlier run bound the name to, if one did.
    pub(crate) fn get(&self, name: &str) -> Option<Option<&Meaning>> {
        self.bound.get(name).map(Option::as_ref)
    }
}

//! The names that a session's runs have bound for its next run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::program::{Form, MAX_TEXT, Meaning};

/// Names remembered per session. If a session binds more, any name may mean anything.
const MAX_NAMES: usize = 4_096;

/// Remembered star imports of servers' tools.
const MAX_STARS: usize = 16;

/// Top-level names that a session's earlier runs may have bound.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Names {
    /// The meaning of each name; `None` for anything.
    bound: HashMap<String, Option<Meaning>>,
    /// Servers whose tools were imported by a star.
    stars: Vec<(Form, Arc<str>)>,
    /// Whether another module was imported by a star. Then any name may mean anything, except the trees of
    /// tools.
    is_starred: bool,
    /// Names that a function assigns as `global`.
    shared: HashSet<String>,
    /// Whether functions are among the names.
    has_functions: bool,
    /// Whether any name may mean anything.
    anything: bool,
}

// === impl Names ===

impl Names {
    /// Adds the names that a run may have left.
    pub fn take(&mut self, left: &Names) {
        self.anything |= left.anything;
        self.is_starred |= left.is_starred;
        for (form, server) in &left.stars {
            self.star(*form, server.clone());
        }
        self.has_functions |= left.has_functions;
        self.shared.extend(left.shared.iter().cloned());
        for (name, meaning) in &left.bound {
            self.bind(name.clone(), meaning.clone());
        }
    }

    /// Whether nothing was ever bound.
    pub fn is_empty(&self) -> bool {
        *self == Names::default()
    }

    /// A name that is too long is never known.
    pub(crate) fn bind(&mut self, name: String, meaning: Option<Meaning>) {
        if self.anything || name.len() > MAX_TEXT {
            return;
        }
        // The run may have ended before it bound the name; then the name keeps its meaning.
        let before = match self.bound.get(&name) {
            Some(known) => Some(known.clone()),
            None => Meaning::from_outside(&name).map(Some),
        };
        let meaning = if before.is_some_and(|before| before != meaning) {
            None
        } else {
            meaning
        };
        self.bound.insert(name, meaning);
        if self.bound.len() > MAX_NAMES {
            self.bind_anything();
        }
    }

    /// A function that remains has declared the name `global`.
    pub(crate) fn share(&mut self, name: &str) {
        self.shared.insert(name.to_owned());
        self.bind(name.to_owned(), None);
    }

    pub(crate) fn is_shared(&self, name: &str) -> bool {
        self.shared.contains(name)
    }

    pub(crate) fn leave_functions(&mut self) {
        self.has_functions = true;
    }

    pub(crate) fn has_functions(&self) -> bool {
        self.has_functions
    }

    /// Binds the names of a server's tools.
    pub(crate) fn star(&mut self, form: Form, server: Arc<str>) {
        if self.stars.contains(&(form, server.clone())) {
            return;
        }
        if self.stars.len() < MAX_STARS {
            self.stars.push((form, server));
        } else {
            self.star_any();
        }
    }

    pub(crate) fn star_any(&mut self) {
        self.is_starred = true;
    }

    pub(crate) fn bind_anything(&mut self) {
        *self = Names {
            anything: true,
            ..Names::default()
        };
    }

    pub(crate) fn may_be_anything(&self) -> bool {
        self.anything
    }

    /// Whether a star import may have bound any name, except the trees of tools.
    pub(crate) fn is_starred(&self) -> bool {
        self.is_starred
    }

    pub(crate) fn stars(&self) -> &[(Form, Arc<str>)] {
        &self.stars
    }

    /// Only the star imports.
    pub(crate) fn only_stars(&self) -> Names {
        Names {
            stars: self.stars.clone(),
            is_starred: self.is_starred,
            ..Names::default()
        }
    }

    /// The meaning that an earlier run bound the name to, if one did.
    pub(crate) fn get(&self, name: &str) -> Option<Option<&Meaning>> {
        let bound = self.bound.get(name)?;
        // A star import may have bound the name again.
        Some(bound.as_ref().filter(|_| self.stars.is_empty()))
    }
}

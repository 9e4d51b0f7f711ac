//! The names of one scope while its statements are followed in order.

use std::collections::HashMap;

use ruff_python_ast::StmtFunctionDef;

use super::bindings::Bound;
use super::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    Module,
    /// A function or a lambda.
    Function,
    Class,
    Comprehension,
}

pub(super) struct Scope<'a> {
    pub(super) kind: ScopeKind,
    /// How often the whole scope binds each name.
    pub(super) bound: Bound<'a>,
    values: HashMap<&'a str, Value>,
    /// Every assignment so far: name, value before, value.
    log: Vec<(&'a str, Value, Value)>,
    /// Functions whose bodies are followed at the scope's end, because they see the names' final values.
    pub(super) functions: Vec<&'a StmtFunctionDef>,
}

/// A position in the log of assignments.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

// === impl Scope ===

impl<'a> Scope<'a> {
    pub(super) fn new(kind: ScopeKind, bound: Bound<'a>) -> Self {
        Self {
            kind,
            bound,
            values: HashMap::new(),
            log: Vec::new(),
            functions: Vec::new(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// Assigns a name whose value was `before`.
    pub(super) fn set(&mut self, name: &'a str, before: Value, value: Value) {
        self.log.push((name, before, value.clone()));
        self.values.insert(name, value);
    }

    /// The name's value is unknown for now; `before` counts again when the block is settled.
    pub(super) fn blur(&mut self, name: &'a str, before: Value) {
        self.log.push((name, before, Value::Unbound));
        self.values.insert(name, Value::Unknown);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// Steps to settle or restore everything assigned since the mark.
    pub(super) fn since(&self, mark: Mark) -> usize {
        self.log[mark.0..]
            .iter()
            .map(|(_, _, value)| value.weight())
            .sum()
    }

    /// Restores the values at the mark: another branch follows.
    pub(super) fn restore(&mut self, mark: Mark) {
        for (name, before, _) in self.log[mark.0..].iter().rev() {
            self.values.insert(name, before.clone());
        }
    }

    /// Each name assigned since the mark may keep its value then, or have any value assigned since.
    pub(super) fn settle(&mut self, mark: Mark) {
        let mut joined: HashMap<&'a str, Value> = HashMap::new();
        for (name, before, value) in &self.log[mark.0..] {
            let known = joined.remove(name).unwrap_or_else(|| before.clone());
            joined.insert(name, known.or(value.clone()));
        }
        self.values.extend(joined);
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&'a str, Option<&Value>)> {
        self.bound.keys().map(|name| (*name, self.values.get(name)))
    }
}

//! The names of one scope while its statements are followed in their order.

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

/// One scope.
pub(super) struct Scope<'a> {
    pub(super) kind: ScopeKind,
    /// How often each of its names is bound in all.
    pub(super) bound: Bound<'a>,
    values: HashMap<&'a str, Value>,
    /// Every assignment since the beginning: name, value before, value.
    log: Vec<(&'a str, Value, Value)>,
    /// Functions whose bodies are followed when the scope is over: they see what its names are then.
    pub(super) functions: Vec<&'a StmtFunctionDef>,
}

/// A place in the assignments of a scope.
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

    /// Assigns a name that stood for `before`.
    pub(super) fn set(&mut self, name: &'a str, before: Value, value: Value) {
        self.log.push((name, before, value.clone()));
        self.values.insert(name, value);
    }

    /// Nothing is known of a name for now; what it stood for counts again when the block is settled.
    pub(super) fn blur(&mut self, name: &'a str, before: Value) {
        self.log.push((name, before, Value::Unbound));
        self.values.insert(name, Value::Unknown);
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.log.len())
    }

    /// How many steps it takes to settle or restore what was assigned since the mark.
    pub(super) fn since(&self, mark: Mark) -> usize {
        self.log[mark.0..]
            .iter()
            .map(|(_, _, value)| value.weight())
            .sum()
    }

    /// Makes the names stand for what they did at the mark: another branch follows.
    pub(super) fn restore(&mut self, mark: Mark) {
        for (name, before, _) in self.log[mark.0..].iter().rev() {
            self.values.insert(name, before.clone());
        }
    }

    /// Makes each name that was assigned since the mark stand for what it did then or for anything that it was assigned.
    pub(super) fn settle(&mut self, mark: Mark) {
        let mut joined: HashMap<&'a str, Value> = HashMap::new();
        for (name, before, value) in &self.log[mark.0..] {
            let known = joined.remove(name).unwrap_or_else(|| before.clone());
            joined.insert(name, known.or(value.clone()));
        }
        self.values.extend(joined);
    }

    /// Its names with what they stand for.
    pub(super) fn names(&self) -> impl Iterator<Item = (&'a str, Option<&Value>)> {
        self.bound.keys().map(|name| (*name, self.values.get(name)))
    }
}

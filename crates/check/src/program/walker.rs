//! Follows a program from its first statement to its last, and tracks the value of each name.

use catalog::Step;
use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::bindings::{self, Bound};
use super::builtins::is_builtin;
use super::facts::Facts;
use super::lines::Lines;
use super::reading::{Call, Import, Mistake, MistakeKind, Use};
use super::scope::{Scope, ScopeKind};
use super::value::{MAX_TEXT, Meaning, Origin, Value};
use super::{AFTER_ANYTHING, DYNAMIC, LARGE, Program};
use crate::names::Names;

/// Calls and uses recorded per program.
const MAX_FOUND: usize = 5_000;

/// A program that takes more steps is not checked. People's programs take a few thousand.
const MAX_STEPS: usize = 500_000;

/// Once this many parts of results are uncertain, all are.
const MAX_UNCERTAIN: usize = 500;

/// The state while a program is followed.
pub(super) struct Walker<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) calls: Vec<Call>,
    pub(super) uses: Vec<Use>,
    pub(super) mistakes: Vec<Mistake>,
    /// Parts of results that the program may change or does not rely on.
    pub(super) uncertain: Vec<Origin>,
    /// Star imports, also of earlier runs.
    pub(super) stars: Names,
    /// Open blocks that catch the error of a missing field.
    pub(super) forgiving: usize,
    /// Open blocks that catch the error of a failing call, or that may never run.
    pub(super) catching: usize,
    /// Imports that name a tool.
    pub(super) imports: Vec<Import>,
    lines: Lines,
    names: &'a Names,
    steps: usize,
    /// Whether functions of earlier runs may change this program's values.
    meets_strangers: bool,
}

pub(super) fn walk<'a>(source: &str, body: &'a [Stmt], names: &'a Names) -> Program {
    let facts = Facts::of(body, names);
    let meets_strangers = facts.meets_strangers();
    if facts.is_dynamic {
        return Program::of_anything(DYNAMIC);
    }
    let mut walker = Walker {
        facts,
        scopes: vec![Scope::new(ScopeKind::Module, bindings::of_body(body))],
        calls: Vec::new(),
        uses: Vec::new(),
        mistakes: Vec::new(),
        uncertain: Vec::new(),
        stars: names.only_stars(),
        forgiving: 0,
        catching: 0,
        imports: Vec::new(),
        lines: Lines::of(source),
        names,
        steps: MAX_STEPS,
        meets_strangers,
    };
    walker.body(body);
    walker.functions();
    if walker.is_spent() {
        return Program::of_anything(LARGE);
    }
    if walker.facts.is_dynamic {
        return Program::of_anything(DYNAMIC);
    }
    walker.finish()
}

// === impl Walker ===

impl<'a> Walker<'a> {
    /// Counts steps; when none remain, nothing more is followed.
    pub(super) fn take_steps(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    /// The value of iteration.
    pub(super) fn item(&mut self, value: &Value) -> Value {
        self.take_steps(value.weight());
        value.item()
    }

    pub(super) fn scope(&mut self) -> &mut Scope<'a> {
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The scope in which statements bind names: a comprehension holds only its targets.
    fn home(&self) -> usize {
        let own = self
            .scopes
            .iter()
            .rposition(|scope| scope.kind != ScopeKind::Comprehension);
        own.unwrap_or(0)
    }

    pub(super) fn line(&self, place: &impl Ranged) -> u32 {
        self.lines.line(place.start())
    }

    /// The name's value at this place.
    pub(super) fn lookup(&self, name: &str) -> Value {
        if self.facts.shared.contains(name) || self.names.is_shared(name) {
            return Value::Unknown;
        }
        // A function reads outer names later, when they may have new values.
        let mut later = false;
        for scope in self.scopes.iter().rev() {
            let times = scope.bound.get(name).copied().unwrap_or(0);
            let is_seen = scope.kind != ScopeKind::Class || !later;
            if times > 0 && is_seen {
                let value = match scope.get(name) {
                    Some(value) if times == 1 || !later => value.clone(),
                    Some(_) => Value::Unknown,
                    None => Value::Unbound,
                };
                // Before the module binds a name, the name is the session's.
                if scope.kind != ScopeKind::Module || value != Value::Unbound {
                    return value;
                }
            }
            later |= scope.kind == ScopeKind::Function;
        }
        self.outside(name)
    }

    /// The value of a name that the program has not bound.
    fn outside(&self, name: &str) -> Value {
        let is_hidden = self.stars.is_starred() && !is_tree(name);
        if self.names.may_be_anything() || is_hidden || name.len() > MAX_TEXT {
            return Value::Unknown;
        }
        if let Some(left) = self.names.get(name) {
            return left.map_or(Value::Unknown, |meaning| Value::Known(meaning.clone()));
        }
        match Meaning::from_outside(name) {
            // The guest makes the name a server only if the program never binds it.
            Some(Meaning::Server(..)) if self.scopes.iter().any(|scope| scope.bound.contains_key(name)) => {
                Value::Unknown
            }
            Some(meaning) => Value::Known(meaning),
            None if self.stars.stars().is_empty() => Value::Unbound,
            None => Value::Known(Meaning::Starred(self.stars.stars().into(), name.into())),
        }
    }

    /// Binds a name in the scope of statements.
    pub(super) fn bind(&mut self, name: &'a str, value: Value) {
        let home = self.home();
        self.bind_in(home, name, value);
    }

    /// Binds the names of an unknown module, whatever they are.
    pub(super) fn bind_star(&mut self) {
        self.stars.star_any();
        let home = self.home();
        let names: Vec<&'a str> = self.scopes[home].bound.keys().copied().collect();
        self.take_steps(names.len());
        for name in names {
            if !is_tree(name) {
                self.bind(name, Value::Unknown);
            }
        }
    }

    /// Binds a parameter, or a target of a comprehension.
    pub(super) fn bind_own(&mut self, name: &'a str, value: Value) {
        let own = self.scopes.len() - 1;
        self.bind_in(own, name, value);
    }

    fn bind_in(&mut self, scope: usize, name: &'a str, value: Value) {
        let may_change = self.meets_strangers || self.facts.fragile.contains(name);
        let may_part = value.is_nested() && self.facts.parted.contains(name);
        let is_certain = !(value.is_changeable() && may_change || may_part);
        // A builtin's name now has another value.
        let value = match value {
            Value::Unbound => Value::Unknown,
            value if is_certain => value,
            _ => Value::Unknown,
        };
        let before = self.before(scope, name);
        self.scopes[scope].set(name, before, value);
    }

    fn before(&self, scope: usize, name: &str) -> Value {
        match self.scopes[scope].get(name) {
            Some(value) => value.clone(),
            None if scope == 0 => self.outside(name),
            None => Value::Unbound,
        }
    }

    /// Names that a loop binds become unknown, because its body runs again.
    pub(super) fn blur(&mut self, names: Bound<'a>) {
        let home = self.home();
        self.take_steps(names.len());
        for name in names.into_keys() {
            let before = self.before(home, name);
            // A name that only the loop binds keeps the loop's value.
            if before != Value::Unbound || is_builtin(name) {
                self.scopes[home].blur(name, before);
            }
        }
    }

    /// Follows statements that may be skipped, or end early.
    pub(super) fn block(&mut self, follow: impl FnOnce(&mut Self)) {
        let mark = self.mark();
        follow(self);
        self.settle(mark);
    }

    /// Follows one of several branches; the next one begins at the same state.
    pub(super) fn way(&mut self, follow: impl FnOnce(&mut Self)) {
        let home = self.home();
        let mark = self.scopes[home].mark();
        follow(self);
        self.take_steps(self.scopes[home].since(mark));
        self.scopes[home].restore(mark);
    }

    /// Everything bound since the beginning of a block becomes uncertain.
    pub(super) fn settle(&mut self, mark: super::scope::Mark) {
        let home = self.home();
        self.take_steps(self.scopes[home].since(mark));
        self.scopes[home].settle(mark);
    }

    pub(super) fn mark(&self) -> super::scope::Mark {
        self.scopes[self.home()].mark()
    }

    /// Follows something in its own scope.
    pub(super) fn within<T>(
        &mut self,
        kind: ScopeKind,
        bound: Bound<'a>,
        follow: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.scopes.push(Scope::new(kind, bound));
        let forgiving = self.forgiving;
        let followed = follow(self);
        self.forgiving = forgiving;
        self.functions();
        self.scopes.pop();
        followed
    }

    /// At the end of a scope, follows the bodies of its functions.
    fn functions(&mut self) {
        let functions = std::mem::take(&mut self.scope().functions);
        for function in functions {
            self.function(function);
        }
    }

    fn function(&mut self, function: &'a StmtFunctionDef) {
        let mut bound = bindings::of_body(&function.body);
        for name in bindings::parameters(&function.parameters) {
            *bound.entry(name).or_default() += 1;
        }
        let (name, guarded) = (function.name.as_str(), &self.facts.guarded);
        // A call that may never run need not fail the program either.
        let is_caught = guarded.caught.contains(name) || guarded.is_only_defined(function);
        let is_forgiven = guarded.forgiven.contains(name);
        let forgiving = std::mem::replace(&mut self.forgiving, usize::from(is_forgiven));
        let catching = std::mem::replace(&mut self.catching, usize::from(is_caught));
        self.within(ScopeKind::Function, bound, |walker| {
            for name in bindings::parameters(&function.parameters) {
                walker.bind_own(name, Value::Unknown);
            }
            walker.body(&function.body);
        });
        self.forgiving = forgiving;
        self.catching = catching;
    }

    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        for statement in body {
            self.take_steps(1);
            if self.is_spent() {
                return;
            }
            self.statement(statement);
        }
    }

    pub(super) fn found(&mut self, call: Call) -> usize {
        if self.calls.len() >= MAX_FOUND {
            self.steps = 0;
        } else {
            self.calls.push(call);
        }
        self.calls.len() - 1
    }

    pub(super) fn used(&mut self, field: Use) {
        let is_excused = self.forgiving > 0 || self.facts.excused.contains(field.field.as_str());
        if !is_excused && self.uses.len() < MAX_FOUND {
            self.uses.push(field);
        }
    }

    /// The results inside a value become unknown.
    pub(super) fn doubt(&mut self, value: &Value) {
        match value {
            Value::Result(origin) => self.uncertain.push(origin.clone()),
            Value::List(items) => items.iter().for_each(|item| self.doubt(item)),
            Value::Dict(dict) => dict.items.iter().for_each(|(_, item)| self.doubt(item)),
            Value::Each(item) | Value::Awaitable(item) => self.doubt(item),
            _ => {}
        }
    }

    pub(super) fn mistake(&mut self, line: u32, call: usize, kind: MistakeKind) {
        if self.forgiving == 0 && !self.mistakes.iter().any(|known| known.call == call) {
            self.mistakes.push(Mistake { line, call, kind });
        }
    }

    fn finish(self) -> Program {
        let Walker {
            scopes,
            calls,
            mut uses,
            mistakes,
            uncertain,
            stars,
            facts,
            imports,
            names,
            steps,
            meets_strangers,
            ..
        } = self;
        if meets_strangers || uncertain.len() > MAX_UNCERTAIN {
            uses.clear();
        }
        uses.retain(|field| {
            let is_stored =
                |step: &Step| matches!(step, Step::Key(key) if facts.stored.contains(key.as_str()));
            let is_uncertain = uncertain.iter().any(|part| part.holds(field.call, &field.path));
            !is_uncertain && !field.path.iter().any(is_stored)
        });
        let mut left = stars;
        for (name, value) in scopes.iter().take(1).flat_map(Scope::names) {
            let meaning = match value {
                Some(Value::Known(meaning)) => Some(meaning.clone()),
                _ => None,
            };
            left.bind(name.to_owned(), meaning);
        }
        for name in facts.shared {
            left.share(name);
        }
        if facts.defined.has_functions {
            left.leave_functions();
        }
        Program {
            calls,
            uses,
            mistakes,
            imports,
            left,
            steps: MAX_STEPS - steps,
            unchecked: names.may_be_anything().then_some(AFTER_ANYTHING),
        }
    }
}

impl<'a> Visitor<'a> for Walker<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.value(expression);
    }
}

/// Whether the name is that of a tree of tools; no other module has these names.
fn is_tree(name: &str) -> bool {
    ["tools", "servers", "mcp", "__toolcall__"].contains(&name) || name.starts_with("mcp_")
}

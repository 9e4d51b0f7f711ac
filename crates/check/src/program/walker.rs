//! Follows a program from its first statement to its last, and keeps what each name is known to stand for.

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

/// Calls and uses of one program that are looked at.
const MAX_FOUND: usize = 5_000;

/// Steps in which a program is followed; what takes more is not known. Programs of people take a few thousand.
const MAX_STEPS: usize = 500_000;

/// Parts of results that may be uncertain before all are.
const MAX_UNCERTAIN: usize = 500;

/// What is known while a program is followed.
pub(super) struct Walker<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) scopes: Vec<Scope<'a>>,
    pub(super) calls: Vec<Call>,
    pub(super) uses: Vec<Use>,
    pub(super) mistakes: Vec<Mistake>,
    /// Parts of results that the program may change, or does not take for granted.
    pub(super) uncertain: Vec<Origin>,
    /// What star imports have bound, in earlier runs too.
    pub(super) stars: Names,
    /// Open blocks that catch what a missing field raises.
    pub(super) forgiving: usize,
    /// Open blocks that catch what a failing call raises, or that may never run.
    pub(super) catching: usize,
    /// Imports that name a tool.
    pub(super) imports: Vec<Import>,
    lines: Lines,
    names: &'a Names,
    /// Steps that are left.
    steps: usize,
    /// Whether functions of earlier runs may change what this one names.
    meets_strangers: bool,
}

/// Follows a program.
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
    /// Counts steps; once none is left, nothing more is followed.
    pub(super) fn take_steps(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.steps == 0
    }

    /// What iterating over a value gives.
    pub(super) fn item(&mut self, value: &Value) -> Value {
        self.take_steps(value.weight());
        value.item()
    }

    /// The scope that is followed.
    pub(super) fn scope(&mut self) -> &mut Scope<'a> {
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The scope whose names statements bind: a comprehension has only its targets.
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

    /// What a name stands for here.
    pub(super) fn lookup(&self, name: &str) -> Value {
        if self.facts.shared.contains(name) || self.names.is_shared(name) {
            return Value::Unknown;
        }
        // A function reads the names around it later, when they may have been assigned again.
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
                // A name that the module has not bound yet is that of the session.
                if scope.kind != ScopeKind::Module || value != Value::Unbound {
                    return value;
                }
            }
            later |= scope.kind == ScopeKind::Function;
        }
        self.outside(name)
    }

    /// What a name stands for that the program has not bound.
    fn outside(&self, name: &str) -> Value {
        let is_hidden = self.stars.is_starred() && !is_tree(name);
        if self.names.may_be_anything() || is_hidden || name.len() > MAX_TEXT {
            return Value::Unknown;
        }
        if let Some(left) = self.names.get(name) {
            return left.map_or(Value::Unknown, |meaning| Value::Known(meaning.clone()));
        }
        match Meaning::from_outside(name) {
            // The guest makes it a server only where nothing of the program binds it.
            Some(Meaning::Server(..)) if self.scopes.iter().any(|scope| scope.bound.contains_key(name)) => {
                Value::Unknown
            }
            Some(meaning) => Value::Known(meaning),
            None if self.stars.stars().is_empty() => Value::Unbound,
            None => Value::Known(Meaning::Starred(self.stars.stars().into(), name.into())),
        }
    }

    /// Binds a name where statements bind names.
    pub(super) fn bind(&mut self, name: &'a str, value: Value) {
        let home = self.home();
        self.bind_in(home, name, value);
    }

    /// Binds the names of a module that is not known, whatever they are.
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

    /// Binds a target of a comprehension or a parameter.
    pub(super) fn bind_own(&mut self, name: &'a str, value: Value) {
        let own = self.scopes.len() - 1;
        self.bind_in(own, name, value);
    }

    fn bind_in(&mut self, scope: usize, name: &'a str, value: Value) {
        let may_change = self.meets_strangers || self.facts.fragile.contains(name);
        let may_part = value.is_nested() && self.facts.parted.contains(name);
        let is_certain = !(value.is_changeable() && may_change || may_part);
        // The name of a builtin is another name now.
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

    /// Nothing is known any more of names that a loop binds: its body follows itself.
    pub(super) fn blur(&mut self, names: Bound<'a>) {
        let home = self.home();
        self.take_steps(names.len());
        for name in names.into_keys() {
            let before = self.before(home, name);
            // A name that only the loop binds stands for what the loop has bound it to.
            if before != Value::Unbound || is_builtin(name) {
                self.scopes[home].blur(name, before);
            }
        }
    }

    /// Follows statements that may be passed over, or end early.
    pub(super) fn block(&mut self, follow: impl FnOnce(&mut Self)) {
        let mark = self.mark();
        follow(self);
        self.settle(mark);
    }

    /// Follows one of several ways on; the next one begins where this one did.
    pub(super) fn way(&mut self, follow: impl FnOnce(&mut Self)) {
        let home = self.home();
        let mark = self.scopes[home].mark();
        follow(self);
        self.take_steps(self.scopes[home].since(mark));
        self.scopes[home].restore(mark);
    }

    /// Makes what was bound since the beginning of a block uncertain.
    pub(super) fn settle(&mut self, mark: super::scope::Mark) {
        let home = self.home();
        self.take_steps(self.scopes[home].since(mark));
        self.scopes[home].settle(mark);
    }

    pub(super) fn mark(&self) -> super::scope::Mark {
        self.scopes[self.home()].mark()
    }

    /// Follows something in a scope of its own.
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

    /// Follows the bodies of the functions that were defined in the scope, now that it is over.
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

    /// Takes note of a call; gives its number.
    pub(super) fn found(&mut self, call: Call) -> usize {
        if self.calls.len() >= MAX_FOUND {
            self.steps = 0;
        } else {
            self.calls.push(call);
        }
        self.calls.len() - 1
    }

    /// Takes note of a field that is read.
    pub(super) fn used(&mut self, field: Use) {
        let is_excused = self.forgiving > 0 || self.facts.excused.contains(field.field.as_str());
        if !is_excused && self.uses.len() < MAX_FOUND {
            self.uses.push(field);
        }
    }

    /// Nothing is known any more of the results that are part of a value.
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

/// Whether a name is one of those under which the trees of tools are found, which no other module has.
fn is_tree(name: &str) -> bool {
    ["tools", "servers", "mcp", "__toolcall__"].contains(&name) || name.starts_with("mcp_")
}

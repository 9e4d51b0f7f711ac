//! Finds a program's functions that are called where their errors are caught.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};

use super::exceptions::{FAILING, MISSING, forgives, suppresses};

/// Names that are used where errors are caught, directly or in functions used there.
#[derive(Default)]
pub(super) struct Guarded<'a> {
    /// Names used where a missing field's error is caught.
    pub(super) forgiven: HashSet<&'a str>,
    /// Names used where a failing call's error is caught.
    pub(super) caught: HashSet<&'a str>,
    /// Whether the program catches missing fields anywhere, and failing calls.
    pub(super) is_forgiving: bool,
    pub(super) is_catching: bool,
    /// Functions and classes of the program.
    own: HashSet<&'a str>,
    /// Names and attributes that are read anywhere.
    read: HashSet<&'a str>,
    /// The names that each function uses.
    uses: HashMap<&'a str, HashSet<&'a str>>,
    /// The functions around the current place.
    open: Vec<&'a str>,
    forgiving: usize,
    catching: usize,
}

/// Which errors of its body a statement catches.
#[derive(Clone, Copy)]
struct Guard {
    /// Missing fields.
    forgives: bool,
    /// Failing calls.
    catches: bool,
}

// === impl Guarded ===

impl<'a> Guarded<'a> {
    /// `own` holds the program's functions and classes.
    pub(super) fn of(body: &'a [Stmt], own: &HashSet<&'a str>) -> Guarded<'a> {
        let mut guarded = Guarded {
            own: own.clone(),
            ..Guarded::default()
        };
        guarded.visit_body(body);
        guarded
    }

    /// Adds functions that are passed to other code, which may catch their errors, and the functions that
    /// these use.
    pub(super) fn finish(&mut self, handed: &HashSet<&'a str>) {
        for (names, is_any) in [
            (&mut self.forgiven, self.is_forgiving),
            (&mut self.caught, self.is_catching),
        ] {
            names.extend(handed.iter().filter(|_| is_any));
            spread(names, &self.uses);
        }
    }

    /// Whether the program neither calls a function nor passes it on; only a later program may call it.
    pub(super) fn is_only_defined(&self, function: &StmtFunctionDef) -> bool {
        function.decorator_list.is_empty() && !self.read.contains(function.name.as_str())
    }

    fn read(&mut self, name: &'a str) {
        self.read.insert(name);
        self.name(name);
    }

    fn name(&mut self, name: &'a str) {
        if self.forgiving > 0 {
            self.forgiven.insert(name);
        }
        if self.catching > 0 {
            self.caught.insert(name);
        }
        if let Some(function) = self.open.last() {
            self.uses.entry(function).or_default().insert(name);
        }
    }

    fn within(&mut self, guard: Guard, body: &'a [Stmt]) {
        self.is_forgiving |= guard.forgives;
        self.is_catching |= guard.catches;
        self.forgiving += usize::from(guard.forgives);
        self.catching += usize::from(guard.catches);
        self.visit_body(body);
        self.forgiving -= usize::from(guard.forgives);
        self.catching -= usize::from(guard.catches);
    }
}

/// Adds the names that these functions use.
fn spread<'a>(names: &mut HashSet<&'a str>, uses: &HashMap<&'a str, HashSet<&'a str>>) {
    let mut open: Vec<&str> = names.iter().copied().collect();
    while let Some(name) = open.pop() {
        for used in uses.get(name).into_iter().flatten() {
            if names.insert(used) {
                open.push(used);
            }
        }
    }
}

impl<'a> Visitor<'a> for Guarded<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                let (forgiving, catching) = (self.forgiving, self.catching);
                (self.forgiving, self.catching) = (0, 0);
                self.name(function.name.as_str());
                self.open.push(function.name.as_str());
                visitor::walk_stmt(self, statement);
                self.open.pop();
                (self.forgiving, self.catching) = (forgiving, catching);
            }
            Stmt::Try(followed) => {
                let guard = Guard {
                    forgives: forgives(followed, &MISSING),
                    catches: forgives(followed, &FAILING),
                };
                self.within(guard, &followed.body);
                self.visit_body(&followed.orelse);
                self.visit_body(&followed.finalbody);
                for handler in &followed.handlers {
                    self.visit_except_handler(handler);
                }
            }
            Stmt::With(followed) => {
                followed.items.iter().for_each(|item| self.visit_with_item(item));
                let suppresses = suppresses(followed, &self.own);
                let guard = Guard {
                    forgives: suppresses,
                    catches: suppresses,
                };
                self.within(guard, &followed.body);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => self.read(&name.id),
            Expr::Attribute(attribute) => self.read(attribute.attr.as_str()),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

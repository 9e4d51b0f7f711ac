//! Finds the names that a scope binds, and how often.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt};

/// Places that bind each name.
pub(super) type Bound<'a> = HashMap<&'a str, usize>;

/// Names that the statements bind in their own scope.
pub(super) fn of_body<'a>(body: &'a [Stmt]) -> Bound<'a> {
    let mut bindings = Bindings::default();
    bindings.visit_body(body);
    bindings.bound
}

/// Names that an expression binds, by `:=` only.
pub(super) fn of_expression<'a>(expression: &'a Expr) -> Bound<'a> {
    let mut bindings = Bindings::default();
    bindings.visit_expr(expression);
    bindings.bound
}

pub(super) fn parameters(parameters: &Parameters) -> impl Iterator<Item = &str> {
    parameters.iter().map(|parameter| parameter.name().as_str())
}

/// The name that an import binds: `a` for `import a.b`.
pub(super) fn imported(alias: &Alias) -> &str {
    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
    name.split('.').next().unwrap_or(name)
}

#[derive(Default)]
struct Bindings<'a> {
    bound: Bound<'a>,
    /// Open comprehensions, whose targets are local to them.
    targets: usize,
}

// === impl Bindings ===

impl<'a> Bindings<'a> {
    fn bind(&mut self, name: &'a str) {
        *self.bound.entry(name).or_default() += 1;
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.bind(function.name.as_str()),
            Stmt::ClassDef(class) => self.bind(class.name.as_str()),
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.bind(imported(alias))),
            Stmt::ImportFrom(import) => import.names.iter().for_each(|alias| self.bind(imported(alias))),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load && self.targets == 0 => self.bind(&name.id),
            Expr::Lambda(_) => {}
            Expr::Named(named) => {
                let targets = std::mem::take(&mut self.targets);
                self.visit_expr(&named.target);
                self.targets = targets;
                self.visit_expr(&named.value);
            }
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) | Expr::Generator(_) => {
                self.targets += 1;
                visitor::walk_expr(self, expression);
                self.targets -= 1;
            }
            _ => visitor::walk_expr(self, expression),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        captures(pattern).for_each(|name| self.bind(name));
        visitor::walk_pattern(self, pattern);
    }
}

/// The name that one part of a pattern binds.
pub(super) fn captures(pattern: &Pattern) -> impl Iterator<Item = &str> {
    let name = match pattern {
        Pattern::MatchStar(part) => part.name.as_ref(),
        Pattern::MatchAs(part) => part.name.as_ref(),
        Pattern::MatchMapping(part) => part.rest.as_ref(),
        _ => None,
    };
    name.into_iter().map(|name| name.as_str())
}

pub(super) fn of_pattern<'a>(pattern: &'a Pattern) -> Bound<'a> {
    let mut bindings = Bindings::default();
    bindings.visit_pattern(pattern);
    bindings.bound
}

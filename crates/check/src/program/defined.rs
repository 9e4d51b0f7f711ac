//! How a program binds its names, anywhere in its text; this decides what a call of a name may do.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Pattern, Stmt};

use super::bindings;

/// Modules whose functions leave their arguments unchanged and never call them.
const KEEPING_MODULES: [&str; 16] = [
    "base64",
    "collections",
    "copy",
    "csv",
    "datetime",
    "decimal",
    "hashlib",
    "html",
    "itertools",
    "json",
    "math",
    "pprint",
    "re",
    "statistics",
    "textwrap",
    "time",
];

/// Modules whose members are servers and tools.
const TREES: [&str; 3] = ["mcp", "tools", "servers"];

/// Names by which programs find the trees of tools.
const ROOTS: [&str; 6] = [
    "tools",
    "servers",
    "mcp",
    "mcp_servers",
    "runtime",
    "__toolcall__",
];

/// What all places that bind a name bind it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// A part of the tree of tools.
    Tree,
    /// A module that leaves its arguments unchanged, or a function of such a module.
    Keeping,
    Other,
}

#[derive(Default)]
pub(super) struct Defined<'a> {
    pub(super) ties: HashMap<&'a str, Binding>,
    pub(super) functions: HashSet<&'a str>,
    /// Functions whose calls run only when awaited.
    pub(super) coroutines: HashSet<&'a str>,
    pub(super) has_functions: bool,
}

// === impl Defined ===

impl<'a> Defined<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Defined<'a> {
        let mut defined = Defined::default();
        defined.visit_body(body);
        defined
    }

    fn bind(&mut self, name: &'a str, tie: Binding) {
        let known = self.ties.entry(name).or_insert(tie);
        if *known != tie {
            *known = Binding::Other;
        }
    }

    fn import(&mut self, alias: &'a Alias, module: &str) {
        let module = module.split('.').next().unwrap_or_default();
        let tie = match module {
            _ if TREES.contains(&module) => Binding::Tree,
            _ if KEEPING_MODULES.contains(&module) => Binding::Keeping,
            _ => Binding::Other,
        };
        self.bind(bindings::imported(alias), tie);
    }

    fn is_of_tree(&self, value: &Expr) -> bool {
        root(value).is_some_and(|name| match self.ties.get(name) {
            Some(tie) => *tie == Binding::Tree,
            None => is_root(name),
        })
    }
}

impl<'a> Visitor<'a> for Defined<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => {
                self.functions.insert(function.name.as_str());
                if function.is_async {
                    self.coroutines.insert(function.name.as_str());
                }
                self.has_functions = true;
                self.bind(function.name.as_str(), Binding::Other);
            }
            Stmt::ClassDef(class) => {
                self.functions.insert(class.name.as_str());
                self.has_functions = true;
                self.bind(class.name.as_str(), Binding::Other);
            }
            Stmt::Import(import) => import
                .names
                .iter()
                .for_each(|alias| self.import(alias, &alias.name)),
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                import.names.iter().for_each(|alias| self.import(alias, module));
            }
            Stmt::Assign(assign) => {
                if let [Expr::Name(name)] = assign.targets.as_slice() {
                    if assign.value.is_lambda_expr() {
                        self.functions.insert(&name.id);
                    }
                    if self.is_of_tree(&assign.value) {
                        return self.bind(&name.id, Binding::Tree);
                    }
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.bind(&name.id, Binding::Other),
            Expr::Lambda(_) => self.has_functions = true,
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(parameter.name.as_str(), Binding::Other);
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str(), Binding::Other);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        bindings::captures(pattern).for_each(|name| self.bind(name, Binding::Other));
        visitor::walk_pattern(self, pattern);
    }
}

/// The first name in a chain of attributes and items.
pub(super) fn root(mut part: &Expr) -> Option<&str> {
    loop {
        part = match part {
            Expr::Attribute(attribute) => &attribute.value,
            Expr::Subscript(subscript) => &subscript.value,
            Expr::Name(name) => return Some(&name.id),
            _ => return None,
        }
    }
}

/// Whether an unbound name is a tree of tools.
pub(super) fn is_root(name: &str) -> bool {
    ROOTS.contains(&name) || name.starts_with("mcp_")
}

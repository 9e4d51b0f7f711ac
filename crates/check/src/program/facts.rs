//! Scans the whole program, before it is followed, for everything that makes knowledge about it uncertain.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, CmpOp, Comprehension, Expr, ExprAttribute, ExprCall, ExprContext, ExprSubscript, Identifier, Stmt,
    StmtFor, StmtImportFrom,
};
use ruff_text_size::TextRange;

use super::builtins::is_builtin;
use super::defined::{Binding, Defined, is_root, root};
use super::exceptions::called;
use super::guarded::Guarded;
use crate::names::Names;

/// Functions through which a program may change the meaning of any name.
const REACHES_NAMES: [&str; 9] = [
    "__import__",
    "exec",
    "eval",
    "globals",
    "locals",
    "vars",
    "setattr",
    "delattr",
    "__builtins__",
];

/// Modules with such functions, including their submodules.
const REACHING_MODULES: [&str; 4] = ["builtins", "importlib", "codeyard", "unittest.mock"];

/// Functions that keep nothing of their arguments.
const LOOKING: [&str; 8] = ["print", "len", "str", "repr", "any", "all", "isinstance", "type"];

/// Functions that return parts of their arguments.
const TAKING: [&str; 13] = [
    "sorted",
    "list",
    "sum",
    "min",
    "max",
    "set",
    "tuple",
    "dict",
    "enumerate",
    "zip",
    "reversed",
    "next",
    "filter",
];

/// Methods that return parts of a list or dict, or read it.
const TAKING_METHODS: [&str; 7] = ["get", "keys", "values", "items", "copy", "index", "count"];

/// Methods that store their arguments unchanged, or make texts of them.
const KEEPING_METHODS: [&str; 16] = [
    "append",
    "appendleft",
    "add",
    "insert",
    "extend",
    "index",
    "count",
    "remove",
    "discard",
    "join",
    "format",
    "write",
    "writerow",
    "put",
    "put_nowait",
    "union",
];

/// What happens to a list or dict where its name is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It is only read.
    Harmless,
    /// Its parts are passed on and may be changed.
    Parts,
    /// It is passed on.
    Whole,
}

pub(super) struct Facts<'a> {
    names: &'a Names,
    pub(super) defined: Defined<'a>,
    /// Whether names may be bound in ways that the text does not show.
    pub(super) is_dynamic: bool,
    /// Names declared `global` or `nonlocal` anywhere.
    pub(super) shared: HashSet<&'a str>,
    /// Lists and dicts that other code may change: their names occur elsewhere than in tools' arguments.
    pub(super) fragile: HashSet<&'a str>,
    /// Lists and dicts whose parts may be changed.
    pub(super) parted: HashSet<&'a str>,
    /// Keys that the program stores.
    pub(super) stored: HashSet<&'a str>,
    /// Keys that the program stores, holds as values, or looks up in a way that does not fail.
    pub(super) excused: HashSet<&'a str>,
    /// Texts that the program holds as values: fields, tools and servers that it may look for first.
    pub(super) asked: HashSet<&'a str>,
    pub(super) reads: HashMap<&'a str, usize>,
    /// Whether the program has a star import, which may replace a function of this name.
    is_starred: bool,
    /// Whether the program stores keys that are not written out.
    pub(super) stores_any_key: bool,
    /// Whether the program receives its calls' errors as values.
    pub(super) returns_errors: bool,
    pub(super) guarded: Guarded<'a>,
    /// Lambdas that may be called where errors are caught.
    pub(super) forgiven_lambdas: HashSet<TextRange>,
    /// The program's functions that are passed to other code.
    handed: HashSet<&'a str>,
    /// Lambdas that are passed to other code, and named lambdas.
    handed_lambdas: Vec<TextRange>,
    named_lambdas: Vec<(&'a str, TextRange)>,
}

// === impl Facts ===

impl<'a> Facts<'a> {
    pub(super) fn of(body: &'a [Stmt], names: &'a Names) -> Facts<'a> {
        let defined = Defined::of(body);
        let mut facts = Facts {
            names,
            is_dynamic: false,
            shared: HashSet::new(),
            fragile: HashSet::new(),
            parted: HashSet::new(),
            stored: HashSet::new(),
            excused: HashSet::new(),
            asked: HashSet::new(),
            reads: HashMap::new(),
            stores_any_key: false,
            returns_errors: false,
            guarded: Guarded::of(body, &defined.functions),
            defined,
            forgiven_lambdas: HashSet::new(),
            handed: HashSet::new(),
            handed_lambdas: Vec::new(),
            named_lambdas: Vec::new(),
            is_starred: false,
        };
        facts.visit_body(body);
        facts.forgive();
        facts
    }

    /// If this program, or a function of an earlier one, catches anything, it may catch errors of the
    /// functions passed on.
    fn forgive(&mut self) {
        self.guarded.is_forgiving |= self.names.has_functions();
        self.guarded.is_catching |= self.names.has_functions();
        self.guarded.finish(&self.handed);
        if self.guarded.is_forgiving {
            self.forgiven_lambdas.extend(&self.handed_lambdas);
        }
        let forgiven = |(name, _): &&(&str, TextRange)| self.guarded.forgiven.contains(name);
        let named = self.named_lambdas.iter().filter(forgiven);
        self.forgiven_lambdas.extend(named.map(|(_, lambda)| lambda));
    }

    /// Code other than a tool receives a function, or the result of calling one.
    fn hand(&mut self, given: &'a Expr) {
        let function = match given {
            Expr::Lambda(lambda) => return self.handed_lambdas.push(lambda.range),
            Expr::Call(call) => &call.func,
            other => other,
        };
        let own = called(function).filter(|name| self.defined.functions.contains(name));
        self.handed.extend(own);
    }

    fn read(&mut self, name: &'a str) {
        *self.reads.entry(name).or_default() += 1;
        self.is_dynamic |= REACHES_NAMES.contains(&name);
    }

    /// Reads a value with this effect.
    fn looked_at(&mut self, value: &'a Expr, look: Look) {
        match value {
            Expr::Name(name) if look != Look::Whole => {
                self.read(&name.id);
                if look == Look::Parts {
                    self.parted.insert(&name.id);
                }
            }
            Expr::Starred(starred) => self.looked_at(&starred.value, parts(look)),
            Expr::Subscript(part) if look == Look::Harmless && part.ctx == ExprContext::Load => {
                self.looked_at(&part.value, look);
                self.key(&part.slice);
            }
            Expr::Dict(dict) if look == Look::Harmless => {
                for item in &dict.items {
                    item.key.iter().for_each(|key| self.key(key));
                    self.looked_at(&item.value, look);
                }
            }
            // A text that is only shown or sent does not name a field to look for.
            Expr::StringLiteral(_) if look == Look::Harmless => {}
            other => self.visit_expr(other),
        }
    }

    fn call(&mut self, call: &'a ExprCall) {
        match call.func.as_ref() {
            Expr::Attribute(method) if TAKING_METHODS.contains(&method.attr.as_str()) => {
                self.looked_at(&method.value, Look::Parts);
            }
            callee => self.visit_expr(callee),
        }
        let look = self.look_of(&call.func);
        if look == Look::Whole {
            self.hold(&call.arguments.args);
            if !self.is_of_python(&call.func) {
                let named = call.arguments.keywords.iter().map(|keyword| &keyword.value);
                call.arguments
                    .args
                    .iter()
                    .chain(named)
                    .for_each(|given| self.hand(given));
            }
        }
        let returns_errors = |name: &Identifier| name.as_str() == "return_exceptions";
        let mut names = call
            .arguments
            .keywords
            .iter()
            .filter_map(|keyword| keyword.arg.as_ref());
        self.returns_errors |= names.any(returns_errors);
        for argument in &call.arguments.args {
            self.looked_at(argument, look);
        }
        for keyword in &call.arguments.keywords {
            let look = if keyword.arg.is_none() { parts(look) } else { look };
            self.looked_at(&keyword.value, look);
        }
        self.excuse(call);
    }

    /// Whether a callee is a builtin, which catches nothing.
    fn is_of_python(&self, callee: &Expr) -> bool {
        matches!(callee, Expr::Name(name) if self.is_free(&name.id) && is_builtin(&name.id))
    }

    /// What a callee does with its arguments.
    fn look_of(&self, callee: &Expr) -> Look {
        match callee {
            _ if self.is_tool(callee) => Look::Harmless,
            Expr::Name(name) if self.is_free(&name.id) && LOOKING.contains(&name.id.as_str()) => {
                Look::Harmless
            }
            Expr::Name(name) if self.is_free(&name.id) && TAKING.contains(&name.id.as_str()) => Look::Parts,
            Expr::Attribute(function) if function.attr.as_str() == "dumps" => Look::Harmless,
            _ => Look::Whole,
        }
    }

    /// Whether no program has bound the name.
    fn is_free(&self, name: &str) -> bool {
        !self.defined.ties.contains_key(name)
            && self.names.get(name).is_none()
            && !self.names.may_be_anything()
    }

    /// Whether the callee is a tool, as far as its name shows.
    fn is_tool(&self, callee: &Expr) -> bool {
        root(callee).is_some_and(|name| match self.defined.ties.get(name) {
            Some(tie) => *tie == Binding::Tree,
            None => is_root(name) && self.is_free(name) || matches!(self.names.get(name), Some(Some(_))),
        })
    }

    /// Whether a callee leaves its arguments unchanged, as far as fields of results are concerned.
    pub(super) fn keeps(&self, callee: &Expr) -> bool {
        let is_own = match callee {
            Expr::Name(name) => self.defined.functions.contains(name.id.as_str()),
            Expr::Attribute(method) => self.defined.functions.contains(method.attr.as_str()),
            _ => false,
        };
        if is_own {
            return !self.stores_any_key;
        }
        let is_keeping =
            root(callee).is_some_and(|name| self.defined.ties.get(name) == Some(&Binding::Keeping));
        let is_method =
            matches!(callee, Expr::Attribute(method) if KEEPING_METHODS.contains(&method.attr.as_str()));
        is_keeping || is_method
    }

    /// Whether the program reads a value of an earlier run that also left functions: these may change
    /// everything that has a name.
    pub(super) fn meets_strangers(&self) -> bool {
        let mut reads = self.reads.keys();
        self.names.has_functions() && reads.any(|name| self.names.get(name) == Some(None))
    }

    /// Keys that the call looks up safely, or stores.
    fn excuse(&mut self, call: &'a ExprCall) {
        let arguments = &call.arguments;
        let method = match call.func.as_ref() {
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            Expr::Name(name) => name.id.as_str(),
            _ => return,
        };
        if matches!(
            method,
            "get" | "setdefault" | "pop" | "hasattr" | "getattr" | "__setitem__"
        ) {
            let texts = arguments.args.iter().filter_map(text);
            self.excused.extend(texts);
        }
        if matches!(method, "setdefault" | "__setitem__" | "setitem") {
            self.stored.extend(arguments.args.iter().filter_map(text));
        }
        if method == "update" {
            let names = arguments
                .keywords
                .iter()
                .filter_map(|keyword| keyword.arg.as_ref());
            for name in names {
                self.store(name.as_str());
            }
            for argument in &arguments.args {
                self.excuse_keys(argument);
            }
        }
        self.stores_any_key |= matches!(method, "update" | "setdefault" | "__setitem__" | "setitem");
    }

    /// Texts among these are held as values.
    fn hold(&mut self, values: &'a [Expr]) {
        for text in values.iter().filter_map(text) {
            self.excused.insert(text);
            self.asked.insert(text);
        }
    }

    fn store(&mut self, key: &'a str) {
        self.excused.insert(key);
        self.stored.insert(key);
    }

    fn excuse_keys(&mut self, dict: &'a Expr) {
        if let Expr::Dict(dict) = dict {
            let keys = dict.items.iter().filter_map(|item| item.key.as_ref());
            keys.filter_map(text).for_each(|key| self.store(key));
        }
    }

    fn attribute(&mut self, attribute: &'a ExprAttribute) {
        if attribute.ctx != ExprContext::Load {
            self.store(attribute.attr.as_str());
        }
        self.is_dynamic |= attribute.attr.as_str() == "modules" && self.is_sys(&attribute.value);
        self.visit_expr(&attribute.value);
    }

    fn subscript(&mut self, subscript: &'a ExprSubscript) {
        if subscript.ctx != ExprContext::Load {
            match text(&subscript.slice) {
                Some(key) => self.store(key),
                None => self.stores_any_key = true,
            }
        }
        let look = match subscript.ctx {
            ExprContext::Load => Look::Parts,
            _ => Look::Whole,
        };
        self.looked_at(&subscript.value, look);
        if subscript.ctx != ExprContext::Load {
            self.fragile.extend(root(&subscript.value));
        }
        self.key(&subscript.slice);
    }

    /// A literal key at its place of use is not held as a value.
    fn key(&mut self, key: &'a Expr) {
        if !key.is_string_literal_expr() {
            self.visit_expr(key);
        }
    }

    fn follow_for(&mut self, followed: &'a StmtFor) {
        self.looked_at(&followed.iter, Look::Parts);
        self.visit_expr(&followed.target);
        self.visit_body(&followed.body);
        self.visit_body(&followed.orelse);
    }

    fn imported_from(&mut self, import: &'a StmtImportFrom) {
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        self.imports(module);
        for alias in &import.names {
            let name = alias.name.as_str();
            self.imports(&format!("{module}.{name}"));
            self.is_dynamic |= module == "sys" && name == "modules";
            self.is_starred |= name == "*";
        }
    }

    fn imported(&mut self, alias: &'a Alias) {
        self.imports(&alias.name);
        // Under another name, `sys` is not recognised.
        self.is_dynamic |= alias.name.as_str() == "sys" && alias.asname.is_some();
    }

    fn imports(&mut self, module: &str) {
        let is_within = |reaching: &str| {
            let rest = module.strip_prefix(reaching);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.is_dynamic |= REACHING_MODULES.iter().any(|reaching| is_within(reaching));
    }

    fn is_sys(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Name(name) => name.id.as_str() == "sys",
            Expr::Attribute(attribute) => attribute.attr.as_str() == "sys",
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for Facts<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Global(global) => self.shared.extend(global.names.iter().map(|name| name.as_str())),
            Stmt::Nonlocal(outer) => self.shared.extend(outer.names.iter().map(|name| name.as_str())),
            Stmt::For(followed) => return self.follow_for(followed),
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.imported(alias)),
            Stmt::ImportFrom(import) => self.imported_from(import),
            Stmt::FunctionDef(function) if !function.decorator_list.is_empty() => {
                self.handed.insert(function.name.as_str());
            }
            Stmt::Assign(assign) => {
                if let ([Expr::Name(name)], Expr::Lambda(lambda)) =
                    (assign.targets.as_slice(), assign.value.as_ref())
                {
                    self.named_lambdas.push((&name.id, lambda.range));
                }
            }
            // Docstrings, and texts that nobody reads.
            Stmt::Expr(alone) if alone.value.is_string_literal_expr() => return,
            _ => {}
        }
        visitor::walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.read(&name.id);
                self.fragile.insert(&name.id);
            }
            Expr::Name(name) if name.ctx == ExprContext::Del => self.is_dynamic |= is_root(&name.id),
            Expr::List(list) => {
                self.hold(&list.elts);
                visitor::walk_expr(self, expression);
            }
            Expr::Tuple(tuple) => {
                self.hold(&tuple.elts);
                visitor::walk_expr(self, expression);
            }
            Expr::Set(set) => {
                self.hold(&set.elts);
                visitor::walk_expr(self, expression);
            }
            Expr::Await(awaited) => match awaited.value.as_ref() {
                Expr::Call(call) => self.call(call),
                other => self.visit_expr(other),
            },
            Expr::Call(call) => {
                // Other code awaits the call.
                let own = called(&call.func).filter(|name| self.defined.coroutines.contains(name));
                self.handed.extend(own);
                self.call(call);
            }
            Expr::StringLiteral(literal) => {
                self.excused.insert(literal.value.to_str());
            }
            Expr::Dict(dict) => {
                for item in &dict.items {
                    item.key.iter().for_each(|key| self.key(key));
                    self.visit_expr(&item.value);
                }
            }
            Expr::Attribute(attribute) => self.attribute(attribute),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Compare(compare) => {
                if compare
                    .ops
                    .iter()
                    .any(|op| matches!(op, CmpOp::In | CmpOp::NotIn))
                {
                    self.excused.extend(text(&compare.left));
                    self.asked.extend(text(&compare.left));
                }
                visitor::walk_expr(self, expression);
            }
            _ => visitor::walk_expr(self, expression),
        }
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.looked_at(&comprehension.iter, Look::Parts);
        self.visit_expr(&comprehension.target);
        comprehension
            .ifs
            .iter()
            .for_each(|condition| self.visit_expr(condition));
    }
}

/// The effect on a list whose items are passed one by one.
fn parts(look: Look) -> Look {
    if look == Look::Harmless { look } else { Look::Parts }
}

fn text(expression: &Expr) -> Option<&str> {
    expression
        .as_string_literal_expr()
        .map(|literal| literal.value.to_str())
}

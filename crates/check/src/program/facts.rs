//! What is looked for in a whole program before it is followed: whatever makes later knowledge of it uncertain.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, CmpOp, Comprehension, Expr, ExprAttribute, ExprCall, ExprContext, ExprSubscript, Stmt, StmtFor,
    StmtImportFrom,
};

/// Functions by which a program may change what any name means.
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

/// Modules by which it may do so, with all that they contain.
const REACHING_MODULES: [&str; 4] = ["builtins", "importlib", "codeyard", "unittest.mock"];

/// The names under which programs find the trees of tools.
const ROOTS: [&str; 6] = [
    "tools",
    "servers",
    "mcp",
    "mcp_servers",
    "runtime",
    "__toolcall__",
];

/// Functions that look at a list or dict and keep nothing of it.
const LOOKING: [&str; 20] = [
    "print",
    "len",
    "str",
    "repr",
    "sorted",
    "list",
    "sum",
    "min",
    "max",
    "set",
    "tuple",
    "dict",
    "any",
    "all",
    "enumerate",
    "zip",
    "reversed",
    "next",
    "map",
    "filter",
];

/// Methods that do.
const LOOKING_METHODS: [&str; 7] = ["get", "keys", "values", "items", "copy", "index", "count"];

#[derive(Default)]
pub(super) struct Facts<'a> {
    /// Whether names may be bound in ways that the text does not show.
    pub(super) is_dynamic: bool,
    /// Names declared `global` or `nonlocal` somewhere.
    pub(super) shared: HashSet<&'a str>,
    /// Names of lists and dicts that may be changed by who has them: they occur elsewhere than as arguments of tools.
    pub(super) fragile: HashSet<&'a str>,
    /// Keys that the program stores, asks for with `in`, or asks for in a way that does not fail.
    pub(super) excused: HashSet<&'a str>,
    /// Texts that the program looks for among others: names of tools and servers that may not be there.
    pub(super) asked: HashSet<&'a str>,
    /// How often each name is read.
    pub(super) reads: HashMap<&'a str, usize>,
    /// Functions that the program defines.
    pub(super) functions: HashSet<&'a str>,
    /// Whether it imports something by a star, which may be another function of such a name.
    is_starred: bool,
    /// Whether it stores keys that are not written out.
    pub(super) stores_any_key: bool,
}

// === impl Facts ===

impl<'a> Facts<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Facts<'a> {
        let mut facts = Facts::default();
        facts.visit_body(body);
        facts
    }

    fn read(&mut self, name: &'a str) {
        *self.reads.entry(name).or_default() += 1;
        self.is_dynamic |= REACHES_NAMES.contains(&name);
    }

    /// A name that is only looked at does not become fragile.
    fn looked_at(&mut self, value: &'a Expr, is_harmless: bool) {
        match value {
            Expr::Name(name) if is_harmless => self.read(&name.id),
            Expr::Starred(starred) => self.looked_at(&starred.value, true),
            Expr::Dict(dict) if is_harmless => {
                for item in &dict.items {
                    item.key.iter().for_each(|key| self.visit_expr(key));
                    self.looked_at(&item.value, true);
                }
            }
            other => self.visit_expr(other),
        }
    }

    fn call(&mut self, call: &'a ExprCall, is_awaited: bool) {
        match call.func.as_ref() {
            Expr::Attribute(method) if LOOKING_METHODS.contains(&method.attr.as_str()) => {
                self.looked_at(&method.value, true);
            }
            callee => self.visit_expr(callee),
        }
        let is_harmless = self.is_looking(&call.func) || self.is_tool(&call.func, is_awaited);
        for argument in &call.arguments.args {
            self.looked_at(argument, is_harmless);
        }
        for keyword in &call.arguments.keywords {
            self.looked_at(&keyword.value, is_harmless || keyword.arg.is_none());
        }
        self.excuse(call);
    }

    /// Whether a function of Python itself is called that changes nothing.
    fn is_looking(&self, callee: &Expr) -> bool {
        match callee {
            Expr::Name(name) => {
                LOOKING.contains(&name.id.as_str())
                    && !self.functions.contains(name.id.as_str())
                    && !self.is_starred
            }
            Expr::Attribute(function) => function.attr.as_str() == "dumps",
            _ => false,
        }
    }

    /// Whether what is called is a tool for all that its name says.
    fn is_tool(&self, callee: &Expr, is_awaited: bool) -> bool {
        let is_name = callee.is_name_expr();
        root(callee)
            .is_some_and(|name| is_root(name) || (is_name && is_awaited && !self.functions.contains(name)))
    }

    /// Keys that are asked for safely, or stored.
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
        if method == "update" {
            let names = arguments
                .keywords
                .iter()
                .filter_map(|keyword| keyword.arg.as_ref());
            self.excused.extend(names.map(|name| name.as_str()));
            for argument in &arguments.args {
                self.excuse_keys(argument);
            }
        }
        self.stores_any_key |= matches!(method, "update" | "setdefault" | "__setitem__" | "setitem");
    }

    fn excuse_keys(&mut self, dict: &'a Expr) {
        if let Expr::Dict(dict) = dict {
            let keys = dict.items.iter().filter_map(|item| item.key.as_ref());
            self.excused.extend(keys.filter_map(text));
        }
    }

    fn attribute(&mut self, attribute: &'a ExprAttribute) {
        if attribute.ctx != ExprContext::Load {
            self.excused.insert(attribute.attr.as_str());
        }
        self.is_dynamic |= attribute.attr.as_str() == "modules" && self.is_sys(&attribute.value);
        self.visit_expr(&attribute.value);
    }

    fn subscript(&mut self, subscript: &'a ExprSubscript) {
        if subscript.ctx != ExprContext::Load {
            match text(&subscript.slice) {
                Some(key) => {
                    self.excused.insert(key);
                }
                None => self.stores_any_key = true,
            }
        }
        self.looked_at(&subscript.value, subscript.ctx == ExprContext::Load);
        if subscript.ctx != ExprContext::Load {
            self.fragile.extend(root(&subscript.value));
        }
        self.visit_expr(&subscript.slice);
    }

    fn follow_for(&mut self, followed: &'a StmtFor) {
        self.looked_at(&followed.iter, true);
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
        // Under another name it is not known again.
        self.is_dynamic |= alias.name.as_str() == "sys" && alias.asname.is_some();
    }

    fn imports(&mut self, module: &str) {
        let is_within = |reaching: &str| {
            let rest = module.strip_prefix(reaching);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.is_dynamic |= REACHING_MODULES.iter().any(|reaching| is_within(reaching));
    }

    /// Whether an expression may be the module `sys`.
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
            Stmt::FunctionDef(function) => {
                self.functions.insert(function.name.as_str());
            }
            // A part of it has another name then.
            Stmt::Assign(assign) if assign.value.is_subscript_expr() => {
                self.fragile.extend(root(&assign.value))
            }
            Stmt::For(followed) => return self.follow_for(followed),
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.imported(alias)),
            Stmt::ImportFrom(import) => self.imported_from(import),
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
                self.asked.extend(list.elts.iter().filter_map(text));
                visitor::walk_expr(self, expression);
            }
            Expr::Tuple(tuple) => {
                self.asked.extend(tuple.elts.iter().filter_map(text));
                visitor::walk_expr(self, expression);
            }
            Expr::Await(awaited) => match awaited.value.as_ref() {
                Expr::Call(call) => self.call(call, true),
                other => self.visit_expr(other),
            },
            Expr::Call(call) => self.call(call, false),
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
        self.looked_at(&comprehension.iter, true);
        self.visit_expr(&comprehension.target);
        comprehension
            .ifs
            .iter()
            .for_each(|condition| self.visit_expr(condition));
    }
}

/// The name that a chain of attributes and items begins with.
fn root(mut part: &Expr) -> Option<&str> {
    loop {
        part = match part {
            Expr::Attribute(attribute) => &attribute.value,
            Expr::Subscript(subscript) => &subscript.value,
            Expr::Name(name) => return Some(&name.id),
            _ => return None,
        }
    }
}

fn is_root(name: &str) -> bool {
    ROOTS.contains(&name) || name.starts_with("mcp_")
}

/// The text of a literal.
fn text(expression: &Expr) -> Option<&str> {
    expression
        .as_string_literal_expr()
        .map(|literal| literal.value.to_str())
}

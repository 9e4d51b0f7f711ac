//! Which errors of calls and missing fields a statement catches.

use std::collections::HashSet;

use ruff_python_ast::{ExceptHandler, Expr, StmtTry, StmtWith};

/// Exceptions of a missing key or attribute, with their base classes.
pub(super) const MISSING: [&str; 7] = [
    "KeyError",
    "AttributeError",
    "LookupError",
    "IndexError",
    "TypeError",
    "Exception",
    "BaseException",
];

/// Exceptions of a failing call, with their base classes.
pub(super) const FAILING: [&str; 4] = ["ToolError", "MCPError", "Exception", "BaseException"];

/// Whether a handler catches one of these exceptions; an unknown expression may.
fn catches(handler: &ExceptHandler, kinds: &[&str]) -> bool {
    let ExceptHandler::ExceptHandler(handler) = handler;
    match handler.type_.as_deref() {
        None => true,
        Some(Expr::Tuple(several)) => several.elts.iter().any(|kind| may_be(kind, kinds)),
        Some(kind) => may_be(kind, kinds),
    }
}

fn may_be(kind: &Expr, kinds: &[&str]) -> bool {
    match kind {
        Expr::Name(name) => may_be_called(&name.id, kinds),
        Expr::Attribute(member) => may_be_called(member.attr.as_str(), kinds),
        _ => true,
    }
}

fn may_be_called(name: &str, kinds: &[&str]) -> bool {
    kinds.contains(&name) || !(name.ends_with("Error") || name.ends_with("Exception"))
}

/// Whether a statement catches one of these exceptions.
pub(super) fn forgives(followed: &StmtTry, kinds: &[&str]) -> bool {
    followed.handlers.iter().any(|handler| catches(handler, kinds))
}

/// Whether a `with` statement may suppress its body's exceptions.
pub(super) fn suppresses(followed: &StmtWith, own: &HashSet<&str>) -> bool {
    let mut managers = followed.items.iter().map(|item| &item.context_expr);
    managers.any(|manager| match manager {
        Expr::Call(call) => called(&call.func).is_some_and(|name| name == "suppress" || own.contains(name)),
        manager => called(manager).is_some_and(|name| own.contains(name)),
    })
}

/// The function's own name, without its module or object.
pub(super) fn called(function: &Expr) -> Option<&str> {
    match function {
        Expr::Name(function) => Some(&function.id),
        Expr::Attribute(function) => Some(function.attr.as_str()),
        _ => None,
    }
}

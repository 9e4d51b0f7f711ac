//! Follows statements: what they bind, and in which order they may run.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    ExceptHandler, Expr, Stmt, StmtAssign, StmtClassDef, StmtFor, StmtFunctionDef, StmtIf, StmtMatch,
    StmtTry, StmtWhile, StmtWith,
};

use catalog::Step;
use serde_json::{Value as Json, json};

use super::bindings;
use super::exceptions::{FAILING, MISSING, forgives, suppresses};
use super::reading::MistakeKind;
use super::scope::ScopeKind;
use super::value::Value;
use super::walker::Walker;

// === impl Walker ===

impl<'a> Walker<'a> {
    pub(super) fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Expr(alone) => {
                let value = self.value(&alone.value);
                self.drop_call(&alone.value, &value);
            }
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.value(value);
                    self.target(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => {
                let changed = self.value_of_target(&assign.target);
                self.doubt(&changed);
                self.value(&assign.value);
                self.target(&assign.target, Value::Unknown);
            }
            Stmt::Return(returned) => {
                if let Some(value) = &returned.value {
                    let known = self.value(value);
                    if self.scope().kind == ScopeKind::Module {
                        self.drop_call(value, &known);
                    }
                }
            }
            Stmt::For(followed) => self.follow_for(followed),
            Stmt::While(followed) => self.follow_while(followed),
            Stmt::If(followed) => self.follow_if(followed),
            Stmt::With(followed) => self.follow_with(followed),
            Stmt::Try(followed) => self.follow_try(followed),
            Stmt::Match(followed) => self.follow_match(followed),
            Stmt::FunctionDef(function) => self.define(function),
            Stmt::ClassDef(class) => self.define_class(class),
            Stmt::Delete(deleted) => {
                for target in &deleted.targets {
                    self.target(target, Value::Unknown);
                }
            }
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::TypeAlias(alias) => self.target(&alias.name, Value::Unknown),
            _ => visitor::walk_stmt(self, statement),
        }
    }

    /// Nothing can await this call any more.
    fn drop_call(&mut self, expression: &'a Expr, value: &Value) {
        if let Value::Call(call) = value {
            let line = self.line(expression);
            self.mistake(line, *call, MistakeKind::NeverAwaited);
        }
    }

    fn assign(&mut self, assign: &'a StmtAssign) {
        let value = self.value(&assign.value);
        if let ([Expr::Name(name)], Value::Call(call)) = (assign.targets.as_slice(), &value) {
            let is_read = self.facts.reads.contains_key(name.id.as_str());
            if !is_read
                && !self.facts.shared.contains(name.id.as_str())
                && self.scope().kind != ScopeKind::Class
            {
                let line = self.line(assign.value.as_ref());
                self.mistake(line, *call, MistakeKind::NeverAwaited);
            }
        }
        for target in &assign.targets {
            self.target(target, value.clone());
        }
    }

    /// Binds the names in a target.
    pub(super) fn target(&mut self, target: &'a Expr, value: Value) {
        match target {
            Expr::Name(name) if self.scope().kind == ScopeKind::Comprehension => {
                self.bind_own(&name.id, value)
            }
            Expr::Name(name) => self.bind(&name.id, value),
            Expr::Tuple(tuple) => self.targets(&tuple.elts, &value),
            Expr::List(list) => self.targets(&list.elts, &value),
            Expr::Starred(rest) => self.target(&rest.value, Value::Unknown),
            Expr::Attribute(_) | Expr::Subscript(_) => self.store(target),
            _ => {
                self.value(target);
            }
        }
    }

    fn targets(&mut self, targets: &'a [Expr], value: &Value) {
        let has_rest = targets.iter().any(Expr::is_starred_expr);
        for (at, target) in targets.iter().enumerate() {
            let part = match value {
                Value::List(items) if !has_rest && items.len() == targets.len() => items[at].clone(),
                Value::Each(item) => Value::clone(item),
                _ => Value::Unknown,
            };
            self.target(target, part);
        }
    }

    /// Replaces a part of something. A change to the tree of tools makes everything about it unknown.
    fn store(&mut self, target: &'a Expr) {
        let (whole, key) = match target {
            Expr::Attribute(attribute) => {
                let name = Value::Scalar(json!(attribute.attr.as_str()));
                (self.value(&attribute.value), Some(name))
            }
            Expr::Subscript(subscript) => (self.value(&subscript.value), Some(self.value(&subscript.slice))),
            _ => return,
        };
        match whole {
            Value::Known(_) => self.facts.is_dynamic = true,
            // Only this part of the result changes.
            Value::Result(origin) => match key {
                Some(Value::Scalar(Json::String(key))) => self.doubt(&origin.then(Step::Key(key))),
                _ => self.uncertain.push(origin),
            },
            _ => {}
        }
    }

    fn value_of_target(&mut self, target: &'a Expr) -> Value {
        match target {
            Expr::Name(name) => self.lookup(&name.id),
            _ => Value::Unknown,
        }
    }

    fn follow_for(&mut self, followed: &'a StmtFor) {
        let iterated = self.value(&followed.iter);
        if !followed.is_async {
            self.refuse_call(&followed.iter, &iterated);
        }
        self.block(|walker| {
            walker.blur(bindings::of_body(&followed.body));
            let item = walker.item(&iterated);
            walker.target(&followed.target, item);
            walker.body(&followed.body);
            walker.body(&followed.orelse);
        });
    }

    fn follow_while(&mut self, followed: &'a StmtWhile) {
        self.block(|walker| {
            walker.blur(bindings::of_body(&followed.body));
            walker.blur(bindings::of_expression(&followed.test));
            walker.value(&followed.test);
            walker.body(&followed.body);
            walker.body(&followed.orelse);
        });
    }

    fn follow_if(&mut self, followed: &'a StmtIf) {
        self.value(&followed.test);
        self.block(|walker| {
            walker.way(|walker| walker.body(&followed.body));
            for clause in &followed.elif_else_clauses {
                if let Some(test) = &clause.test {
                    walker.value(test);
                }
                walker.way(|walker| walker.body(&clause.body));
            }
        });
    }

    fn follow_with(&mut self, followed: &'a StmtWith) {
        for item in &followed.items {
            self.value(&item.context_expr);
            // A suppressed exception may come from a call.
            if let Some(target) = &item.optional_vars {
                self.target(target, Value::Unknown);
            }
        }
        let suppresses = suppresses(followed, &self.facts.defined.functions);
        self.forgiving += usize::from(suppresses);
        self.catching += usize::from(suppresses);
        self.block(|walker| walker.body(&followed.body));
        self.forgiving -= usize::from(suppresses);
        self.catching -= usize::from(suppresses);
    }

    fn follow_try(&mut self, followed: &'a StmtTry) {
        let (forgives, catches) = (forgives(followed, &MISSING), forgives(followed, &FAILING));
        self.block(|walker| {
            let mark = walker.mark();
            walker.forgiving += usize::from(forgives);
            walker.catching += usize::from(catches);
            walker.body(&followed.body);
            walker.forgiving -= usize::from(forgives);
            walker.catching -= usize::from(catches);
            walker.body(&followed.orelse);
            for handler in &followed.handlers {
                let ExceptHandler::ExceptHandler(handler) = handler;
                walker.settle(mark);
                if let Some(kind) = &handler.type_ {
                    walker.value(kind);
                }
                if let Some(name) = &handler.name {
                    walker.bind(name.as_str(), Value::Unknown);
                }
                walker.body(&handler.body);
            }
            walker.settle(mark);
            walker.body(&followed.finalbody);
        });
    }

    fn follow_match(&mut self, followed: &'a StmtMatch) {
        let subject = self.value(&followed.subject);
        // A pattern asks what the value is.
        self.doubt(&subject);
        self.block(|walker| {
            for case in &followed.cases {
                walker.way(|walker| {
                    for name in bindings::of_pattern(&case.pattern).into_keys() {
                        walker.bind(name, Value::Unknown);
                    }
                    if let Some(guard) = &case.guard {
                        walker.value(guard);
                    }
                    walker.body(&case.body);
                });
            }
        });
    }

    fn define(&mut self, function: &'a StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.value(&decorator.expression);
        }
        self.visit_parameters(&function.parameters);
        self.bind(function.name.as_str(), Value::Unknown);
        self.scope().functions.push(function);
    }

    fn define_class(&mut self, class: &'a StmtClassDef) {
        for decorator in &class.decorator_list {
            self.value(&decorator.expression);
        }
        if let Some(arguments) = &class.arguments {
            self.visit_arguments(arguments);
        }
        self.within(ScopeKind::Class, bindings::of_body(&class.body), |walker| {
            walker.body(&class.body);
        });
        self.bind(class.name.as_str(), Value::Unknown);
    }

    /// A call that is not awaited has no parts.
    pub(super) fn refuse_call(&mut self, expression: &'a Expr, value: &Value) {
        if let Value::Call(call) = value {
            let line = self.line(expression);
            self.mistake(line, *call, MistakeKind::UsedUnawaited);
        }
    }

    pub(super) fn part(&self, whole: &Value, step: Step) -> Value {
        match whole {
            Value::Result(origin) => origin.then(step),
            _ => Value::Unknown,
        }
    }
}

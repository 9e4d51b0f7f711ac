//! What expressions evaluate to, and the fields of results that they read.

use catalog::Step;
use ruff_python_ast::visitor;
use ruff_python_ast::{
    Comprehension, Expr, ExprAttribute, ExprAwait, ExprContext, ExprDict, ExprLambda, ExprSubscript, Number,
    UnaryOp,
};
use serde_json::{Value as Json, json};

use super::bindings::{self, Bound};
use super::reading::{MistakeKind, Use};
use super::scope::ScopeKind;
use super::value::{Dict, Form, MAX_TEXT, Meaning, Origin, Value};
use super::walker::Walker;

/// Attributes of the Python values that a result may be.
const METHODS: [&str; 78] = [
    "append",
    "as_integer_ratio",
    "bit_count",
    "bit_length",
    "capitalize",
    "casefold",
    "center",
    "clear",
    "conjugate",
    "copy",
    "count",
    "denominator",
    "encode",
    "endswith",
    "expandtabs",
    "extend",
    "find",
    "format",
    "format_map",
    "from_bytes",
    "fromhex",
    "fromkeys",
    "get",
    "hex",
    "imag",
    "index",
    "insert",
    "is_integer",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "items",
    "join",
    "keys",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "numerator",
    "partition",
    "pop",
    "popitem",
    "raw",
    "real",
    "remove",
    "removeprefix",
    "removesuffix",
    "replace",
    "reverse",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "setdefault",
    "sort",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "to_bytes",
    "translate",
    "update",
    "upper",
    "values",
    "zfill",
];

/// Keys of a bridge result that its raw result has.
const RAW_KEYS: [&str; 3] = ["content", "structuredContent", "isError"];

/// Attributes of a call that is not awaited.
const CALL_ATTRIBUTES: [&str; 6] = ["send", "throw", "close", "label", "filename", "line"];

// === impl Walker ===

impl<'a> Walker<'a> {
    /// Follows an expression; returns its value.
    pub(super) fn value(&mut self, expression: &'a Expr) -> Value {
        self.take_steps(1);
        if self.is_spent() {
            return Value::Unknown;
        }
        match expression {
            Expr::Name(name) if name.ctx == ExprContext::Load => self.lookup(&name.id),
            Expr::StringLiteral(text) => Value::text(text.value.to_str()),
            Expr::NumberLiteral(number) => scalar(&number.value),
            Expr::BooleanLiteral(truth) => Value::Scalar(json!(truth.value)),
            Expr::NoneLiteral(_) => Value::Scalar(Json::Null),
            Expr::FString(_) => {
                visitor::walk_expr(self, expression);
                Value::Text
            }
            Expr::UnaryOp(unary) => {
                let operand = self.value(&unary.operand);
                negated(unary.op, operand)
            }
            Expr::Attribute(attribute) => self.attribute(attribute),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Await(awaited) => self.awaited(awaited),
            Expr::Call(call) => self.call(call),
            Expr::List(list) => self.list(&list.elts),
            Expr::Tuple(tuple) => self.list(&tuple.elts),
            Expr::Dict(dict) => self.dict(dict),
            Expr::Named(named) => {
                let value = self.value(&named.value);
                if let Expr::Name(name) = named.target.as_ref() {
                    self.bind(&name.id, value.clone());
                }
                value
            }
            Expr::BoolOp(operation) => {
                let values = operation.values.iter().map(|part| self.value(part).bound());
                let values: Vec<Value> = values.collect();
                let either = values.into_iter().reduce(Value::or);
                either
                    .filter(|value| matches!(value, Value::Result(_)))
                    .unwrap_or(Value::Unknown)
            }
            Expr::If(choice) => {
                self.value(&choice.test);
                let (body, otherwise) = (self.value(&choice.body), self.value(&choice.orelse));
                body.bound().or(otherwise.bound())
            }
            Expr::ListComp(made) => self.comprehension(&made.generators, &made.elt),
            Expr::SetComp(made) => self.comprehension(&made.generators, &made.elt),
            Expr::Generator(made) => self.comprehension(&made.generators, &made.elt),
            Expr::DictComp(made) => {
                self.within(ScopeKind::Comprehension, targets(&made.generators), |walker| {
                    walker.generators(&made.generators);
                    if let Some(key) = &made.key {
                        walker.value(key);
                    }
                    walker.value(&made.value);
                });
                Value::Unknown
            }
            Expr::Lambda(lambda) => {
                self.lambda(lambda, Value::Unknown);
                Value::Unknown
            }
            _ => {
                visitor::walk_expr(self, expression);
                Value::Unknown
            }
        }
    }

    fn attribute(&mut self, attribute: &'a ExprAttribute) -> Value {
        let whole = self.value(&attribute.value);
        let name = attribute.attr.as_str();
        match &whole {
            Value::Known(meaning) => meaning.member(name).map_or(Value::Unknown, Value::Known),
            Value::Result(origin) if !METHODS.contains(&name) && !name.starts_with("__") => {
                self.field(origin, name, self.line(&attribute.attr))
            }
            Value::Call(_) if !CALL_ATTRIBUTES.contains(&name) && !name.starts_with("__") => {
                self.refuse_call(&attribute.value, &whole);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn field(&mut self, origin: &Origin, name: &str, line: u32) -> Value {
        let form = self.calls[origin.call].form;
        if form == Form::Bridge && RAW_KEYS.contains(&name) || name.len() > MAX_TEXT {
            return Value::Unknown;
        }
        self.used(Use {
            line,
            call: origin.call,
            path: origin.path.clone(),
            field: name.to_owned(),
        });
        origin.then(Step::Key(name.to_owned()))
    }

    fn subscript(&mut self, subscript: &'a ExprSubscript) -> Value {
        let whole = self.value(&subscript.value);
        let key = self.value(&subscript.slice);
        let is_slice = subscript.slice.is_slice_expr();
        match (&whole, &key) {
            (Value::Known(meaning), Value::Scalar(Json::String(name))) => {
                meaning.item(name).map_or(Value::Unknown, Value::Known)
            }
            (Value::Result(origin), Value::Scalar(Json::String(name))) => {
                self.field(origin, name, self.line(subscript.slice.as_ref()))
            }
            (Value::Result(_), Value::Scalar(Json::Number(_))) => self.part(&whole, Step::Item),
            (Value::Result(_) | Value::Each(_), _) if is_slice => whole,
            (Value::Each(item), _) => Value::clone(item),
            (Value::List(items), Value::Scalar(at)) => {
                let item = at.as_u64().and_then(|at| usize::try_from(at).ok());
                item.and_then(|at| items.get(at))
                    .cloned()
                    .unwrap_or(Value::Unknown)
            }
            (Value::Dict(dict), Value::Scalar(Json::String(name))) => dict.get(name),
            (Value::Call(_), _) => {
                self.refuse_call(&subscript.value, &whole);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    fn awaited(&mut self, awaited: &'a ExprAwait) -> Value {
        let value = self.value(&awaited.value);
        match value {
            Value::Result(origin) if origin.path.is_empty() && awaited.value.is_call_expr() => {
                // Only a blocking call returns its result without `await`.
                let line = self.line(awaited);
                self.mistake(line, origin.call, MistakeKind::AwaitedResult);
                Value::Unknown
            }
            Value::Awaitable(value) => Value::clone(&value),
            other => other.awaited(),
        }
    }

    fn list(&mut self, items: &'a [Expr]) -> Value {
        let values: Vec<Value> = items.iter().map(|item| self.value(item)).collect();
        if items.iter().any(Expr::is_starred_expr) {
            return Value::Unknown;
        }
        Value::list(values)
    }

    fn dict(&mut self, dict: &'a ExprDict) -> Value {
        let mut made = Dict::default();
        for item in &dict.items {
            let key = item.key.as_ref().map(|key| self.value(key));
            let value = self.value(&item.value);
            match key {
                Some(Value::Scalar(Json::String(name))) => made.put(name, value),
                Some(_) => made.open(),
                None => self.take(&mut made, &value),
            }
        }
        Value::dict(made)
    }

    /// Merges another dict, as `**` does.
    pub(super) fn take(&mut self, made: &mut Dict, other: &Value) {
        match other {
            Value::Dict(other) => {
                self.take_steps(other.items.len());
                made.take(other);
            }
            _ => made.open(),
        }
    }

    fn comprehension(&mut self, generators: &'a [Comprehension], item: &'a Expr) -> Value {
        self.within(ScopeKind::Comprehension, targets(generators), |walker| {
            walker.generators(generators);
            Value::each(walker.value(item))
        })
    }

    fn generators(&mut self, generators: &'a [Comprehension]) {
        for generator in generators {
            let iterated = self.value(&generator.iter);
            if !generator.is_async {
                self.refuse_call(&generator.iter, &iterated);
            }
            let item = self.item(&iterated);
            self.target(&generator.target, item);
            for condition in &generator.ifs {
                self.value(condition);
            }
        }
    }

    /// Follows a lambda whose first parameter is `first`.
    pub(super) fn lambda(&mut self, lambda: &'a ExprLambda, first: Value) -> Value {
        let names = || {
            lambda
                .parameters
                .iter()
                .flat_map(|parameters| bindings::parameters(parameters))
        };
        let bound: Bound<'a> = names().map(|name| (name, 1)).collect();
        let is_forgiven = self.facts.forgiven_lambdas.contains(&lambda.range);
        let (forgiving, catching) = (self.forgiving, self.catching);
        self.forgiving += usize::from(is_forgiven);
        // Whether and where the lambda is called is unknown.
        self.catching += 1;
        let value = self.within(ScopeKind::Function, bound, |walker| {
            for (at, name) in names().enumerate() {
                let value = if at == 0 { first.clone() } else { Value::Unknown };
                walker.bind_own(name, value);
            }
            walker.value(&lambda.body)
        });
        (self.forgiving, self.catching) = (forgiving, catching);
        value
    }
}

fn targets(generators: &[Comprehension]) -> Bound<'_> {
    let mut bound = Bound::new();
    for generator in generators {
        bound.extend(bindings::of_expression(&generator.target));
    }
    bound
}

fn scalar(number: &Number) -> Value {
    match number {
        Number::Int(int) => int
            .as_u64()
            .map_or(Value::Unknown, |int| Value::Scalar(json!(int))),
        Number::Float(float) if float.is_finite() => Value::Scalar(json!(float)),
        Number::Float(_) | Number::Complex { .. } => Value::Unknown,
    }
}

fn negated(operator: UnaryOp, operand: Value) -> Value {
    let Value::Scalar(Json::Number(number)) = operand else {
        return Value::Unknown;
    };
    match operator {
        UnaryOp::UAdd => Value::Scalar(Json::Number(number)),
        UnaryOp::USub => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Value::Scalar(json!(int.wrapping_neg())),
            (None, Some(float)) if number.is_f64() => Value::Scalar(json!(-float)),
            _ => Value::Unknown,
        },
        UnaryOp::Invert | UnaryOp::Not => Value::Unknown,
    }
}

// === impl Meaning ===

impl Meaning {
    /// Whether calling it calls a tool.
    pub(super) fn is_callable(&self) -> bool {
        matches!(
            self,
            Meaning::Tool(..) | Meaning::CallTool | Meaning::ToolCall | Meaning::Starred(..)
        )
    }
}

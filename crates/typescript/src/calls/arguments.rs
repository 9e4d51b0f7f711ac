//! Reads the visible arguments of a call.

use oxc_ast::ast::{
    CallExpression, Expression, ObjectExpression, ObjectPropertyKind, PropertyKey, UnaryOperator,
};
use serde_json::{Map, Number, Value};
use types::FoundArguments;

/// Maximum depth of values that are read.
const MAX_DEPTH: usize = 32;

/// The arguments of a call, from the argument with index `at`.
pub fn of(call: &CallExpression<'_>, at: usize) -> FoundArguments {
    let given = call.arguments.get(at..).unwrap_or_default();
    if given.iter().any(|argument| argument.is_spread()) {
        return FoundArguments::Unknown;
    }
    match given {
        [] => known(Reader::default(), Map::new()),
        [one] => match one.as_expression() {
            Some(one) => single(one),
            None => FoundArguments::Unknown,
        },
        [_, _] => FoundArguments::Wrong("two values".to_owned()),
        more => FoundArguments::Wrong(format!("{} values", more.len())),
    }
}

fn single(argument: &Expression<'_>) -> FoundArguments {
    let wrong = |what: &str| FoundArguments::Wrong(what.to_owned());
    match argument.get_inner_expression() {
        Expression::ObjectExpression(object) => {
            let mut reader = Reader::default();
            let arguments = reader.object(object);
            known(reader, arguments)
        }
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => wrong("a string"),
        Expression::NumericLiteral(_) | Expression::BigIntLiteral(_) => wrong("a number"),
        Expression::BooleanLiteral(_) => wrong("a boolean"),
        Expression::ArrayExpression(_) => wrong("an array"),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => wrong("a function"),
        Expression::NullLiteral(_) => known(Reader::default(), Map::new()),
        Expression::Identifier(name) if name.name == "undefined" => known(Reader::default(), Map::new()),
        _ => FoundArguments::Unknown,
    }
}

fn known(reader: Reader, arguments: Map<String, Value>) -> FoundArguments {
    FoundArguments::Known {
        arguments,
        unknown: reader.unknown,
        open: reader.open,
    }
}

#[derive(Default)]
struct Reader {
    /// Path to the current value.
    path: Vec<String>,
    unknown: Vec<Vec<String>>,
    open: Vec<Vec<String>>,
}

impl Reader {
    fn object(&mut self, object: &ObjectExpression<'_>) -> Map<String, Value> {
        let mut read = Map::new();
        for property in &object.properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else {
                self.open.push(self.path.clone());
                continue;
            };
            let name = match &property.key {
                PropertyKey::StaticIdentifier(name) => name.name.to_string(),
                PropertyKey::StringLiteral(text) => text.value.to_string(),
                PropertyKey::NumericLiteral(number) => number.value.to_string(),
                _ => {
                    self.open.push(self.path.clone());
                    continue;
                }
            };
            // JSON leaves such a key out.
            if matches!(&property.value, Expression::Identifier(name) if name.name == "undefined") {
                self.open.push(self.path.clone());
                continue;
            }
            let value = self.below(name.clone(), &property.value);
            read.insert(name, value);
        }
        read
    }

    fn below(&mut self, name: String, value: &Expression<'_>) -> Value {
        self.path.push(name);
        let value = self.value(value);
        self.path.pop();
        value
    }

    /// A literal's value; for anything else, null and a note.
    fn value(&mut self, value: &Expression<'_>) -> Value {
        match value.get_inner_expression() {
            Expression::StringLiteral(text) => Value::from(text.value.as_str()),
            Expression::NumericLiteral(number) => self.number(number.value),
            Expression::BooleanLiteral(truth) => Value::from(truth.value),
            Expression::NullLiteral(_) => Value::Null,
            Expression::TemplateLiteral(text) if text.expressions.is_empty() => {
                match text.quasis.first().and_then(|part| part.value.cooked.as_ref()) {
                    Some(text) => Value::from(text.as_str()),
                    None => self.nothing(),
                }
            }
            Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => {
                match unary.argument.get_inner_expression() {
                    Expression::NumericLiteral(number) => self.number(-number.value),
                    _ => self.nothing(),
                }
            }
            Expression::ObjectExpression(object) if self.path.len() < MAX_DEPTH => {
                Value::Object(self.object(object))
            }
            Expression::ArrayExpression(array)
                if self.path.len() < MAX_DEPTH && array.elements.iter().all(|item| item.is_expression()) =>
            {
                let items = array.elements.iter().filter_map(|item| item.as_expression());
                let read = items
                    .enumerate()
                    .map(|(index, item)| self.below(index.to_string(), item));
                Value::Array(read.collect())
            }
            _ => self.nothing(),
        }
    }

    /// Whole numbers have no fraction in JSON.
    fn number(&mut self, number: f64) -> Value {
        const MAX_SAFE: f64 = 9_007_199_254_740_991.0;
        if number.fract() == 0.0 && number.abs() <= MAX_SAFE {
            #[expect(clippy::cast_possible_truncation, reason = "whole and in the range of i64")]
            return Value::from(number as i64);
        }
        Number::from_f64(number).map_or_else(|| self.nothing(), Value::Number)
    }

    fn nothing(&mut self) -> Value {
        self.unknown.push(self.path.clone());
        Value::Null
    }
}

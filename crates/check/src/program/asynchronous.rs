//! `asyncio` functions that take calls and return their results.

use ruff_python_ast::{Arguments, Expr};
use serde_json::Value as Json;

use super::value::Value;
use super::walker::Walker;

// === impl Walker ===

impl<'a> Walker<'a> {
    /// `asyncio.gather(...)`: a list of its arguments' results.
    pub(super) fn gather(&mut self, given: &'a Arguments) -> Value {
        let mut returns_errors = false;
        for keyword in &given.keywords {
            let value = self.value(&keyword.value);
            returns_errors |= value != Value::Scalar(Json::Bool(false));
        }
        let gathered = match given.args.as_ref() {
            [Expr::Starred(all)] => {
                let value = self.value(&all.value);
                Value::each(self.item(&value).awaited())
            }
            arguments => {
                let values: Vec<Value> = arguments
                    .iter()
                    .map(|argument| self.value(argument).awaited())
                    .collect();
                match arguments.iter().any(Expr::is_starred_expr) {
                    true => Value::Unknown,
                    false => Value::list(values),
                }
            }
        };
        if returns_errors {
            return Value::Unknown;
        }
        Value::awaitable(gathered)
    }

    /// `asyncio.create_task(...)` and the like: the first argument's result.
    pub(super) fn wrap(&mut self, given: &'a Arguments) -> Value {
        let values = self.all_of(given);
        Value::awaitable(values.first().map_or(Value::Unknown, Value::awaited))
    }
}

//! Calls: of tools, of functions that pass results on, and of anything else.

use catalog::Step;
use ruff_python_ast::{Arguments, Expr, ExprAttribute, ExprCall};
use serde_json::Value as Json;

use super::arguments;
use super::builtins::{ASKING, BLIND};
use super::reading::{Call, Given, MistakeKind};
use super::value::{Dict, Form, Meaning, Value};
use super::walker::Walker;

/// Methods that return a part of a dict or list, or change nothing.
const HARMLESS_METHODS: [&str; 5] = ["keys", "count", "index", "isdigit", "strip"];

/// Methods that change a value, so that its keys and items may differ from the call's result.
const CHANGING_METHODS: [&str; 10] = [
    "update",
    "setdefault",
    "pop",
    "popitem",
    "clear",
    "append",
    "extend",
    "insert",
    "__setitem__",
    "__ior__",
];

/// Functions that call their first argument with their keyword arguments.
const HANDING_ON: [&str; 2] = ["partial", "to_thread"];

// === impl Walker ===

impl<'a> Walker<'a> {
    pub(super) fn call(&mut self, call: &'a ExprCall) -> Value {
        if let Expr::Attribute(method) = call.func.as_ref()
            && let Some(value) = self.method(method, &call.arguments)
        {
            return value;
        }
        let callee = self.value(&call.func);
        match callee {
            Value::Known(meaning) if meaning.is_callable() => self.tool(call, &meaning),
            Value::Known(Meaning::Gather) => self.gather(&call.arguments),
            Value::Known(Meaning::Wrap) => self.wrap(&call.arguments),
            Value::Unbound => match call.func.as_ref() {
                Expr::Name(name) => self.builtin(&name.id, &call.arguments),
                _ => self.other(call),
            },
            _ => self.other(call),
        }
    }

    /// Any other call may change its arguments.
    fn other(&mut self, call: &'a ExprCall) -> Value {
        let keeps = self.facts.keeps(&call.func);
        let mut given = Vec::with_capacity(call.arguments.args.len());
        for argument in &call.arguments.args {
            let value = match argument {
                Expr::Starred(all) => self.value(&all.value),
                one => self.value(one),
            };
            if !keeps {
                self.hand_over(&value);
            }
            given.push(value);
        }
        for keyword in &call.arguments.keywords {
            let value = self.value(&keyword.value);
            if !keeps {
                self.hand_over(&value);
            }
        }
        self.references(call, &given);
        Value::Unknown
    }

    /// Tools passed to other functions. `asyncio.to_thread` and `functools.partial` also receive the
    /// arguments; other functions may do anything with the tool.
    fn references(&mut self, call: &'a ExprCall, given: &[Value]) {
        let function = match call.func.as_ref() {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return,
        };
        let calls = HANDING_ON.contains(&function);
        for (at, value) in given.iter().enumerate() {
            let Value::Known(Meaning::Tool(form, server, tool)) = value else {
                continue;
            };
            let arguments = match given {
                [_] if calls => self.named(&call.arguments),
                _ => Given::Unknown,
            };
            let line = self.line(&call.arguments.args[at]);
            let is_expected = !calls || self.is_expected(server, tool);
            self.found(Call {
                words: Vec::new(),
                is_expected,
                line,
                form: *form,
                server: server.to_string(),
                tool: tool.to_string(),
                starred: Vec::new(),
                arguments,
            });
        }
    }

    /// Keyword arguments, possibly incomplete.
    fn named(&mut self, given: &'a Arguments) -> Given {
        let Value::Dict(named) = arguments::dict(self, given) else {
            return Given::Unknown;
        };
        let items = named.items.clone();
        self.mapping(&Value::dict(Dict { items, open: true }))
    }

    /// Whether the program looks for the tool first, or catches the call's error.
    fn is_expected(&self, server: &str, tool: &str) -> bool {
        let asked = &self.facts.asked;
        let catches = self.catching > 0 || self.forgiving > 0 || self.facts.returns_errors;
        catches || asked.contains(server) || asked.contains(tool)
    }

    /// The function may change the value.
    fn hand_over(&mut self, given: &Value) {
        self.take_steps(given.weight());
        self.doubt(given);
    }

    /// Follows all arguments; returns the values of the positional ones.
    pub(super) fn all_of(&mut self, arguments: &'a Arguments) -> Vec<Value> {
        let values = arguments
            .args
            .iter()
            .map(|argument| self.value(argument))
            .collect();
        for keyword in &arguments.keywords {
            self.value(&keyword.value);
        }
        values
    }

    /// Follows a call of a tool. Names given as data must be written out.
    fn tool(&mut self, call: &'a ExprCall, meaning: &Meaning) -> Value {
        let given = &call.arguments;
        let line = self.line(call);
        let found = match meaning {
            Meaning::Tool(form, server, tool) => {
                let arguments = self.given(given);
                Some((*form, server.to_string(), tool.to_string(), arguments))
            }
            Meaning::Starred(_, name) => {
                let arguments = self.given(given);
                Some((Form::Bridge, String::new(), name.to_string(), arguments))
            }
            Meaning::CallTool => self.call_tool(given),
            Meaning::ToolCall => self.toolcall(given),
            _ => None,
        };
        let Some((form, server, tool, arguments)) = found else {
            return Value::Unknown;
        };
        let starred = match meaning {
            Meaning::Starred(servers, _) => servers
                .iter()
                .map(|(form, name)| (*form, name.to_string()))
                .collect(),
            _ => Vec::new(),
        };
        // Whether the name is a tool at all is unknown here.
        let is_certain = starred.is_empty();
        let is_expected = self.is_expected(&server, &tool);
        let number = self.found(Call {
            words: Vec::new(),
            is_expected,
            line,
            form,
            server,
            tool,
            starred,
            arguments,
        });
        match form {
            _ if !is_certain => Value::Unknown,
            Form::Blocking => Value::Call(number).awaited(),
            Form::Tools | Form::Bridge | Form::Data | Form::TypeScript | Form::Shell => Value::Call(number),
        }
    }

    /// `runtime.call_tool(server, tool, arguments=None)`.
    fn call_tool(&mut self, given: &'a Arguments) -> Option<(Form, String, String, Given)> {
        let mut values = self.all_of(given).into_iter();
        if given.args.iter().any(Expr::is_starred_expr) {
            return None;
        }
        let mut argument = |name: &str| {
            let named = given.find_keyword(name).map(|keyword| &keyword.value);
            values.next().or_else(|| named.map(|value| self.value(value)))
        };
        let (server, tool) = (argument("server")?, argument("tool")?);
        let mapping = argument("arguments");
        let (Value::Scalar(Json::String(server)), Value::Scalar(Json::String(tool))) = (server, tool) else {
            return None;
        };
        let arguments = match mapping {
            None | Some(Value::Scalar(Json::Null)) => arguments::none(),
            Some(value) => self.mapping(&value),
        };
        Some((Form::Data, server, tool, arguments))
    }

    /// `__toolcall__(tool, args)` or `__toolcall__(server, tool, args)`.
    fn toolcall(&mut self, given: &'a Arguments) -> Option<(Form, String, String, Given)> {
        let mut values = self.all_of(given);
        if given.args.iter().any(Expr::is_starred_expr) || !given.keywords.is_empty() {
            return None;
        }
        let arguments = match values.last()? {
            Value::Scalar(Json::String(_)) => arguments::none(),
            Value::Unknown | Value::Unbound | Value::Text => return None,
            _ => {
                let given = values.pop()?;
                self.mapping(&given)
            }
        };
        let names: Option<Vec<String>> = values.into_iter().map(text).collect();
        match names?.as_slice() {
            [tool] => Some((Form::Data, String::new(), tool.clone(), arguments)),
            [server, tool] => Some((Form::Data, server.clone(), tool.clone(), arguments)),
            _ => None,
        }
    }

    /// A method of a known value; `None` if it is not one.
    fn method(&mut self, method: &'a ExprAttribute, given: &'a Arguments) -> Option<Value> {
        let name = method.attr.as_str();
        let is_of_value = HARMLESS_METHODS.contains(&name)
            || CHANGING_METHODS.contains(&name)
            || matches!(
                name,
                "get" | "values" | "items" | "copy" | "sort" | "result" | "create_task"
            );
        if !is_of_value || self.is_of_tools(&method.value) {
            return None;
        }
        let whole = self.value(&method.value);
        match (&whole, name) {
            (Value::Result(_), "get") => {
                let given = self.all_of(given);
                Some(match given.first() {
                    Some(Value::Scalar(Json::String(key))) => self.part(&whole, Step::Key(key.clone())),
                    _ => Value::Unknown,
                })
            }
            (Value::Result(_), "sort") => {
                let item = self.item(&whole);
                self.keyed(given, &item);
                Some(Value::Unknown)
            }
            (Value::Result(_), "copy") => Some(whole),
            (Value::Result(_), _) if CHANGING_METHODS.contains(&name) => {
                self.doubt(&whole);
                self.all_of(given);
                Some(Value::Unknown)
            }
            (Value::Dict(dict), "get") => {
                let given = self.all_of(given);
                Some(match given.first() {
                    Some(Value::Scalar(Json::String(key))) => dict.get(key),
                    _ => Value::Unknown,
                })
            }
            (Value::Awaitable(value), "result") => Some(Value::clone(value)),
            // Of a task group.
            (_, "create_task") if !matches!(whole, Value::Known(_)) => Some(self.wrap(given)),
            (Value::Known(_), _) => None,
            (Value::Call(_), _) => {
                self.refuse_call(&method.value, &whole);
                self.all_of(given);
                Some(Value::Unknown)
            }
            _ => {
                self.all_of(given);
                Some(Value::Unknown)
            }
        }
    }

    /// Whether an expression is part of the tree of tools, where `get` and `update` are tools.
    fn is_of_tools(&self, expression: &Expr) -> bool {
        let mut part = expression;
        loop {
            part = match part {
                Expr::Attribute(attribute) => &attribute.value,
                Expr::Subscript(subscript) => &subscript.value,
                Expr::Name(name) => {
                    let known = self.lookup(&name.id);
                    return matches!(known, Value::Known(ref meaning) if *meaning != Meaning::ServerMap);
                }
                _ => return false,
            }
        }
    }

    fn builtin(&mut self, name: &str, given: &'a Arguments) -> Value {
        let values = match name {
            "sorted" | "min" | "max" => self.keyed_of(given),
            "filter" | "map" => return self.mapped(name, given),
            _ => self.all_of(given),
        };
        if BLIND.contains(&name) {
            self.refuse_unawaited(given, &values);
        }
        if ASKING.contains(&name)
            && let Some(Value::Result(origin)) = values.first()
        {
            self.uncertain.push(origin.clone());
        }
        let first = values.first().cloned().unwrap_or(Value::Unknown);
        match name {
            "sorted" | "list" | "tuple" | "reversed" | "iter" if values.len() == 1 => sequence(first),
            "min" | "max" | "next" if values.len() == 1 => self.item(&first),
            "next" if values.len() == 2 => self.item(&first).or(values[1].clone()),
            "enumerate" => {
                let item = self.item(&first);
                Value::each(Value::list(vec![Value::Unknown, item]))
            }
            "zip" => {
                let items = values.iter().map(|value| self.item(value)).collect();
                Value::each(Value::list(items))
            }
            "dict" if given.args.is_empty() => arguments::dict(self, given),
            "dict" if given.keywords.is_empty() => match first {
                Value::Dict(_) => first,
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// Reports calls inside arguments of a function that cannot await them.
    fn refuse_unawaited(&mut self, given: &'a Arguments, values: &[Value]) {
        for (argument, value) in given.args.iter().zip(values) {
            if let (Expr::Call(_), Value::Call(call)) = (argument, value) {
                let line = self.line(argument);
                self.mistake(line, *call, MistakeKind::NeverAwaited);
            }
        }
    }

    /// The arguments' values; `key=` is called with items of the first.
    fn keyed_of(&mut self, given: &'a Arguments) -> Vec<Value> {
        let values: Vec<Value> = given.args.iter().map(|argument| self.value(argument)).collect();
        let item = values.first().map_or(Value::Unknown, |value| self.item(value));
        self.keyed(given, &item);
        values
    }

    fn keyed(&mut self, given: &'a Arguments, item: &Value) {
        for keyword in &given.keywords {
            match &keyword.value {
                Expr::Lambda(lambda) => {
                    self.lambda(lambda, item.clone());
                }
                other => {
                    self.value(other);
                }
            }
        }
    }

    /// `map` and `filter` with a lambda.
    fn mapped(&mut self, name: &str, given: &'a Arguments) -> Value {
        let [function, rest @ ..] = given.args.as_ref() else {
            return Value::Unknown;
        };
        let values: Vec<Value> = rest.iter().map(|argument| self.value(argument)).collect();
        let item = values.first().map_or(Value::Unknown, |value| self.item(value));
        let made = match function {
            Expr::Lambda(lambda) => self.lambda(lambda, item.clone()),
            other => {
                self.value(other);
                if !self.facts.keeps(other) {
                    values.iter().for_each(|value| self.hand_over(value));
                }
                Value::Unknown
            }
        };
        Value::each(if name == "map" { made } else { item })
    }
}

/// A list of the same items.
fn sequence(value: Value) -> Value {
    match value {
        Value::Result(_) | Value::Each(_) | Value::List(_) => value,
        _ => Value::Unknown,
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Scalar(Json::String(text)) => Some(text),
        _ => None,
    }
}

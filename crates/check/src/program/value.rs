//! The known values of expressions.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use catalog::Step;
use serde_json::Value as Json;

/// Longest known text, name or key, in bytes.
pub(crate) const MAX_TEXT: usize = 256;

/// Steps from a result to a known part.
const MAX_PATH: usize = 16;

/// Parts of a known value, each counted at every occurrence.
const MAX_WEIGHT: usize = 10_000;

/// Depth of a known value.
const MAX_DEPTH: usize = 64;

/// Known keys of a dict.
const MAX_KEYS: usize = 1_000;

/// How the tools of a tree are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// `tools`: awaited.
    Tools,
    /// `mcp_<alias>`: awaited; results also have the keys of the raw result.
    Bridge,
    /// `servers`: not awaited.
    Blocking,
    /// Names as data: `runtime.call_tool`, `__toolcall__`.
    Data,
    /// `tools` of TypeScript: one object of arguments.
    TypeScript,
    /// `mcp call` of a shell.
    Shell,
}

/// A part of the tree of tools, or a function that the check understands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// All servers: `tools`, `servers`, `mcp.servers`.
    Servers(Form),
    /// `mcp_servers`: items are servers, attributes are not.
    ServerMap,
    Mcp,
    Runtime,
    Server(Form, Arc<str>),
    /// Server and tool, as written.
    Tool(Form, Arc<str>, Arc<str>),
    CallTool,
    ToolCall,
    /// A name that star imports such as `from mcp.servers.crm import *` may have bound: the servers, and the
    /// name.
    Starred(Arc<[(Form, Arc<str>)]>, Arc<str>),
    Asyncio,
    Gather,
    /// Returns the awaitable it receives: `create_task`, `wait_for`, `shield`, `ensure_future`.
    Wrap,
}

/// A part of a call's result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Origin {
    /// Index of the call.
    pub(crate) call: usize,
    pub(crate) path: Arc<[Step]>,
}

/// What is known of an expression's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Unknown,
    /// A name that nothing has bound.
    Unbound,
    Known(Meaning),
    /// A call that is not yet awaited.
    Call(usize),
    /// The result of a call, or a part of it.
    Result(Origin),
    /// `None`, a boolean, a number or a text.
    Scalar(Json),
    /// A list or tuple of these.
    List(Rc<Compound<Vec<Value>>>),
    /// A dict with these keys; if it is open, there may be others.
    Dict(Rc<Compound<Dict>>),
    /// A list of any length of such values.
    Each(Rc<Compound<Value>>),
    /// A text with unknown content.
    Text,
    /// Returns this value when awaited.
    Awaitable(Rc<Compound<Value>>),
}

/// A value made of others, with its size: reading all of it takes that many steps.
#[derive(Debug, PartialEq)]
pub(crate) struct Compound<T> {
    size: Size,
    parts: T,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Size {
    /// Number of values in it.
    weight: usize,
    depth: usize,
}

/// A dict as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Dict {
    pub(crate) items: BTreeMap<String, Value>,
    pub(crate) open: bool,
}

// === impl Origin ===

impl Origin {
    /// Whether the value on this path of a call's result is inside this part.
    pub(crate) fn holds(&self, call: usize, path: &[Step]) -> bool {
        self.call == call && path.starts_with(&self.path)
    }

    pub(crate) fn then(&self, step: Step) -> Value {
        if self.path.len() >= MAX_PATH {
            return Value::Unknown;
        }
        Value::Result(Origin {
            call: self.call,
            path: self.path.iter().cloned().chain([step]).collect(),
        })
    }
}

// === impl Compound ===

impl<T> Compound<T> {
    fn new(size: Size, parts: T) -> Rc<Compound<T>> {
        Rc::new(Compound { size, parts })
    }
}

impl<T> Deref for Compound<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.parts
    }
}

// === impl Value ===

impl Value {
    pub(crate) fn text(text: &str) -> Value {
        if text.len() > MAX_TEXT {
            return Value::Text;
        }
        Value::Scalar(Json::String(text.to_owned()))
    }

    pub(crate) fn list(items: Vec<Value>) -> Value {
        match size_of(items.iter()) {
            Some(size) => Value::List(Compound::new(size, items)),
            None => Value::Unknown,
        }
    }

    pub(crate) fn dict(dict: Dict) -> Value {
        match size_of(dict.items.values()) {
            Some(size) => Value::Dict(Compound::new(size, dict)),
            None => Value::Unknown,
        }
    }

    pub(crate) fn each(item: Value) -> Value {
        match size_of([&item]) {
            Some(size) => Value::Each(Compound::new(size, item)),
            None => Value::Unknown,
        }
    }

    pub(crate) fn awaitable(value: Value) -> Value {
        match size_of([&value]) {
            Some(size) => Value::Awaitable(Compound::new(size, value)),
            None => Value::Unknown,
        }
    }

    fn size(&self) -> Size {
        match self {
            Value::List(made) => made.size,
            Value::Dict(made) => made.size,
            Value::Each(made) | Value::Awaitable(made) => made.size,
            _ => Size { weight: 1, depth: 0 },
        }
    }

    /// Steps to read all of the value.
    pub(crate) fn weight(&self) -> usize {
        self.size().weight
    }

    fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(one), Value::List(other)) if Rc::ptr_eq(one, other) => true,
            (Value::Dict(one), Value::Dict(other)) if Rc::ptr_eq(one, other) => true,
            _ => self == other,
        }
    }

    /// What is known of a value that is either of two.
    pub(crate) fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unbound, value) | (value, Value::Unbound) => value,
            (one, other) if one.is(&other) => one,
            // If the value is empty, the program reads no field of it.
            (Value::Result(origin), other) | (other, Value::Result(origin)) if other.is_empty() => {
                Value::Result(origin)
            }
            _ => Value::Unknown,
        }
    }

    /// Used as a value, a name that nothing has bound is a builtin or an error.
    pub(crate) fn bound(self) -> Value {
        match self {
            Value::Unbound => Value::Unknown,
            value => value,
        }
    }

    /// Whether the value cannot have a field.
    fn is_empty(&self) -> bool {
        match self {
            Value::Scalar(Json::Null) => true,
            Value::List(items) => items.is_empty(),
            Value::Dict(dict) => dict.items.is_empty() && !dict.open,
            _ => false,
        }
    }

    /// Whether the value may change without a new assignment of its name.
    pub(crate) fn is_changeable(&self) -> bool {
        matches!(self, Value::List(_) | Value::Dict(_) | Value::Each(_))
    }

    /// Whether a part of the value may change without mention of its name.
    pub(crate) fn is_nested(&self) -> bool {
        match self {
            Value::List(items) => items.iter().any(Value::is_changeable),
            Value::Dict(dict) => dict.items.iter().any(|(_, item)| item.is_changeable()),
            Value::Each(item) => item.is_changeable(),
            _ => false,
        }
    }

    /// The value of iteration; takes as many steps as the weight.
    pub(super) fn item(&self) -> Value {
        match self {
            Value::Result(origin) => origin.then(Step::Item),
            Value::Each(value) => value.parts.clone(),
            Value::List(items) => match items.split_first() {
                Some((first, rest)) if rest.iter().all(|item| item.is(first)) => first.clone(),
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// The value of `await`.
    pub(crate) fn awaited(&self) -> Value {
        match self {
            Value::Call(call) => Value::Result(Origin {
                call: *call,
                path: Arc::default(),
            }),
            _ => Value::Unknown,
        }
    }
}

/// The size of a value with these parts; `None` if it is too large to be known.
fn size_of<'v>(values: impl IntoIterator<Item = &'v Value>) -> Option<Size> {
    let mut size = Size { weight: 1, depth: 0 };
    for value in values {
        let its = value.size();
        size.weight += its.weight;
        size.depth = size.depth.max(its.depth + 1);
        if size.weight > MAX_WEIGHT || size.depth > MAX_DEPTH {
            return None;
        }
    }
    Some(size)
}

// === impl Dict ===

impl Dict {
    pub(crate) fn put(&mut self, name: String, value: Value) {
        if name.len() > MAX_TEXT {
            return self.open();
        }
        if self.items.len() >= MAX_KEYS {
            self.open = true;
            self.items.clear();
        }
        self.items.insert(name, value);
    }

    /// Other keys may follow and overwrite any of the earlier ones.
    pub(crate) fn open(&mut self) {
        self.open = true;
        self.items.values_mut().for_each(|value| *value = Value::Unknown);
    }

    /// Merges another dict, as `**` does.
    pub(crate) fn take(&mut self, other: &Dict) {
        if other.open {
            self.open();
        }
        for (name, value) in &other.items {
            self.put(name.clone(), value.clone());
        }
    }

    pub(crate) fn get(&self, name: &str) -> Value {
        self.items.get(name).cloned().unwrap_or(Value::Unknown)
    }
}

//! What an expression is known to stand for.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use catalog::Step;
use serde_json::Value as Json;

/// Longest text, name or key that is known, in bytes.
pub(crate) const MAX_TEXT: usize = 256;

/// Steps from a result to a part of it that are known.
const MAX_PATH: usize = 16;

/// Values that a known value is made of, each counted as often as it is met.
const MAX_WEIGHT: usize = 10_000;

/// How deep a known value is.
const MAX_DEPTH: usize = 64;

/// Keys of a dict that are known.
const MAX_KEYS: usize = 1_000;

/// How the tools of a tree are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// `tools`: awaited.
    Tools,
    /// `mcp_<alias>`: awaited, and results answer keys of the raw result too.
    Bridge,
    /// `servers`: not awaited.
    Blocking,
    /// Names as data: `runtime.call_tool`, `__toolcall__`.
    Data,
}

/// A part of the tree of tools, or a function that this check understands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// All servers: `tools`, `servers`, `mcp.servers`.
    Servers(Form),
    /// `mcp_servers`: an item is a server, an attribute is none.
    ServerMap,
    /// The module `mcp`.
    Mcp,
    /// The module `mcp.runtime`.
    Runtime,
    /// One server.
    Server(Form, Arc<str>),
    /// One tool: server and tool as they are written.
    Tool(Form, Arc<str>, Arc<str>),
    /// `runtime.call_tool`.
    CallTool,
    /// `__toolcall__`.
    ToolCall,
    /// A name that `from mcp.servers.crm import *` may have made: the servers, and the name.
    Starred(Arc<[(Form, Arc<str>)]>, Arc<str>),
    /// The module `asyncio`.
    Asyncio,
    /// A function of `asyncio` that is understood.
    Gather,
    /// One that hands on the awaitable that it is given: `create_task`, `wait_for`, `shield`, `ensure_future`.
    Wrap,
}

/// A part of what a call gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Origin {
    /// The call, by its number.
    pub(crate) call: usize,
    pub(crate) path: Arc<[Step]>,
}

/// What an expression is known to stand for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Anything.
    Unknown,
    /// A name that nothing has bound.
    Unbound,
    Known(Meaning),
    /// A call that is not awaited yet.
    Call(usize),
    /// The result of a call, or a part of it.
    Result(Origin),
    /// `None`, a truth value, a number or a text.
    Scalar(Json),
    /// A list or tuple of these.
    List(Rc<Compound<Vec<Value>>>),
    /// A dict with these keys, and with unknown ones too if it is open.
    Dict(Rc<Compound<Dict>>),
    /// A list of any length of such values.
    Each(Rc<Compound<Value>>),
    /// A text of which only the type is known.
    Text,
    /// What gives this once it is awaited.
    Awaitable(Rc<Compound<Value>>),
}

/// A value that is made of others, and how large it is: what looks at all of it takes that many steps.
#[derive(Debug, PartialEq)]
pub(crate) struct Compound<T> {
    size: Size,
    parts: T,
}

/// How large a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Size {
    /// Of how many values it is made.
    weight: usize,
    depth: usize,
}

/// A dict as it is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Dict {
    pub(crate) items: BTreeMap<String, Value>,
    pub(crate) open: bool,
}

// === impl Origin ===

impl Origin {
    /// Whether what is found in a call's result on this path is a part of it.
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

    /// How many steps it takes to look at all of it.
    pub(crate) fn weight(&self) -> usize {
        self.size().weight
    }

    /// Whether both are the same value.
    fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(one), Value::List(other)) if Rc::ptr_eq(one, other) => true,
            (Value::Dict(one), Value::Dict(other)) if Rc::ptr_eq(one, other) => true,
            _ => self == other,
        }
    }

    /// What is known where it is either of two.
    pub(crate) fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unbound, value) | (value, Value::Unbound) => value,
            (one, other) if one.is(&other) => one,
            // Where it is empty, no field of it is looked at.
            (Value::Result(origin), other) | (other, Value::Result(origin)) if other.is_empty() => {
                Value::Result(origin)
            }
            _ => Value::Unknown,
        }
    }

    /// The same where it is used as a value: what nothing has bound is a builtin or an error.
    pub(crate) fn bound(self) -> Value {
        match self {
            Value::Unbound => Value::Unknown,
            value => value,
        }
    }

    /// Whether it can have no field.
    fn is_empty(&self) -> bool {
        match self {
            Value::Scalar(Json::Null) => true,
            Value::List(items) => items.is_empty(),
            Value::Dict(dict) => dict.items.is_empty() && !dict.open,
            _ => false,
        }
    }

    /// Whether it may be changed without its name being assigned again.
    pub(crate) fn is_changeable(&self) -> bool {
        matches!(self, Value::List(_) | Value::Dict(_) | Value::Each(_))
    }

    /// Whether a part of it may be changed without its name being named.
    pub(crate) fn is_nested(&self) -> bool {
        match self {
            Value::List(items) => items.iter().any(Value::is_changeable),
            Value::Dict(dict) => dict.items.iter().any(|(_, item)| item.is_changeable()),
            Value::Each(item) => item.is_changeable(),
            _ => false,
        }
    }

    /// What iterating over it gives; takes as many steps as its weight.
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

    /// What awaiting it gives.
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

/// The size of what is made of these values; `None` if it is too large to be known.
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

    /// Other keys may follow, and any of those before may be overwritten.
    pub(crate) fn open(&mut self) {
        self.open = true;
        self.items.values_mut().for_each(|value| *value = Value::Unknown);
    }

    /// Takes in another dict, as `**` does.
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

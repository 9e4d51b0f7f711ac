//! What an expression is known to stand for.

use std::rc::Rc;
use std::sync::Arc;

use catalog::Step;
use serde_json::Value as Json;

/// How the tools of a tree are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub(crate) path: Vec<Step>,
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
    List(Rc<[Value]>),
    /// A dict with these keys, and with unknown ones too if it is open.
    Dict(Rc<Dict>),
    /// A list of any length of such values.
    Each(Rc<Value>),
    /// A text of which only the type is known.
    Text,
    /// What gives this once it is awaited.
    Awaitable(Rc<Value>),
}

/// A dict as it is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Dict {
    pub(crate) items: Vec<(String, Value)>,
    pub(crate) open: bool,
}

// === impl Origin ===

impl Origin {
    pub(crate) fn then(&self, step: Step) -> Value {
        let mut path = self.path.clone();
        path.push(step);
        Value::Result(Origin {
            call: self.call,
            path,
        })
    }
}

// === impl Value ===

impl Value {
    /// What is known where it is either of two.
    pub(crate) fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Unbound, value) | (value, Value::Unbound) => value,
            (one, other) if one == other => one,
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

    /// What iterating over it gives.
    pub(crate) fn item(&self) -> Value {
        match self {
            Value::Result(origin) => origin.then(Step::Item),
            Value::Each(value) => value.as_ref().clone(),
            Value::List(items) => match items.split_first() {
                Some((first, rest)) if rest.iter().all(|item| item == first) => first.clone(),
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
                path: Vec::new(),
            }),
            _ => Value::Unknown,
        }
    }
}

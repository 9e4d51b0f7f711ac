//! A server whose answers and definitions have the shapes of [`crate::amplify`], written as text,
//! not built as values.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::protocol::{Answer, Connection, ToolCall, Tools, text};
use crate::amplify::Shape;

/// Lists `take`, `give`, and `shaped`, whose definition has a shape and a size.
pub(super) struct Amplify {
    shape: Shape,
    bytes: usize,
}

impl Amplify {
    /// Parses `SHAPE:BYTES`.
    pub(super) fn read(operand: &str) -> Result<Amplify> {
        let (shape, bytes) = operand.split_once(':').context("SHAPE:BYTES")?;
        Ok(Amplify {
            shape: shape.parse()?,
            bytes: bytes.parse()?,
        })
    }
}

impl Tools for Amplify {
    fn list(&self, _cursor: Option<&str>) -> Value {
        Value::Null
    }

    fn call(&self, call: &ToolCall<'_>) -> Answer {
        if call.name != "give" {
            return text("taken");
        }
        let shape = call.arguments["shape"]
            .as_str()
            .and_then(|shape| shape.parse::<Shape>().ok());
        let bytes = call.arguments["bytes"]
            .as_u64()
            .and_then(|bytes| usize::try_from(bytes).ok());
        let (Some(shape), Some(bytes)) = (shape, bytes) else {
            return Answer::Error(-32602, "give takes a shape and bytes".to_owned());
        };
        let (id, given) = (call.id, shape.json(bytes));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"structuredContent\":{given}}}}}\n"
        );
        call.connection.write(line.as_bytes());
        Answer::None
    }

    fn intercept(&self, message: &Value, connection: &Connection) -> bool {
        if message["method"] != "tools/list" {
            return false;
        }
        let plain = ["take", "give"].map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
        let [take, give] = plain;
        let (id, shaped) = (&message["id"], self.shape.definition("shaped", self.bytes));
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":[{take},{give},{shaped}]}}}}\n"
        );
        connection.write(line.as_bytes());
        true
    }
}

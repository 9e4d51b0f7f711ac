//! JSON-RPC over `POST /rpc`: one request with the server's id among its parameters.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use types::ServerId;
use utoipa::ToSchema;

use crate::json;
use crate::mistakes::{MistakeList, shortened};
use crate::object::{kind, unknown};

/// Maximum bytes of a text id.
const MAX_ID: usize = 256;

const MEMBERS: [&str; 4] = ["jsonrpc", "id", "method", "params"];

/// A request, or a notification without an id.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcRequest {
    /// `None` for a notification, which has no answer.
    pub id: Option<RpcId>,
    /// Such as `tools/call`.
    pub method: String,
    /// The virtual server, from `params.server_id`.
    pub server: Option<ServerId>,
    /// The parameters without `server_id`.
    pub params: Map<String, Value>,
}

/// The id that an answer repeats.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum RpcId {
    /// A whole number.
    Number(i64),
    /// A text of at most 256 bytes.
    Text(String),
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The body is not JSON.
    #[error("Parse error")]
    Parse(String),
    /// The body is not one request.
    #[error("Invalid Request: {0}")]
    InvalidRequest(String),
    /// There is no such method.
    #[error("Method not found: {0}")]
    MethodNotFound(String),
    /// `tools/call` without `name`.
    #[error("Missing tool name in parameters")]
    MissingToolName,
    /// Parameters of the wrong type.
    #[error("Invalid params: {0}")]
    InvalidParams(String),
    /// The server has no such tool for this user, or there is no such server.
    #[error("Tool not found: {0}")]
    ToolNotFound(String),
    /// The client has cancelled the call of this tool.
    #[error("Tool execution cancelled: {0}")]
    Cancelled(String),
    /// The gateway failed.
    #[error("Internal error")]
    Internal,
}

/// An invalid request, with its id if the id is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcRefusal {
    /// `None` becomes null in the answer.
    pub id: Option<RpcId>,
    /// Why.
    pub error: RpcError,
}

impl RpcError {
    /// The code of the error object.
    pub fn code(&self) -> i32 {
        match self {
            RpcError::Parse(_) => -32700,
            RpcError::InvalidRequest(_) => -32600,
            RpcError::MethodNotFound(_) | RpcError::ToolNotFound(_) => -32601,
            RpcError::MissingToolName | RpcError::InvalidParams(_) => -32602,
            RpcError::Cancelled(_) => -32800,
            RpcError::Internal => -32000,
        }
    }

    /// The HTTP status: 200 for errors of a readable request.
    pub fn status(&self) -> u16 {
        match self {
            RpcError::Parse(_) => 400,
            _ => 200,
        }
    }

    /// The answer's body.
    pub fn answer(&self, id: Option<&RpcId>) -> Value {
        let mut error = json!({"code": self.code(), "message": self.to_string()});
        if let RpcError::Parse(detail) = self {
            error["data"] = json!({"detail": detail});
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

/// The body of an answer with a result.
pub fn rpc_result(id: &RpcId, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Reads the body of `POST /rpc`.
///
/// # Errors
/// An error with JSON-RPC's code.
pub fn read_rpc(body: &[u8]) -> Result<RpcRequest, RpcRefusal> {
    let mut mistakes = MistakeList::default();
    let refused = |id: Option<RpcId>| move |error| RpcRefusal { id, error };
    let body = json::read(body, &mut mistakes)
        .map_err(|problem| RpcError::Parse(problem.to_string()))
        .map_err(refused(None))?;
    if body.is_array() {
        let text = "batches are not supported; send one request at a time";
        return Err(refused(None)(RpcError::InvalidRequest(text.to_owned())));
    }
    let id = body.get("id").map(read_id).transpose();
    let id = id.map_err(RpcError::InvalidRequest).map_err(refused(None))?;
    let request = request(&body, mistakes).map_err(refused(id.clone()))?;
    Ok(RpcRequest { id, ..request })
}

/// Accepts only JSON-RPC's own spelling of names: a request with an overlooked id would be a notification.
fn request(body: &Value, mut mistakes: MistakeList) -> Result<RpcRequest, RpcError> {
    let Value::Object(members) = body else {
        let text = format!("expected an object, found {}", kind(body));
        return Err(RpcError::InvalidRequest(text));
    };
    for name in members.keys().filter(|name| !MEMBERS.contains(&name.as_str())) {
        mistakes.wrong(name, unknown(name, &MEMBERS, &[]));
    }
    if members.get("jsonrpc").is_none_or(|version| version != "2.0") {
        mistakes.wrong("jsonrpc", "expected \"2.0\"");
    }
    let method = members.get("method").and_then(Value::as_str).unwrap_or_default();
    if method.is_empty() {
        mistakes.wrong("method", "expected the name of a method, such as \"tools/call\"");
    }
    mistakes
        .finish()
        .map_err(|problem| RpcError::InvalidRequest(problem.to_string()))?;
    let mut params = match members.get("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(other) => return Err(wrong_type("params", "an object", other)),
    };
    let server = server(&mut params)?;
    check_params(method, &params)?;
    Ok(RpcRequest {
        id: None,
        method: method.to_owned(),
        server,
        params,
    })
}

/// Removes the server's id from the parameters and returns the id.
fn server(params: &mut Map<String, Value>) -> Result<Option<ServerId>, RpcError> {
    match params.shift_remove("server_id") {
        None => Ok(None),
        Some(Value::String(id)) if !id.is_empty() => Ok(Some(ServerId::new(id))),
        Some(other) => Err(wrong_type("params.server_id", "a server's id", &other)),
    }
}

fn check_params(method: &str, params: &Map<String, Value>) -> Result<(), RpcError> {
    if method != "tools/call" {
        return Ok(());
    }
    match params.get("name") {
        Some(Value::String(name)) if !name.is_empty() => {}
        _ => return Err(RpcError::MissingToolName),
    }
    match params.get("arguments") {
        None | Some(Value::Null | Value::Object(_)) => Ok(()),
        Some(other) => Err(wrong_type("params.arguments", "an object", other)),
    }
}

fn wrong_type(place: &str, expected: &str, found: &Value) -> RpcError {
    RpcError::InvalidParams(format!("{place}: expected {expected}, found {}", kind(found)))
}

fn read_id(value: &Value) -> Result<RpcId, String> {
    match value {
        Value::String(text) if text.len() <= MAX_ID => Ok(RpcId::Text(text.clone())),
        Value::Number(number) if number.is_i64() => {
            number.as_i64().map(RpcId::Number).ok_or_else(String::new)
        }
        other => {
            let shown = shortened(&other.to_string(), 64);
            Err(format!(
                "id: expected a whole number or a string of at most {MAX_ID} bytes, found {shown}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(body: &str) -> (u16, Value) {
        let refusal = read_rpc(body.as_bytes()).expect_err(body);
        (refusal.error.status(), refusal.error.answer(refusal.id.as_ref()))
    }

    fn check(body: &str, id: Value, code: i32, message: &str) {
        let (status, answer) = refused(body);
        assert_eq!(status, 200, "{body}");
        let error = json!({"code": code, "message": message});
        assert_eq!(
            answer,
            json!({"jsonrpc": "2.0", "id": id, "error": error}),
            "{body}"
        );
    }

    #[test]
    fn s0_27_the_server_s_id_is_taken_out_of_the_parameters() {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call",
            "params":{"server_id":"s","name":"shell_exec","arguments":{"code":"1"}}}"#;
        let request = read_rpc(body.as_bytes()).expect("a request");
        assert_eq!(request.id, Some(RpcId::Number(1)));
        assert_eq!(request.server, Some(ServerId::new("s")));
        assert_eq!(
            Value::Object(request.params),
            json!({"name": "shell_exec", "arguments": {"code": "1"}})
        );
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let cancelled = read_rpc(cancelled.as_bytes()).expect("a notification");
        assert_eq!((cancelled.id, cancelled.server), (None, None));
        assert_eq!(
            rpc_result(&RpcId::Text("a".to_owned()), json!({})),
            json!({"jsonrpc": "2.0", "id": "a", "result": {}})
        );
    }

    #[test]
    fn c019_a_body_that_is_not_json_is_a_parse_error() {
        let (status, answer) = refused(r#"{"jsonrpc":"#);
        assert_eq!(status, 400);
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(-32700), &Value::Null)
        );
        assert_eq!(answer["error"]["message"], "Parse error");
    }

    #[test]
    fn c020_a_call_names_a_tool() {
        let missing = "Missing tool name in parameters";
        for params in [r#"{"server_id":"s"}"#, r#"{"name":""}"#, r#"{"name":7}"#, "{}"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{params}}}"#);
            check(&body, json!("a"), -32602, missing);
        }
        check(
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call"}"#,
            json!(2),
            -32602,
            missing,
        );
    }

    #[test]
    fn s0_27_requests_of_another_form_are_refused_with_their_id() {
        let invalid = |text: &str| format!("Invalid Request: {text}");
        check(
            "[]",
            Value::Null,
            -32600,
            &invalid("batches are not supported; send one request at a time"),
        );
        check(
            "7",
            Value::Null,
            -32600,
            &invalid("expected an object, found a number"),
        );
        check(
            r#"{"id":1,"method":7,"parms":{}}"#,
            json!(1),
            -32600,
            &invalid(
                "parms: unknown key; did you mean `params`?; jsonrpc: expected \"2.0\"; \
                 method: expected the name of a method, such as \"tools/call\"",
            ),
        );
        check(
            r#"{"jsonrpc":"2.0","Id":1,"method":"ping","Params":{}}"#,
            Value::Null,
            -32600,
            &invalid("Id: unknown key; did you mean `id`?; Params: unknown key; did you mean `params`?"),
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            Value::Null,
            -32600,
            &invalid("id: expected a whole number or a string of at most 256 bytes, found null"),
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            json!(1),
            -32600,
            &invalid("method: is given twice; write it once"),
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            json!(1),
            -32602,
            "Invalid params: params: expected an object, found an array",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"server_id":1}}"#,
            json!(1),
            -32602,
            "Invalid params: params.server_id: expected a server's id, found a number",
        );
    }

    #[test]
    fn s0_27_each_problem_has_its_code_and_text() {
        for (problem, code, text) in [
            (
                RpcError::ToolNotFound("x".to_owned()),
                -32601,
                "Tool not found: x",
            ),
            (
                RpcError::MethodNotFound("x".to_owned()),
                -32601,
                "Method not found: x",
            ),
            (
                RpcError::Cancelled("x".to_owned()),
                -32800,
                "Tool execution cancelled: x",
            ),
            (RpcError::Internal, -32000, "Internal error"),
        ] {
            assert_eq!((problem.code(), problem.to_string().as_str()), (code, text));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_refused(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = read_rpc(&body);
        }

        #[test]
        fn an_answer_repeats_the_id(number: i64, text in "\\PC{0,20}") {
            for id in [RpcId::Number(number), RpcId::Text(text)] {
                let body = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
                prop_assert_eq!(read_rpc(body.as_bytes()).map(|request| request.id), Ok(Some(id)));
            }
        }
    }
}

//! Decodes one line into a message, or into the error that answers it.

use std::fmt;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, CustomRequest, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use types::bulk;

use super::lines::{Line, MAX_LINE};

/// A message of the client.
pub(super) type Incoming = RxJsonRpcMessage<RoleServer>;

/// A line that cannot be served.
#[derive(Debug, PartialEq)]
pub(super) struct Unusable {
    /// What the client is told.
    pub(super) error: ErrorData,
    /// The id of the request, as far as it can be read.
    pub(super) id: Option<RequestId>,
}

/// Decodes a line.
pub(super) fn decode(line: &Line) -> Result<Incoming, Box<Unusable>> {
    match line {
        Line::Whole(bytes) => {
            let bytes = unmarked(bytes);
            bulk::check(bytes, bulk::BUFFERED).map_err(|refused| {
                Box::new(Unusable {
                    error: ErrorData::invalid_request(format!("Invalid request: {refused}"), None),
                    id: head(bytes).id,
                })
            })?;
            serde_json::from_slice(bytes).map_err(|error| Box::new(unusable(bytes, &error)))
        }
        Line::TooLong(start) => Err(Box::new(Unusable {
            error: ErrorData::invalid_request(
                format!("Invalid request: a message has at most {MAX_LINE} bytes"),
                None,
            ),
            id: head(start).id,
        })),
    }
}

/// Methods of capabilities that the surfaces on which programs run do not declare: the library answers them with empty lists
/// as if they were declared, unless it does not know them.
pub(super) const UNDECLARED: &[&str] = &["completion/complete", "prompts/list"];

/// Methods whose parameters are for a server behind us.
pub(super) const RELAYED: &[&str] = &[
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
];

/// The same message, undecoded if it is a request of one of these methods: its parameters stay as they came, of which the
/// library's types leave out what they do not know.
pub(super) fn undecoded(message: Incoming, line: &Line, methods: &[&str]) -> Incoming {
    let (mut request, bytes) = match (message, line) {
        (JsonRpcMessage::Request(request), Line::Whole(bytes)) => (request, bytes),
        (other, _) => return other,
    };
    if methods.contains(&request.request.method())
        && let Ok(undecoded) = serde_json::from_slice::<CustomRequest>(unmarked(bytes))
    {
        request.request = ClientRequest::CustomRequest(undecoded);
    }
    JsonRpcMessage::Request(request)
}

/// The line without the byte order mark that some programs put first.
fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

fn unusable(bytes: &[u8], error: &serde_json::Error) -> Unusable {
    // A message that is JSON but none of the protocol's fails only as a whole, without a place.
    let not_json = matches!(error.classify(), Category::Syntax | Category::Eof)
        || serde_json::from_slice::<IgnoredAny>(bytes).is_err();
    if not_json {
        return Unusable {
            error: ErrorData::parse_error(format!("Parse error: {error}"), None),
            id: None,
        };
    }
    let head = head(bytes);
    let why = match (head.object, head.version, head.id_given, &head.id) {
        (false, ..) if bytes.trim_ascii_start().starts_with(b"[") => {
            "a line holds one message; batches are not supported"
        }
        (false, ..) => "a message is an object",
        (_, false, ..) => "`jsonrpc` must be \"2.0\"",
        (.., true, None) => "`id` must be a string or an integer",
        _ => "this is no request, notification or response",
    };
    Unusable {
        error: ErrorData::invalid_request(format!("Invalid request: {why}"), None),
        id: head.id,
    }
}

/// What can be read of a message that cannot be decoded, or only in part.
#[derive(Debug, Default)]
struct Head {
    object: bool,
    version: bool,
    id_given: bool,
    id: Option<RequestId>,
}

fn head(bytes: &[u8]) -> Head {
    let mut head = Head::default();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    // The end of a long line is missing, so that this fails is expected; what came before it counts.
    let _ = HeadSeed(&mut head).deserialize(&mut deserializer);
    head
}

struct HeadSeed<'h>(&'h mut Head);

impl<'de> DeserializeSeed<'de> for HeadSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for HeadSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.object = true;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "id" => {
                    self.0.id_given = true;
                    let value: &RawValue = map.next_value()?;
                    self.0.id = serde_json::from_str(value.get()).ok();
                }
                "jsonrpc" => {
                    let value: &RawValue = map.next_value()?;
                    self.0.version = value.get() == "\"2.0\"";
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        match decode(&Line::Whole(text.as_bytes().to_vec())) {
            Ok(_) => "message".to_owned(),
            Err(unusable) => {
                let Unusable { error, id } = *unusable;
                let id = serde_json::to_string(&id).unwrap();
                format!("{} {id} {}", error.code.0, error.message)
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(told(text), expected, "{text}");
    }

    #[test]
    fn messages() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "message");
        check(
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"tools/call\",\"params\":{}}\r",
            "message",
        );
        check(
            "\u{feff}{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}",
            "message",
        );
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "message");
    }

    #[test]
    fn what_is_passed_on_is_not_decoded_also_behind_a_byte_order_mark() {
        for mark in ["", "\u{feff}"] {
            let text = format!(
                "{mark}{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{{\"x\":1}}}}"
            );
            let line = Line::Whole(text.into_bytes());
            let JsonRpcMessage::Request(request) = undecoded(decode(&line).unwrap(), &line, RELAYED) else {
                panic!("a request");
            };
            assert!(
                matches!(request.request, ClientRequest::CustomRequest(_)),
                "{mark:?}"
            );
        }
    }

    #[test]
    fn what_is_no_json_has_no_id() {
        check(
            "garbage",
            "-32700 null Parse error: expected value at line 1 column 1",
        );
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"ping""#,
            "-32700 null Parse error: EOF while parsing an object at line 1 column 39",
        );
        assert!(told("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\u{0}\"}").starts_with("-32700 null"));
    }

    #[test]
    fn what_is_no_message_keeps_its_id() {
        check(
            r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            "-32600 7 Invalid request: `jsonrpc` must be \"2.0\"",
        );
        check(
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            "-32600 null Invalid request: `id` must be a string or an integer",
        );
        check(
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            "-32600 null Invalid request: `id` must be a string or an integer",
        );
        check(
            r#"{"jsonrpc":"2.0","id":"x"}"#,
            "-32600 \"x\" Invalid request: this is no request, notification or response",
        );
        check(
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":5}"#,
            "-32600 \"a\" Invalid request: this is no request, notification or response",
        );
        check(
            r#"{"jsonrpc":"2.0","id":3,"method":5}"#,
            "-32600 3 Invalid request: this is no request, notification or response",
        );
        check(
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            "-32600 null Invalid request: a line holds one message; batches are not supported",
        );
        check("5", "-32600 null Invalid request: a message is an object");
    }

    #[test]
    fn a_long_line_is_answered_under_its_id_if_that_came_first() {
        let start = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"code":"xxx"#;
        let told = decode(&Line::TooLong(start.to_vec())).unwrap_err();
        assert_eq!(told.id, Some(RequestId::Number(9)));
        assert_eq!(
            told.error.message,
            "Invalid request: a message has at most 16777216 bytes"
        );
        let late = br#"{"method":"tools/call","params":{"code":"xxx"#;
        assert_eq!(decode(&Line::TooLong(late.to_vec())).unwrap_err().id, None);
    }
}

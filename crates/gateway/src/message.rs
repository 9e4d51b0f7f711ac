//! Decodes a client's message, or explains why the message is invalid.

use std::fmt;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::RxJsonRpcMessage;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use surfaces::WireRules;
use types::bulk;

pub(crate) type ClientMessage = RxJsonRpcMessage<RoleServer>;

/// A message that does not reach the surface.
#[derive(Debug, PartialEq)]
pub(crate) struct Rejection {
    pub(crate) error: ErrorData,
    /// The request's id, if readable.
    pub(crate) id: Option<RequestId>,
}

impl Rejection {
    pub(crate) fn new(error: ErrorData, id: Option<RequestId>) -> Self {
        Self { error, id }
    }

    /// A rejection of a message of more than `most` bytes that begins with `start`.
    pub(crate) fn too_long(start: &[u8], most: usize) -> Self {
        Self::invalid(&format!("a message has at most {most} bytes"), head(start).id)
    }

    fn invalid(why: &str, id: Option<RequestId>) -> Self {
        Self::new(
            ErrorData::invalid_request(format!("Invalid request: {why}"), None),
            id,
        )
    }
}

/// Decodes a message to the depth that the surface requires.
pub(crate) fn decode(bytes: &[u8], wire: WireRules) -> Result<ClientMessage, Box<Rejection>> {
    // Some programs write a byte order mark first.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bulk::check(bytes, bulk::BUFFERED)
        .map_err(|error| Box::new(Rejection::invalid(&error.to_string(), head(bytes).id)))?;
    let message = serde_json::from_slice(bytes).map_err(|error| Box::new(undecodable(bytes, &error)))?;
    Ok(wire.undecode(message, bytes))
}

fn undecodable(bytes: &[u8], error: &serde_json::Error) -> Rejection {
    // The error for JSON that is not a message has no position, so the JSON is checked again.
    let not_json = matches!(error.classify(), Category::Syntax | Category::Eof)
        || serde_json::from_slice::<IgnoredAny>(bytes).is_err();
    if not_json {
        return Rejection::new(
            ErrorData::parse_error(format!("Parse error: {error}"), None),
            None,
        );
    }
    let head = head(bytes);
    let why = match (head.object, head.version, head.id_given, &head.id) {
        (false, ..) if bytes.trim_ascii_start().starts_with(b"[") => {
            "send one message at a time; batches are not supported"
        }
        (false, ..) => "a message is an object",
        (_, false, ..) => "`jsonrpc` must be \"2.0\"",
        (.., true, None) => "`id` must be a string or an integer",
        _ => "expected a request, a notification or a response",
    };
    Rejection::invalid(why, head.id)
}

/// The readable fields of a message that cannot be decoded.
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
    // This fails if the end of a long message is missing; the fields before the failure remain valid.
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
    use rmcp::model::{ClientRequest, JsonRpcMessage};

    use super::*;

    fn wire() -> WireRules {
        WireRules {
            undecoded: &["tools/list"],
        }
    }

    fn answer(text: &str) -> String {
        match decode(text.as_bytes(), wire()) {
            Ok(_) => "message".to_owned(),
            Err(rejection) => {
                let Rejection { error, id } = *rejection;
                let id = serde_json::to_string(&id).unwrap();
                format!("{} {id} {}", error.code.0, error.message)
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(answer(text), expected, "{text}");
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
    fn relayed_parameters_stay_undecoded_even_after_a_byte_order_mark() {
        for mark in ["", "\u{feff}"] {
            let text = format!(
                "{mark}{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{{\"x\":1}}}}"
            );
            let JsonRpcMessage::Request(request) = decode(text.as_bytes(), wire()).unwrap() else {
                panic!("a request");
            };
            assert!(
                matches!(request.request, ClientRequest::CustomRequest(_)),
                "{mark:?}"
            );
        }
    }

    #[test]
    fn invalid_json_has_no_id() {
        check(
            "garbage",
            "-32700 null Parse error: expected value at line 1 column 1",
        );
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"ping""#,
            "-32700 null Parse error: EOF while parsing an object at line 1 column 39",
        );
        assert!(answer("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\u{0}\"}").starts_with("-32700 null"));
    }

    #[test]
    fn an_invalid_message_keeps_its_id() {
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
            "-32600 \"x\" Invalid request: expected a request, a notification or a response",
        );
        check(
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":5}"#,
            "-32600 \"a\" Invalid request: expected a request, a notification or a response",
        );
        check(
            r#"{"jsonrpc":"2.0","id":3,"method":5}"#,
            "-32600 3 Invalid request: expected a request, a notification or a response",
        );
        check(
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            "-32600 null Invalid request: send one message at a time; batches are not supported",
        );
        check("5", "-32600 null Invalid request: a message is an object");
    }

    #[test]
    fn a_long_line_is_answered_under_its_id_if_readable() {
        let start = br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"code":"xxx"#;
        let rejection = Rejection::too_long(start, 16_777_216);
        assert_eq!(rejection.id, Some(RequestId::Number(9)));
        assert_eq!(
            rejection.error.message,
            "Invalid request: a message has at most 16777216 bytes"
        );
        let late = br#"{"method":"tools/call","params":{"code":"xxx"#;
        assert_eq!(Rejection::too_long(late, 16_777_216).id, None);
    }
}

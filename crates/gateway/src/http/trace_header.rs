//! The headers `traceparent` and `tracestate`: passed to the surface in `_meta`, where clients over other transports
//! write them.

use http::HeaderMap;
use serde_json::value::to_raw_value;
use types::TraceContext;

use super::era::header;
use super::message_fields::{MessageFields, with_member};

const META: &str = "_meta";
pub(super) const PARENT: &str = "traceparent";
pub(super) const STATE: &str = "tracestate";

/// The valid values of the headers, with their names in `_meta`.
pub(super) fn fields(headers: &HeaderMap) -> Vec<(&'static str, String)> {
    let context =
        header(headers, PARENT).and_then(|parent| TraceContext::read(parent, header(headers, STATE)));
    let Some(context) = context else {
        return Vec::new();
    };
    let parent = (PARENT, context.to_string());
    let state = context.state.map(|state| (STATE, state));
    std::iter::once(parent).chain(state).collect()
}

/// Adds the headers to a request that names no trace itself.
pub(super) fn add(headers: &HeaderMap, message: &mut MessageFields<'_>) {
    if !headers.contains_key(PARENT) || !message.is_request() {
        return;
    }
    if message.param(&[META, PARENT]).is_some() {
        return;
    }
    for (name, value) in fields(headers) {
        let with = message.params.as_ref().zip(to_raw_value(&value).ok());
        let with = with.and_then(|(params, value)| with_member(params, (META, name), &value));
        if let Some(with) = with {
            message.params = Some(std::borrow::Cow::Owned(with));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

    fn check(parent: &str, params: &str, expected: &str) {
        let headers = HeaderMap::from_iter([
            (
                http::HeaderName::from_static(PARENT),
                parent.parse().expect("a header"),
            ),
            (
                http::HeaderName::from_static(STATE),
                "a=1".parse().expect("a header"),
            ),
        ]);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let mut message = MessageFields::parse(text.as_bytes()).expect("a message");
        add(&headers, &mut message);
        assert_eq!(message.params.expect("parameters").get(), expected);
    }

    #[test]
    fn headers_become_members_of_meta_unless_it_has_them() {
        let both = format!(r#""traceparent":"{VALID}","tracestate":"a=1""#);
        check(
            VALID,
            r#"{"name":"x"}"#,
            &format!(r#"{{"name":"x","_meta":{{{both}}}}}"#),
        );
        check(
            VALID,
            r#"{"_meta":{"progressToken":1},"name":"x"}"#,
            &format!(r#"{{"_meta":{{"progressToken":1,{both}}},"name":"x"}}"#),
        );
        for (parent, params) in [
            (VALID, r#"{"_meta":{"traceparent":"other"}}"#),
            (VALID, r#"{"_meta":5}"#),
            (VALID, r#"{"_meta":{},"_meta":{}}"#),
            (VALID, "[]"),
            ("00-0-0-00", r#"{"name":"x"}"#),
        ] {
            check(parent, params, params);
        }
    }
}

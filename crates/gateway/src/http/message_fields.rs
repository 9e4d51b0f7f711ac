//! A message as fields of raw text, so that routing never builds their values.

use std::borrow::Cow;
use std::fmt;

use rmcp::model::RequestId;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct MessageFields<'a> {
    pub(super) jsonrpc: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<RequestId>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) params: Option<Cow<'a, RawValue>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Cow<'a, RawValue>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Cow<'a, RawValue>>,
}

/// An object's members in order, values as text.
#[derive(Debug)]
struct Members<'a>(Vec<(Cow<'a, str>, Cow<'a, RawValue>)>);

/// A key that routing depends on is repeated, so routing and the surface could read different values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` appears twice in one object")]
pub(super) struct Repeated(String);

// === impl MessageFields ===

impl<'a> MessageFields<'a> {
    /// `None` if the bytes are not a message.
    pub(super) fn parse(message: &'a [u8]) -> Option<MessageFields<'a>> {
        let fields: MessageFields<'a> = serde_json::from_slice(message).ok()?;
        (fields.jsonrpc == "2.0").then_some(fields)
    }

    pub(super) fn is_request(&self) -> bool {
        self.method.is_some() && self.id.is_some()
    }

    pub(super) fn is_answer(&self) -> bool {
        self.method.is_none()
    }

    /// A value in the parameters, as text.
    pub(super) fn param(&self, path: &[&str]) -> Option<Cow<'a, RawValue>> {
        let mut value = self.params.clone()?;
        for key in path {
            value = member(&value, key)?;
        }
        Some(value)
    }

    /// A string in the parameters.
    pub(super) fn param_text(&self, path: &[&str]) -> Option<String> {
        serde_json::from_str(self.param(path)?.get()).ok()
    }

    pub(super) fn error_code(&self) -> Option<i64> {
        #[derive(Deserialize)]
        struct Code {
            code: i64,
        }
        let error: Code = serde_json::from_str(self.error.as_ref()?.get()).ok()?;
        Some(error.code)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // String keys and raw JSON can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn member(object: &RawValue, key: &str) -> Option<Cow<'static, RawValue>> {
    let members: Members<'_> = serde_json::from_str(object.get()).ok()?;
    let (_, value) = members.0.into_iter().find(|(name, _)| name == key)?;
    Some(Cow::Owned(value.into_owned()))
}

/// An object with another value at a path.
#[derive(Debug)]
pub(super) struct Replaced {
    pub(super) object: Box<RawValue>,
    /// The previous value.
    pub(super) old: Box<RawValue>,
}

/// Replaces the value at a path of an object; `None` if the path has no value.
pub(super) fn replace(
    object: &RawValue,
    path: &[&str],
    new: &RawValue,
) -> Result<Option<Replaced>, Repeated> {
    let [key, rest @ ..] = path else {
        return Ok(Some(Replaced {
            object: new.to_owned(),
            old: object.to_owned(),
        }));
    };
    let Ok(mut members) = serde_json::from_str::<Members<'_>>(object.get()) else {
        return Ok(None);
    };
    if members.0.iter().filter(|(name, _)| name == key).count() > 1 {
        return Err(Repeated((*key).to_owned()));
    }
    let Some((_, value)) = members.0.iter_mut().find(|(name, _)| name == key) else {
        return Ok(None);
    };
    let Some(Replaced { object, old }) = replace(value, rest, new)? else {
        return Ok(None);
    };
    *value = Cow::Owned(object);
    Ok(to_raw_value(&members).ok().map(|object| Replaced { object, old }))
}

/// The object with one more member in the object that it has at `key`, or gets there. `None` if it has something else
/// there, or the key twice.
pub(super) fn with_member(
    object: &RawValue,
    (key, name): (&str, &str),
    value: &RawValue,
) -> Option<Box<RawValue>> {
    let mut members: Members<'_> = serde_json::from_str(object.get()).ok()?;
    let mut found = members.0.iter_mut().filter(|(found, _)| found == key);
    let place = (found.next(), found.next());
    match place {
        (None, _) => {
            let inner = Members(vec![(Cow::Borrowed(name), Cow::Borrowed(value))]);
            members
                .0
                .push((Cow::Borrowed(key), Cow::Owned(to_raw_value(&inner).ok()?)));
        }
        (Some((_, inner)), None) => {
            let mut with: Members<'_> = serde_json::from_str(inner.get()).ok()?;
            with.0.push((Cow::Borrowed(name), Cow::Borrowed(value)));
            let with = to_raw_value(&with).ok()?;
            *inner = Cow::Owned(with);
        }
        (Some(_), Some(_)) => return None,
    }
    to_raw_value(&members).ok()
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((name.0, Cow::Borrowed(value)));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// A key, copied only if it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).expect("JSON")
    }

    fn check_replaced(object: &str, path: &[&str], expected: Option<(&str, &str)>) {
        let replaced = replace(&raw(object), path, &raw("7")).expect("no key twice");
        let replaced = replaced
            .as_ref()
            .map(|replaced| (replaced.object.get(), replaced.old.get()));
        assert_eq!(replaced, expected, "{object}");
    }

    #[test]
    fn a_value_is_replaced_in_place_and_all_else_stays() {
        let meta: &[&str] = &["_meta", "progressToken"];
        check_replaced(
            r#"{"a": 1.50, "_meta":{"progressToken":"x","b": [ ]}}"#,
            meta,
            Some((r#"{"a":1.50,"_meta":{"progressToken":7,"b":[ ]}}"#, "\"x\"")),
        );
        check_replaced(r#"{"_meta":{}}"#, meta, None);
        check_replaced(r#"{"_meta":5}"#, meta, None);
        check_replaced("[]", meta, None);
        check_replaced(
            r#"{"\u005fmeta":{"progressToken":1}}"#,
            meta,
            Some((r#"{"_meta":{"progressToken":7}}"#, "1")),
        );
    }

    #[test]
    fn a_repeated_key_is_refused() {
        let twice = r#"{"_meta":{"progressToken":1},"_meta":{"progressToken":2}}"#;
        let refused = replace(&raw(twice), &["_meta", "progressToken"], &raw("7"));
        assert_eq!(
            refused.unwrap_err().to_string(),
            "`_meta` appears twice in one object"
        );
    }

    #[test]
    fn the_fields_of_a_message_are_read() {
        let message =
            br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t","x":{"y":1}}}"#;
        let fields = MessageFields::parse(message).expect("a message");
        assert!(fields.is_request() && !fields.is_answer());
        assert_eq!(fields.param_text(&["name"]).as_deref(), Some("t"));
        assert_eq!(fields.param(&["x", "y"]).expect("a value").get(), "1");
        assert_eq!(fields.to_bytes(), message);
        let error =
            MessageFields::parse(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}"#);
        assert_eq!(error.expect("a message").error_code(), Some(-32601));
        assert!(MessageFields::parse(br#"{"jsonrpc":"1.0","id":1,"method":"m"}"#).is_none());
        assert!(MessageFields::parse(b"[]").is_none());
    }
}

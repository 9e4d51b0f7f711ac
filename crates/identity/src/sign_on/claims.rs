//! Reads single claims, whose values an issuer chooses freely.

use serde_json::{Map, Value};

use super::SignOnRefusal;

/// In characters: agents are shown in the audit table.
const MAX_AGENT: usize = 200;

/// A text that is not empty.
pub(super) fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let value = place(claims, name)?.as_str()?;
    (!value.is_empty()).then_some(value)
}

/// The claim with this name. Some names hold dots, so a whole name comes first; else dots lead into objects.
pub(super) fn place<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(name) {
        return Some(value);
    }
    let (first, rest) = name.split_once('.')?;
    place(claims.get(first)?.as_object()?, rest)
}

/// Whether the claim is this value, or a list with it.
pub(super) fn has_value(claim: &Value, wanted: &str) -> bool {
    match claim {
        Value::String(value) => value == wanted,
        Value::Array(values) => values.iter().any(|value| value.as_str() == Some(wanted)),
        Value::Bool(value) => wanted == if *value { "true" } else { "false" },
        Value::Null | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Whether the token says that the claim was too large for it and is to be read elsewhere: `_claim_names` of OpenID
/// Connect, `hasgroups` of Entra.
pub(super) fn is_elsewhere(claims: &Map<String, Value>, name: &str) -> bool {
    let names = claims.get("_claim_names").and_then(Value::as_object);
    let has_name = names.is_some_and(|names| names.contains_key(name));
    let has_groups = name == "groups" && claims.contains_key("hasgroups");
    place(claims, name).is_none() && (has_name || has_groups)
}

/// The scopes: `scope` of RFC 9068, `scp` of Entra and Okta.
pub(super) fn scopes_of(claims: &Map<String, Value>) -> Vec<&str> {
    let mut scopes = Vec::new();
    for value in ["scope", "scp"].into_iter().filter_map(|name| claims.get(name)) {
        match value {
            Value::String(list) => scopes.extend(list.split_ascii_whitespace()),
            Value::Array(list) => scopes.extend(list.iter().filter_map(Value::as_str)),
            _ => {}
        }
    }
    scopes
}

/// RFC 8693: the outermost `act` is who acts now; those within acted before.
pub(super) fn agent_of(claims: &Map<String, Value>) -> Result<Option<String>, SignOnRefusal> {
    let Some(act) = claims.get("act") else {
        return Ok(None);
    };
    let agent = act.as_object().and_then(|act| text(act, "sub"));
    let agent =
        agent.filter(|agent| agent.chars().count() <= MAX_AGENT && !agent.chars().any(types::is_unseen));
    agent
        .map(|agent| Some(agent.to_owned()))
        .ok_or(SignOnRefusal::BadAgent)
}

/// A time of RFC 7519, in milliseconds since 1970. Verification has removed fractions.
pub(super) fn time(claims: &Map<String, Value>, name: &str) -> Option<i64> {
    claims.get(name)?.as_i64()?.checked_mul(1000)
}

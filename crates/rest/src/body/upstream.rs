//! Bodies of `POST /upstreams` and `PUT /upstreams/{name}`.
//!
//! Absent members stay unchanged, null clears a member. A body has a few members of the gateway and the fields of
//! an entry of `mcpServers`. The caller's reader of
//! definitions checks the fields. All mistakes are reported together.

use policy::Mistake;
use serde_json::{Map, Value};
use types::{TeamId, UpstreamServer, Visibility};

use super::repeats;
use super::server::{MAX_DESCRIPTION, required, team};
use super::texts::{self, Items};
use crate::error::RestError;
use crate::json;
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object, one_of};
use crate::upstreams::{HIDDEN, UpstreamView, shown_url};

/// An upstream server after a request.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamSettings {
    /// Users that may see the server.
    pub visibility: Visibility,
    /// The team whose admins manage the server.
    pub team: Option<TeamId>,
    /// An entry of `mcpServers`.
    pub definition: Map<String, Value>,
}

/// Input of the caller's reader of definitions.
#[derive(Debug)]
pub struct UpstreamDraft<'a> {
    /// The server's name.
    pub name: &'a str,
    /// The whole entry of `mcpServers` to be stored.
    pub definition: &'a Map<String, Value>,
    /// The fields that this request writes. The others were stored before.
    pub written: &'a Map<String, Value>,
    /// Users that may see the server.
    pub visibility: Visibility,
    /// The team whose admins manage the server.
    pub team: Option<&'a TeamId>,
}

/// Maximum characters of a name, which is part of addresses and programs.
pub(crate) const MAX_NAME: usize = 64;

/// Maximum bytes of a definition as JSON.
const MAX_DEFINITION: usize = 64 * 1024;

/// Fields of definitions, each with its names in bodies and in files. Excludes fields that name credential files on
/// the gateway's machine.
pub(crate) const FIELDS: [(&str, &str); 20] = [
    ("url", "url"),
    ("type", "type"),
    ("headers", "headers"),
    ("login", "login"),
    ("command", "command"),
    ("args", "args"),
    ("env", "env"),
    ("cwd", "cwd"),
    ("sandbox", "sandbox"),
    ("limits", "limits"),
    ("description", "description"),
    ("disabled", "disabled"),
    ("timeout", "timeout"),
    ("allow", "allow"),
    ("deny", "deny"),
    ("tags", "tags"),
    ("trusted", "trusted"),
    ("max_calls", "maxCalls"),
    ("max_calls_per_minute", "maxCallsPerMinute"),
    ("idle_stop", "idleStop"),
];

const OWN: [&str; 3] = ["name", "visibility", "team_id"];

/// Members that only the gateway sets. A body of `PUT` may repeat their current values.
pub(crate) const READ_ONLY: [&str; 6] = [
    "owner_email",
    "created_at",
    "updated_at",
    "source",
    "transport",
    "health",
];

/// Names that files of clients and other gateways use.
const RENAMED: [(&str, &str); 9] = [
    ("id", "name"),
    ("server_url", "url"),
    ("http_url", "url"),
    ("address", "url"),
    ("connection_type", "type"),
    ("enabled", "disabled"),
    ("environment", "env"),
    ("team", "team_id"),
    ("owner", "owner_email"),
];

/// Reads the body of `POST /upstreams`: the name and the settings.
///
/// # Errors
/// [`RestError::BadRequest`] if the body is not JSON, else [`RestError::Invalid`] with every mistake, including those
/// from `check`.
pub fn create_upstream(
    body: &[u8],
    check: impl FnOnce(&UpstreamDraft<'_>) -> Vec<Mistake>,
) -> Result<(String, UpstreamSettings), RestError> {
    let mut mistakes = MistakeList::default();
    let body = json::read(body, &mut mistakes)?;
    let object = open(&body, &mut mistakes);
    for name in READ_ONLY {
        if object.given(name) != MemberValue::Absent {
            mistakes.wrong(&object.place(name), "is set by the gateway; leave it out");
        }
    }
    if object.given("name") == MemberValue::Absent {
        mistakes.wrong("name", "is required");
    }
    // Report a wrong name once, and still check the definition.
    let name = required(&object, "name", &mut mistakes, name).unwrap_or_else(|| "server".to_owned());
    let visibility = match object.given("team_id") {
        MemberValue::Value(_) => Visibility::Team,
        MemberValue::Absent | MemberValue::Null => Visibility::Public,
    };
    let blank = UpstreamSettings {
        visibility,
        team: None,
        definition: Map::new(),
    };
    let settings = read(&object, &name, blank, check, &mut mistakes);
    mistakes.finish()?;
    Ok((name, settings))
}

/// Reads the body of `PUT /upstreams/{name}` and applies it to the current settings.
///
/// # Errors
/// As [`create_upstream`], and [`RestError::Conflict`] if the body repeats the `updatedAt` of an older state.
pub fn update_upstream(
    body: &[u8],
    current: &UpstreamServer,
    check: impl FnOnce(&UpstreamDraft<'_>) -> Vec<Mistake>,
) -> Result<UpstreamSettings, RestError> {
    let mut mistakes = MistakeList::default();
    let body = json::read(body, &mut mistakes)?;
    let object = open(&body, &mut mistakes);
    let view = UpstreamView::of_stored(current);
    let unchanged = [
        ("name", view.name.as_str()),
        ("owner_email", view.owner_email.as_deref().unwrap_or_default()),
        ("created_at", view.created_at.as_deref().unwrap_or_default()),
    ];
    for (name, value) in unchanged {
        if !repeats(&object, name, value) {
            mistakes.wrong(&object.place(name), "cannot be changed; leave it out");
        }
    }
    let ownership = &current.ownership;
    let base = UpstreamSettings {
        visibility: ownership.visibility,
        team: ownership.team.clone(),
        definition: serde_json::from_str(&current.definition).unwrap_or_default(),
    };
    let settings = read(&object, &current.name, base, check, &mut mistakes);
    mistakes.finish()?;
    if !repeats(
        &object,
        "updated_at",
        view.updated_at.as_deref().unwrap_or_default(),
    ) {
        let text =
            "the upstream server has changed since it was read; read it again, or leave out `updatedAt`";
        return Err(RestError::Conflict(text.to_owned()));
    }
    Ok(settings)
}

fn open<'v>(body: &'v Value, mistakes: &mut MistakeList) -> Object<'v> {
    Object::open("", body, &known(), &RENAMED, mistakes)
}

fn known() -> Vec<&'static str> {
    let fields = FIELDS.iter().map(|(name, _)| *name);
    OWN.into_iter().chain(fields).chain(READ_ONLY).collect()
}

fn name(value: &Value) -> Result<String, String> {
    let name = texts::line(value, MAX_NAME)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_plain) {
        true => Ok(name),
        false => Err("expected a letter, then letters, digits, `_` and `-`".to_owned()),
    }
}

fn read(
    object: &Object<'_>,
    name: &str,
    base: UpstreamSettings,
    check: impl FnOnce(&UpstreamDraft<'_>) -> Vec<Mistake>,
    mistakes: &mut MistakeList,
) -> UpstreamSettings {
    let visibility = required(object, "visibility", mistakes, |value| {
        one_of(value, &Visibility::ALL, Visibility::name)
    });
    let visibility = visibility.unwrap_or(base.visibility);
    let team = match object.read("team_id", mistakes, team) {
        MemberValue::Absent => base.team,
        MemberValue::Null => None,
        MemberValue::Value(team) => team,
    };
    if visibility == Visibility::Team && team.is_none() && object.given("team_id").value().is_none() {
        let message =
            "is required for visibility \"team\"; name the team, or set `visibility` to \"private\"";
        mistakes.wrong(&object.place("team_id"), message);
    }
    let (mut definition, mut written) = (base.definition.clone(), Map::new());
    for (field, stored) in FIELDS {
        match object.given(field) {
            MemberValue::Absent => {}
            MemberValue::Null => drop(definition.remove(stored)),
            MemberValue::Value(value) => {
                let Some(value) = member(object, field, value, &base.definition, &mut written, mistakes)
                else {
                    continue;
                };
                definition.insert(stored.to_owned(), value);
            }
        }
    }
    refuse_moved_headers(object, &base.definition, &definition, mistakes);
    let draft = UpstreamDraft {
        name,
        definition: &definition,
        written: &written,
        visibility,
        team: team.as_ref(),
    };
    check_definition(object, &draft, check, mistakes);
    UpstreamSettings {
        visibility,
        team,
        definition,
    }
}

/// The value of one field to be stored. Values of the request itself go to `written`.
fn member(
    object: &Object<'_>,
    field: &str,
    value: &Value,
    base: &Map<String, Value>,
    written: &mut Map<String, Value>,
    mistakes: &mut MistakeList,
) -> Option<Value> {
    let value = match field {
        "tags" => {
            let tags = texts::list(object, field, Items::Tags, mistakes).value()?;
            texts::without_duplicates(tags).into()
        }
        "description" => mistakes
            .or_wrong(&object.place(field), texts::text(value, MAX_DESCRIPTION))?
            .into(),
        "url" => {
            let stored = base.get(field).and_then(Value::as_str);
            match stored.filter(|stored| value.as_str() == Some(&shown_url(stored))) {
                Some(stored) => return Some(stored.into()),
                None => value.clone(),
            }
        }
        "headers" | "env" => return Some(secrets(object, field, value, base, written, mistakes)),
        _ => value.clone(),
    };
    written.insert(field.to_owned(), value.clone());
    Some(value)
}

/// The values of `headers` or `env`. The placeholder for a hidden value keeps the stored value.
fn secrets(
    object: &Object<'_>,
    field: &str,
    value: &Value,
    base: &Map<String, Value>,
    written: &mut Map<String, Value>,
    mistakes: &mut MistakeList,
) -> Value {
    let Some(members) = value.as_object() else {
        // The reader of definitions reports the type.
        return value.clone();
    };
    let (mut all, mut own) = (Map::new(), Map::new());
    for (name, value) in members {
        if value.as_str() != Some(HIDDEN) {
            own.insert(name.clone(), value.clone());
            all.insert(name.clone(), value.clone());
            continue;
        }
        match base.get(field).and_then(|stored| stored.get(name)) {
            Some(stored) => drop(all.insert(name.clone(), stored.clone())),
            None => {
                let place = json::member(&object.place(field), name);
                mistakes.wrong(
                    &place,
                    format!("`{HIDDEN}` stands for a stored value, and none is stored; write the value"),
                );
            }
        }
    }
    written.insert(field.to_owned(), own.into());
    all.into()
}

/// Refuses to send stored values of headers to another address than before.
fn refuse_moved_headers(
    object: &Object<'_>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    mistakes: &mut MistakeList,
) {
    let headers = |definition: &Map<String, Value>| {
        let headers = definition.get("headers").and_then(Value::as_object);
        headers.cloned().unwrap_or_default()
    };
    if before.get("url") == after.get("url") || before.is_empty() {
        return;
    }
    let given = match object.given("headers") {
        MemberValue::Value(Value::Object(given)) => given.clone(),
        _ => Map::new(),
    };
    for name in headers(after).keys() {
        if given.get(name).is_none_or(|value| value.as_str() == Some(HIDDEN)) {
            let place = json::member(&object.place("headers"), name);
            mistakes.wrong(&place, "was written for another address; write the value again");
        }
    }
}

fn check_definition(
    object: &Object<'_>,
    draft: &UpstreamDraft<'_>,
    check: impl FnOnce(&UpstreamDraft<'_>) -> Vec<Mistake>,
    mistakes: &mut MistakeList,
) {
    let has = |field| draft.definition.contains_key(field);
    if !has("url") && !has("command") {
        mistakes.wrong("url", "is required; write the address of the server");
        return;
    }
    let bytes = Value::Object(draft.definition.clone()).to_string().len();
    if bytes > MAX_DEFINITION {
        mistakes.wrong(
            "body",
            format!("the definition has {bytes} bytes; {MAX_DEFINITION} are the most"),
        );
    }
    for mistake in check(draft) {
        let Mistake { field, message } = mistake;
        let end = field.find(['.', '[']).unwrap_or(field.len());
        let (first, rest) = field.split_at(end);
        let known = FIELDS.iter().find(|(_, stored)| *stored == first);
        let place = known.map_or_else(|| first.to_owned(), |(name, _)| object.place(name));
        let place = if field.is_empty() { "body" } else { &place };
        mistakes.wrong(&format!("{place}{rest}"), message);
    }
}

#[cfg(test)]
mod tests;

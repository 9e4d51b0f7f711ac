//! Bodies of `POST /servers` and `PUT /servers/{id}`.
//!
//! Absent members stay unchanged, null clears a member. Submodules read the bodies of upstream servers, tokens,
//! users, teams and members.

mod accounts;
mod code;
mod policy;
mod server;
mod texts;
pub(crate) mod upstream;

#[cfg(test)]
mod tests;

use serde_json::Value;
use types::{CodeDefaults, ServerId, ServerKind, ServerSettings, VirtualServer, Visibility};

use crate::error::RestError;
use crate::json;
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object};
use crate::view::ServerView;

pub use accounts::{
    ChangedUser, NewTeam, NewUser, TokenRequest, create_team, create_token, create_user, set_login,
    set_member, update_team, update_user,
};
pub use policy::sandbox_policy_json;
pub use upstream::{UpstreamDraft, UpstreamSettings, create_upstream, update_upstream};

pub(crate) use accounts::MAX_KEY;
pub(crate) use code::STUB_LANGUAGES;
pub(crate) use policy::LANGUAGES;
pub(crate) use server::{MAX_DESCRIPTION, MAX_ICON, MAX_NAME};
pub(crate) use texts::{MAX_ITEM, MAX_ITEMS};

/// The request of `POST /servers`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServer {
    /// Chosen by the client; `None` for the server to choose.
    pub id: Option<ServerId>,
    /// The server's settings.
    pub settings: ServerSettings,
}

/// Members that a request may set on every server.
const SETTINGS: [&str; 7] = [
    "name",
    "description",
    "type",
    "icon",
    "tags",
    "visibility",
    "team_id",
];

/// Members that only the gateway sets. A body may repeat their current values.
const READ_ONLY: [&str; 4] = ["id", "owner_email", "created_at", "updated_at"];

/// Names that other gateways use.
const RENAMED: [(&str, &str); 6] = [
    ("server_type", "type"),
    ("kind", "type"),
    ("team", "team_id"),
    ("owner", "owner_email"),
    ("title", "name"),
    ("policy", "sandbox_policy"),
];

/// Reads the body of `POST /servers`.
///
/// # Errors
/// [`RestError::BadRequest`] if the body is not JSON, else [`RestError::Invalid`] with every mistake.
pub fn create_server(body: &[u8], defaults: &CodeDefaults) -> Result<NewServer, RestError> {
    let mut mistakes = MistakeList::default();
    let body = json::read(body, &mut mistakes)?;
    let object = open(&body, &mut mistakes);
    for name in READ_ONLY.into_iter().filter(|name| *name != "id") {
        if object.given(name) != MemberValue::Absent {
            mistakes.wrong(&object.place(name), "is set by the gateway; leave it out");
        }
    }
    let id = object.read("id", &mut mistakes, server::id).value();
    if object.given("name") == MemberValue::Absent {
        mistakes.wrong("name", "is required");
    }
    let settings = server::read(&object, &blank(&object), defaults, &mut mistakes);
    mistakes.finish()?;
    Ok(NewServer { id, settings })
}

/// Reads the body of `PUT /servers/{id}` and applies it to the settings of `current`.
///
/// # Errors
/// [`RestError::BadRequest`] if the body is not JSON, [`RestError::Invalid`] with every mistake, and
/// [`RestError::Conflict`] if the body repeats the `updatedAt` of an older state of the server.
pub fn update_server(
    body: &[u8],
    current: &VirtualServer,
    defaults: &CodeDefaults,
) -> Result<ServerSettings, RestError> {
    let mut mistakes = MistakeList::default();
    let body = json::read(body, &mut mistakes)?;
    let object = open(&body, &mut mistakes);
    let view = ServerView::of(current);
    let unchanged = [
        ("id", &view.id),
        ("owner_email", &view.owner_email),
        ("created_at", &view.created_at),
    ];
    for (name, value) in unchanged {
        if !repeats(&object, name, value) {
            mistakes.wrong(&object.place(name), "cannot be changed; leave it out");
        }
    }
    let settings = server::read(&object, &current.settings, defaults, &mut mistakes);
    mistakes.finish()?;
    if !repeats(&object, "updated_at", &view.updated_at) {
        let text = "the server has changed since it was read; read it again, or leave out `updatedAt`";
        return Err(RestError::Conflict(text.to_owned()));
    }
    Ok(settings)
}

fn open<'v>(body: &'v Value, mistakes: &mut MistakeList) -> Object<'v> {
    Object::open("", body, &known(), &RENAMED, mistakes)
}

/// All members of a body, in snake case.
pub(crate) fn known() -> Vec<&'static str> {
    SETTINGS.into_iter().chain(code::NAMES).chain(READ_ONLY).collect()
}

/// Whether a member is absent or repeats the current value.
fn repeats(object: &Object<'_>, name: &str, value: &str) -> bool {
    match object.given(name) {
        MemberValue::Absent => true,
        MemberValue::Null => false,
        MemberValue::Value(given) => given.as_str() == Some(value),
    }
}

/// The defaults of a new server. A server with a team is visible to the team.
fn blank(object: &Object<'_>) -> ServerSettings {
    ServerSettings {
        name: String::new(),
        description: None,
        kind: ServerKind::Standard,
        tags: Vec::new(),
        visibility: match object.given("team_id") {
            MemberValue::Value(_) => Visibility::Team,
            MemberValue::Absent | MemberValue::Null => Visibility::Public,
        },
        team: None,
        icon: None,
    }
}

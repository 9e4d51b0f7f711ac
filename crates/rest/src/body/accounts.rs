//! Bodies of requests that create and change tokens, users, teams and members.

#[cfg(test)]
mod tests;

use identity::{BadName, Email, PermissionSet, Role, Team, User, check_name, team_id};
use serde_json::Value;
use types::TeamId;

use super::texts::{self, MAX_ITEMS};
use super::{repeats, server};
use crate::accounts::{TeamView, UserView};
use crate::error::RestError;
use crate::json;
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object, boolean, kind};
use crate::page::time;

/// Characters of a key for an upstream server.
pub(crate) const MAX_KEY: usize = 4096;

/// The request of `POST /tokens`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRequest {
    /// The token's user; `None` for the caller.
    pub user: Option<Email>,
    /// Text for people.
    pub name: Option<String>,
    /// Limits the user's roles.
    pub role: Role,
    /// Limits the user's teams; `None` if absent. An empty list reaches public objects only.
    pub teams: Option<Vec<TeamId>>,
    /// Limits the role's permissions; `None` for all of them.
    pub scopes: Option<PermissionSet>,
    /// Time of expiry, in milliseconds since 1970; `None` for a token without expiry.
    pub expires_ms: Option<i64>,
}

/// The request of `POST /users`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUser {
    /// The address.
    pub user: Email,
    /// The role outside of teams.
    pub role: Role,
}

/// The request of `PUT /users/{email}`; `None` leaves a field unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedUser {
    /// The role outside of teams.
    pub role: Option<Role>,
    /// Whether all of the user's tokens are invalid.
    pub disabled: Option<bool>,
}

/// The request of `POST /teams`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTeam {
    /// Unique in the tenant.
    pub id: TeamId,
    /// Text for people.
    pub name: String,
}

/// Plausible wrong names of members.
const RENAMED: [(&str, &str); 9] = [
    ("email", "user"),
    ("user_email", "user"),
    ("owner", "user"),
    ("team", "teams"),
    ("permissions", "scopes"),
    ("scope", "scopes"),
    ("expires_at", "expires"),
    ("expiry", "expires"),
    ("enabled", "disabled"),
];

/// Reads the body of `POST /tokens`.
///
/// # Errors
/// [`RestError::BadRequest`] if the body is not JSON, else [`RestError::Invalid`] with every mistake.
pub fn create_token(body: &[u8]) -> Result<TokenRequest, RestError> {
    const NAMES: [&str; 6] = ["user", "name", "role", "teams", "scopes", "expires"];
    read(body, &NAMES, |object, mistakes| {
        let role = demanded(object, "role", mistakes, role);
        let user = object.read("user", mistakes, email).value();
        let name = object.read("name", mistakes, name).value();
        let teams = list(object, "teams", mistakes, team).value();
        let scopes = list(object, "scopes", mistakes, word).value();
        let expires_ms = object.read("expires", mistakes, |value| time(text(value)?));
        Some(TokenRequest {
            user,
            name,
            role: role?,
            teams,
            scopes: scopes.map(|scopes| scopes.into_iter().collect()),
            expires_ms: expires_ms.value(),
        })
    })
}

/// Reads the body of `POST /users`.
///
/// # Errors
/// As [`create_token`].
pub fn create_user(body: &[u8]) -> Result<NewUser, RestError> {
    read(body, &["user", "role"], |object, mistakes| {
        let user = demanded(object, "user", mistakes, email);
        let role = demanded(object, "role", mistakes, role);
        Some(NewUser {
            user: user?,
            role: role?,
        })
    })
}

/// Reads the body of `PUT /users/{email}`. A body may repeat the current user.
///
/// # Errors
/// As [`create_token`].
pub fn update_user(body: &[u8], current: &User) -> Result<ChangedUser, RestError> {
    const NAMES: [&str; 5] = ["user", "role", "disabled", "created_at", "disabled_at"];
    let view = UserView::of(current);
    read(body, &NAMES, |object, mistakes| {
        same(object, mistakes, "user", Some(&view.user));
        same(object, mistakes, "created_at", Some(&view.created_at));
        same(object, mistakes, "disabled_at", view.disabled_at.as_deref());
        Some(ChangedUser {
            role: server::required(object, "role", mistakes, role),
            disabled: server::required(object, "disabled", mistakes, boolean),
        })
    })
}

/// Reads the body of `POST /teams`. The default name is the id.
///
/// # Errors
/// As [`create_token`].
pub fn create_team(body: &[u8]) -> Result<NewTeam, RestError> {
    read(body, &["id", "name"], |object, mistakes| {
        let id = demanded(object, "id", mistakes, team);
        let name = object.read("name", mistakes, name).value();
        let id = id?;
        Some(NewTeam {
            name: name.unwrap_or_else(|| id.to_string()),
            id,
        })
    })
}

/// Reads the body of `PUT /teams/{id}`, and returns the team's new name. A body may repeat the current team.
///
/// # Errors
/// As [`create_token`].
pub fn update_team(body: &[u8], current: &Team) -> Result<String, RestError> {
    let view = TeamView::of(current);
    read(body, &["id", "name", "created_at"], |object, mistakes| {
        same(object, mistakes, "id", Some(&view.id));
        same(object, mistakes, "created_at", Some(&view.created_at));
        Some(server::required(object, "name", mistakes, name).unwrap_or(view.name))
    })
}

/// Reads the body of `PUT /teams/{id}/members/{email}`: the role in the team.
///
/// # Errors
/// As [`create_token`].
pub fn set_member(body: &[u8]) -> Result<Role, RestError> {
    read(body, &["role"], |object, mistakes| {
        demanded(object, "role", mistakes, role)
    })
}

/// Reads the body of `PUT /logins/{name}`: the key.
///
/// # Errors
/// As [`create_token`].
pub fn set_login(body: &[u8]) -> Result<String, RestError> {
    read(body, &["key"], |object, mistakes| {
        demanded(object, "key", mistakes, |value| {
            let key = texts::text(value, MAX_KEY)?;
            (!key.is_empty())
                .then_some(key)
                .ok_or_else(|| "is empty".to_owned())
        })
    })
}

/// Reads a body of one object. `members` must report a mistake whenever it returns `None`.
fn read<T>(
    body: &[u8],
    known: &[&'static str],
    members: impl FnOnce(&Object<'_>, &mut MistakeList) -> Option<T>,
) -> Result<T, RestError> {
    let mut mistakes = MistakeList::default();
    let body = json::read(body, &mut mistakes)?;
    let object = Object::open("", &body, known, &RENAMED, &mut mistakes);
    let made = members(&object, &mut mistakes);
    mistakes.finish()?;
    made.ok_or_else(|| RestError::BadRequest("the body lacks members".to_owned()))
}

/// A required member.
fn demanded<'v, T>(
    object: &Object<'v>,
    name: &str,
    mistakes: &mut MistakeList,
    read: impl FnOnce(&'v Value) -> Result<T, String>,
) -> Option<T> {
    if object.given(name).value().is_none() {
        mistakes.wrong(&object.place(name), "is required");
    }
    object.read(name, mistakes, read).value()
}

/// Checks a member that only the gateway sets.
fn same(object: &Object<'_>, mistakes: &mut MistakeList, name: &str, value: Option<&str>) {
    let is_same = match value {
        Some(value) => repeats(object, name, value),
        None => object.given(name).value().is_none(),
    };
    if !is_same {
        mistakes.wrong(&object.place(name), "cannot be changed; leave it out");
    }
}

/// A list. Reports each wrong item at its place.
fn list<'v, T>(
    object: &Object<'v>,
    name: &str,
    mistakes: &mut MistakeList,
    item: impl Fn(&'v Value) -> Result<T, String>,
) -> MemberValue<Vec<T>> {
    let given = object.read(name, mistakes, |value| {
        let items = value.as_array();
        let items = items.ok_or_else(|| format!("expected an array of strings, found {}", kind(value)))?;
        match items.len() <= MAX_ITEMS {
            true => Ok(items),
            false => Err(format!("has {} items; {MAX_ITEMS} are the most", items.len())),
        }
    });
    let items = match given {
        MemberValue::Value(items) => items,
        MemberValue::Absent => return MemberValue::Absent,
        MemberValue::Null => return MemberValue::Null,
    };
    let place = object.place(name);
    let read = items.iter().enumerate();
    let read = read.filter_map(|(index, value)| mistakes.or_wrong(&format!("{place}[{index}]"), item(value)));
    MemberValue::Value(read.collect())
}

fn text(value: &Value) -> Result<&str, String> {
    value
        .as_str()
        .ok_or_else(|| format!("expected a string, found {}", kind(value)))
}

fn email(value: &Value) -> Result<Email, String> {
    text(value)?
        .parse()
        .map_err(|bad: identity::BadEmail| bad.to_string())
}

fn role(value: &Value) -> Result<Role, String> {
    word(value)
}

/// A role or permission of `identity`.
fn word<T: std::str::FromStr<Err = identity::UnknownWord>>(value: &Value) -> Result<T, String> {
    text(value)?
        .parse()
        .map_err(|unknown: identity::UnknownWord| unknown.to_string())
}

fn name(value: &Value) -> Result<String, String> {
    let name = text(value)?;
    check_name(name).map_err(|bad| without_field(&bad))?;
    Ok(name.to_owned())
}

fn team(value: &Value) -> Result<TeamId, String> {
    team_id(text(value)?).map_err(|bad| without_field(&bad))
}

/// The message without its leading field name, which differs in this body.
fn without_field(bad: &BadName) -> String {
    let text = bad.to_string();
    text.split_once(": ")
        .map_or_else(|| text.clone(), |(_, told)| told.to_owned())
}

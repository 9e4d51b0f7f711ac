//! The members of every server.

use serde_json::Value;
use types::{CodeDefaults, ServerId, ServerKind, ServerSettings, TeamId, Visibility};

use super::code;
use super::texts::{self, Items};
use crate::mistakes::MistakeList;
use crate::object::{MemberValue, Object, one_of};

/// Maximum characters of a name.
pub(crate) const MAX_NAME: usize = 255;
/// Maximum characters of a description.
pub(crate) const MAX_DESCRIPTION: usize = 8192;
/// Maximum characters of an icon.
pub(crate) const MAX_ICON: usize = 2048;
/// Maximum characters of an id, which is part of addresses and of directories' names.
const MAX_ID: usize = 64;

const ICONS: [&str; 3] = ["https://", "http://", "data:image/"];

/// The settings `base` after the request.
pub(super) fn read(
    object: &Object<'_>,
    base: &ServerSettings,
    defaults: &CodeDefaults,
    mistakes: &mut MistakeList,
) -> ServerSettings {
    let settings = ServerSettings {
        name: required(object, "name", mistakes, |value| texts::line(value, MAX_NAME))
            .unwrap_or_else(|| base.name.clone()),
        description: cleared(
            object.read("description", mistakes, |value| {
                texts::text(value, MAX_DESCRIPTION)
            }),
            &base.description,
        ),
        kind: kind(object, &base.kind, defaults, mistakes),
        tags: texts::without_duplicates(cleared(
            texts::list(object, "tags", Items::Tags, mistakes),
            &base.tags,
        )),
        visibility: required(object, "visibility", mistakes, |value| {
            one_of(value, &Visibility::ALL, Visibility::name)
        })
        .unwrap_or(base.visibility),
        team: cleared(object.read("team_id", mistakes, team), &base.team),
        icon: cleared(object.read("icon", mistakes, icon), &base.icon),
    };
    // A wrong `team_id` is reported separately.
    let is_team_wrong = object.given("team_id").value().is_some() && settings.team.is_none();
    if settings.visibility == Visibility::Team && settings.team.is_none() && !is_team_wrong {
        let message =
            "is required for visibility \"team\"; name the team, or set `visibility` to \"private\"";
        mistakes.wrong(&object.place("team_id"), message);
    }
    settings
}

/// An id that a client chooses.
pub(super) fn id(value: &Value) -> Result<ServerId, String> {
    let text = texts::line(value, MAX_ID)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if text.chars().all(is_plain) {
        Ok(ServerId::new(text))
    } else {
        Err("holds other characters than A-Z a-z 0-9 _ -".to_owned())
    }
}

pub(super) fn team(value: &Value) -> Result<Option<TeamId>, String> {
    texts::line(value, texts::MAX_ITEM).map(|team| Some(TeamId::new(team)))
}

fn icon(value: &Value) -> Result<Option<String>, String> {
    let icon = texts::line(value, MAX_ICON)?;
    if ICONS.iter().any(|start| icon.starts_with(start)) {
        Ok(Some(icon))
    } else {
        Err(format!(
            "expected a text that begins with \"{}\"",
            ICONS.join("\" or \"")
        ))
    }
}

/// The server's kind with its own settings. Reports mistakes in settings of every kind.
fn kind(
    object: &Object<'_>,
    base: &ServerKind,
    defaults: &CodeDefaults,
    mistakes: &mut MistakeList,
) -> ServerKind {
    let [standard, code_execution] = ServerKind::NAMES;
    let name = required(object, "type", mistakes, |value| {
        one_of(value, &ServerKind::NAMES, |name| name)
    });
    let is_unclear = name.is_none() && object.given("type") != MemberValue::Absent;
    let is_code = name.unwrap_or(base.name()) == code_execution;
    let settings = code::read(object, base.code(), defaults, mistakes);
    if is_code {
        return ServerKind::CodeExecution(Box::new(settings));
    }
    if !is_unclear {
        code::refuse(object, standard, mistakes);
    }
    ServerKind::Standard
}

/// A member that cannot be cleared.
pub(super) fn required<'v, T>(
    object: &Object<'v>,
    name: &str,
    mistakes: &mut MistakeList,
    read: impl FnOnce(&'v Value) -> Result<T, String>,
) -> Option<T> {
    let given = object.read(name, mistakes, read);
    if matches!(given, MemberValue::Null) {
        mistakes.wrong(
            &object.place(name),
            "cannot be null; write a value, or leave it out",
        );
    }
    given.value()
}

/// A member's value after the request.
pub(super) fn cleared<T: Clone + Default>(given: MemberValue<impl Into<T>>, base: &T) -> T {
    match given {
        MemberValue::Absent => base.clone(),
        MemberValue::Null => T::default(),
        MemberValue::Value(value) => value.into(),
    }
}

//! `[[gateway.issuers.claims]]` and `scopes`: what claims and scopes of a token give.

use std::collections::BTreeMap;

use environment::Diagnostics;
use identity::{ClaimGrant, ClaimRule, Permission, PermissionSet, Role, team_id};
use types::TeamId;

use super::{MAX_LIST, checked};
use crate::file::table::{Section, Value, unknown};

const KEYS: [&str; 4] = ["claim", "value", "role", "team"];

#[derive(Debug, Default)]
struct WrittenRule {
    claim: Option<String>,
    value: Option<String>,
    role: Option<Role>,
    team: Option<TeamId>,
}

pub(super) fn read_claims(value: &Value<'_>, field: &str, diagnostics: &mut Diagnostics) -> Vec<ClaimRule> {
    let Some(tables) = value.tables() else {
        diagnostics.mistake(
            field,
            "write each rule as a section of its own, headed `[[gateway.issuers.claims]]`",
        );
        return Vec::new();
    };
    if tables.len() > MAX_LIST {
        diagnostics.mistake(
            field,
            format!("{} rules are too many; write at most {MAX_LIST}", tables.len()),
        );
        return Vec::new();
    }
    let rules = tables.iter().enumerate();
    let read = rules.filter_map(|(index, table)| read_rule(table, &format!("{field}[{index}]"), diagnostics));
    read.collect()
}

fn read_rule(table: &Section<'_>, field: &str, diagnostics: &mut Diagnostics) -> Option<ClaimRule> {
    let mut written = WrittenRule::default();
    let before = diagnostics.mistakes.len();
    for (key, value) in table.entries() {
        if let Err(message) = written.set(key, &value) {
            diagnostics.mistake(&format!("{field}.{key}"), message);
        }
    }
    if diagnostics.mistakes.len() > before {
        return None;
    }
    written
        .finish()
        .map_err(|message| diagnostics.mistake(field, message))
        .ok()
}

/// Each scope with what it permits, as in `scopes = { "mcp:use" = ["servers.read", "servers.use"] }`.
pub(super) fn read_scopes(
    value: &Value<'_>,
    field: &str,
    diagnostics: &mut Diagnostics,
) -> BTreeMap<String, PermissionSet> {
    let mut scopes = BTreeMap::new();
    let Some(table) = value.table() else {
        diagnostics.mistake(
            field,
            format!("expected a table of scopes, found {}", value.kind()),
        );
        return scopes;
    };
    for (scope, value) in table.entries() {
        let place = format!("{field}.{scope}");
        match permissions(scope, &value) {
            Ok(set) => drop(scopes.insert(scope.to_owned(), set)),
            Err(message) => diagnostics.mistake(&place, message),
        }
    }
    scopes
}

fn permissions(scope: &str, value: &Value<'_>) -> Result<PermissionSet, String> {
    // RFC 6749, `scope-token`; it is sent within quotes.
    let is_scope = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    if !(1..=200).contains(&scope.len()) || !scope.bytes().all(is_scope) {
        return Err("a scope is 1 to 200 visible ASCII characters without quotes and backslashes".to_owned());
    }
    let names = value.strings()?;
    let read = names
        .iter()
        .map(|name| name.parse::<Permission>().map_err(|wrong| wrong.to_string()));
    let set: PermissionSet = read.collect::<Result<_, _>>()?;
    match set.is_empty() {
        true => Err("the array is empty; name what the scope permits, such as \"servers.use\"".to_owned()),
        false => Ok(set),
    }
}

pub(super) fn role(value: &Value<'_>) -> Result<Role, String> {
    value.string()?.parse::<Role>().map_err(|wrong| wrong.to_string())
}

// === impl WrittenRule ===

impl WrittenRule {
    fn set(&mut self, key: &str, value: &Value<'_>) -> Result<(), String> {
        match key {
            "claim" => self.claim = Some(checked(value.string()?)?),
            "value" => self.value = Some(checked(value.string()?)?),
            "role" => self.role = Some(role(value)?),
            "team" => self.team = Some(team_id(value.string()?).map_err(|wrong| wrong.to_string())?),
            _ => return Err(unknown("key", key, KEYS)),
        }
        Ok(())
    }

    fn finish(self) -> Result<ClaimRule, String> {
        let (Some(claim), Some(value)) = (self.claim, self.value) else {
            return Err(
                "`claim` or `value` is missing, as in claim = \"groups\", value = \"platform\"".to_owned(),
            );
        };
        let gives = match (self.team, self.role) {
            (None, None) => return Err("the rule gives nothing; write `role`, `team`, or both".to_owned()),
            (None, Some(role)) => ClaimGrant::Role(role),
            (Some(_), Some(role)) if !role.is_for_teams() => {
                return Err(format!(
                    "'{role}' is not a role of a team; name 'team_admin', 'developer' or 'viewer', or leave `team` out"
                ));
            }
            (Some(team), role) => ClaimGrant::Member(team, role.unwrap_or(Role::Developer)),
        };
        Ok(ClaimRule { claim, value, gives })
    }
}

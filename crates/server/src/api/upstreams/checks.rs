//! What a caller may write into a definition.

use catalog::normalise;
use identity::Identity;
use policy::Mistake;
use rest::{RestError, UpstreamDraft};
use serde_json::{Map, Value};
use types::{Ownership, UpstreamServer, Visibility};
use upstream_wire::check_public_url;

use super::name_is_taken;
use crate::api::GatewayApi;
use crate::api::upstream_set::{COMMANDS_ARE_OFF, REFERENCE, check_stored};

impl GatewayApi {
    /// All mistakes of a draft, for this caller. `before` is absent for a new server.
    pub(super) fn check_draft(
        &self,
        identity: &Identity,
        draft: &UpstreamDraft<'_>,
        before: Option<&Ownership>,
    ) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        if draft.definition.contains_key("command") {
            mistakes.extend(self.command_mistake(identity));
        }
        if !identity.is_unrestricted() {
            let refused = foreign_mistakes(draft, before);
            // Further messages could tell which variables of the operator are set.
            let has_references = draft_has_references(draft.written);
            mistakes.extend(refused);
            if has_references {
                return mistakes;
            }
        }
        let definition = Value::Object(draft.definition.clone()).to_string();
        let data = &self.parts.host.shared.configs.data_dir;
        let found = check_stored(draft.name, &definition, data).into_iter();
        mistakes.extend(found.map(|(field, message)| Mistake { field, message }));
        mistakes
    }

    fn command_mistake(&self, identity: &Identity) -> Option<Mistake> {
        let why = match (identity.is_unrestricted(), self.parts.upstreams.allows_commands) {
            (true, true) => return None,
            (_, false) => COMMANDS_ARE_OFF,
            (false, true) => {
                "a command runs on the gateway's machine, so only an unrestricted platform admin defines one; write `url`"
            }
        };
        Some(mistake("command", why))
    }

    /// A name must differ from those of the operator's servers and directories, also as programs write it.
    pub(super) async fn refuse_names_of_files(&self, server: &UpstreamServer) -> Result<(), RestError> {
        let broker = &self.parts.host.shared.broker;
        broker.look().await;
        let found = broker.files_found();
        let directories = found.servers.iter().map(|server| &server.listed.name);
        let mut names = self.files().iter().map(|config| &config.name).chain(directories);
        match names.any(|name| normalise(name) == server.alias) {
            true => Err(name_is_taken(&server.name)),
            false => Ok(()),
        }
    }
}

/// What only an unrestricted platform admin may write.
fn foreign_mistakes(draft: &UpstreamDraft<'_>, before: Option<&Ownership>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    if draft.team.is_none() {
        let why = "is required: only an unrestricted platform admin defines servers without a team; name a team that \
                   you administer";
        mistakes.push(mistake("team_id", why));
    }
    // Everybody's arguments go to a public server.
    let was_public = before.is_some_and(|before| before.visibility == Visibility::Public);
    if draft.visibility == Visibility::Public || was_public {
        let why = "only an unrestricted platform admin creates or changes public servers; write \"team\" or \"private\" for one of \
                   your team";
        mistakes.push(mistake("visibility", why));
    }
    if let Some(url) = draft.written.get("url").and_then(Value::as_str)
        && let Err(error) = check_public_url(url)
    {
        mistakes.push(mistake("url", &error.to_string()));
    }
    let why = "holds a reference to the operator's environment, which only an unrestricted platform admin may use; write \
               the value";
    mistakes.extend(references(draft.written).map(|field| mistake(&field, why)));
    mistakes
}

fn draft_has_references(written: &Map<String, Value>) -> bool {
    references(written).next().is_some()
}

/// The places that hold `${`, names too.
fn references(written: &Map<String, Value>) -> impl Iterator<Item = String> {
    written.iter().flat_map(|(field, value)| match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, value)| name.contains(REFERENCE) || value.to_string().contains(REFERENCE))
            .map(|(name, _)| format!("{field}.{name}"))
            .collect(),
        value if value.to_string().contains(REFERENCE) => vec![field.clone()],
        _ => Vec::new(),
    })
}

fn mistake(field: &str, message: &str) -> Mistake {
    Mistake {
        field: field.to_owned(),
        message: message.to_owned(),
    }
}

//! Decides whether codeyard covers a client's server: codeyard uses the same server and blocks at least the same
//! tools.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clients::{ClientFile, ClientServer};
use environment::Environment as _;
use registry::{Definition, DefinitionStatus, Secrets};
use serde_json::Value;
use types::ToolRules;
use upstream::ServerConfig;

use crate::references::references;

/// Codeyard's servers, for comparison with a client's servers.
pub struct KnownServers<'a> {
    /// All definitions, used or not.
    pub definitions: Vec<Definition>,
    /// Codeyard's own executable.
    pub executable: PathBuf,
    /// Whether the policy or a server's rules forbid a tool to every program.
    pub forbids: &'a dyn Fn((&str, &ToolRules), &str) -> bool,
}

impl KnownServers<'_> {
    /// Refuses a client's server that is codeyard itself.
    pub(crate) fn check_self(&self, server: &ServerConfig) -> Result<(), String> {
        if upstream_wire::is_self_reference(&server.transport, &self.executable) {
            return Err("this entry starts codeyard itself; add the servers behind it instead".to_owned());
        }
        Ok(())
    }

    /// The remedy for each tool filter of the client that codeyard does not apply to its own server.
    pub(crate) fn open_filters(&self, found: &ClientServer, ours: &ServerConfig) -> Vec<String> {
        let forbidden = |tool: &str| (self.forbids)(ours.rules(), tool);
        let open = found
            .filters
            .iter()
            .filter(|filter| !filter.is_met(&ours.name, &ours.tools.allow, forbidden));
        open.map(|filter| filter.told(&ours.name)).collect()
    }
}

/// Refuses a client's server that is a connection to codeyard.
pub(crate) fn check_connection(found: &ClientServer) -> Result<(), String> {
    if found.is_codeyard_over_http() {
        return Err(
            "this is codeyard itself, over HTTP; give it another name if it serves other servers".to_owned(),
        );
    }
    Ok(())
}

/// A note if codeyard's rules block tools that the client shows.
pub(crate) fn narrowed(place: &ClientFile, found: &ClientServer, ours: &ServerConfig) -> Option<String> {
    let definition = found.definition.as_ref().ok()?;
    let keeps_more = |(field, ours): &(&str, &[String])| {
        let theirs = definition.get(*field).and_then(Value::as_array);
        let theirs: BTreeSet<&str> = theirs.into_iter().flatten().filter_map(Value::as_str).collect();
        let ours: BTreeSet<&str> = ours.iter().map(String::as_str).collect();
        match *field {
            "allow" => !ours.is_empty() && (theirs.is_empty() || !theirs.is_subset(&ours)),
            _ => !ours.is_subset(&theirs),
        }
    };
    let (name, rules) = ours.rules();
    let all = [("allow", &*rules.allow), ("deny", &*rules.deny)];
    let other = all.into_iter().find(keeps_more)?;
    Some(format!(
        "`{}` of the entry of `{name}` hides tools that {} shows",
        other.0, place.client
    ))
}

/// The server of a definition, if codeyard uses it.
///
/// # Errors
/// A text for a person with the reason and the remedy.
pub(crate) fn used_server<'d>(
    ours: &'d Definition,
    secrets: &Secrets<'_>,
) -> Result<&'d ServerConfig, String> {
    let enable = format!("`codeyard servers enable {}`", ours.name);
    let unset = unset(&ours.entry, secrets).join(", ");
    let remedy = match (ours.status, &ours.server) {
        (DefinitionStatus::Used, Some(server)) => return Ok(server),
        (DefinitionStatus::Used | DefinitionStatus::Mistaken, _) => {
            "`codeyard config check` reports its mistakes".to_owned()
        }
        (DefinitionStatus::Unset, _) => format!("set {unset} where codeyard is started"),
        _ if unset.is_empty() => format!("{enable} changes that"),
        _ => format!("set {unset} where codeyard is started, then {enable}"),
    };
    Err(format!("codeyard has this server but does not use it; {remedy}"))
}

/// Unset variables without a default in an entry, without duplicates.
fn unset(entry: &Value, secrets: &Secrets<'_>) -> Vec<String> {
    let is_unset = |name: &String| {
        let alone = format!("${{{name}}}");
        secrets.var(name) == Ok(None) && entry.to_string().contains(&alone)
    };
    references(entry).into_iter().filter(is_unset).collect()
}

//! Servers that variables name: `MCP_SERVER_<NAME>_URL` holds the address of a remote one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use upstream::ServerConfig;
use upstream_wire::{Http, Transport};

use crate::host::Host;
use crate::mistakes::Findings;
use crate::servers::secrets_of;

const PREFIX: &str = "MCP_SERVER_";
const SUFFIX: &str = "_URL";

/// A server that is named by a variable.
#[derive(Debug)]
pub(crate) struct Named {
    /// The variable, which stands where others have their file.
    pub(crate) variable: PathBuf,
    pub(crate) server: ServerConfig,
    /// What an entry of a file would say.
    pub(crate) entry: Value,
}

/// All of them, in the order of the variables. One whose address cannot be used is a warning: the variable may be meant for
/// another program.
pub(crate) fn named(host: &dyn Host, findings: &mut Findings) -> Vec<Named> {
    let variables = host.names(PREFIX).into_iter();
    variables
        .filter_map(|variable| {
            let name = variable.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
            let name = name.to_ascii_lowercase();
            let url = host.var(&variable).ok()??;
            if name.is_empty() || url.is_empty() {
                return None;
            }
            if let Err(why) = upstream_wire::check_url(&url) {
                findings.warning(&variable, format!("is not used: its value {why}"));
                return None;
            }
            let http = Http {
                url,
                ..Http::default()
            };
            let entry = json!({ "url": http.address() });
            let transport = Transport::Http(http);
            Some(Named {
                entry,
                server: ServerConfig {
                    name,
                    secrets: secrets_of(&transport, BTreeSet::new()),
                    transport,
                    ..ServerConfig::default()
                },
                variable: variable.into(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_variable_names_a_server_and_a_bad_one_is_told() {
        let host = Fake::new()
            .var(
                "MCP_SERVER_MY_STUB_URL",
                "https://stub.example.com/mcp?key=s3cret",
            )
            .var("MCP_SERVER_PLAIN_URL", "http://example.com/?key=s3cret")
            .var("MCP_SERVER_EMPTY_URL", "")
            .var("MCP_SERVER__URL", "https://example.com")
            .var("MCP_SERVER_X_TOKEN", "s3cret");
        let mut findings = Findings::of(None);
        let named = named(&host, &mut findings);
        let found: Vec<_> = named
            .iter()
            .map(|named| (named.server.name.as_str(), &named.entry))
            .collect();
        assert_eq!(
            found,
            [("my_stub", &json!({"url": "https://stub.example.com/mcp"}))]
        );
        let told = findings
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        assert!(
            told.starts_with("MCP_SERVER_PLAIN_URL: is not used: its value is plain HTTP"),
            "{told}"
        );
        assert!(!told.contains("s3cret") && findings.mistakes.is_empty(), "{told}");
    }
}

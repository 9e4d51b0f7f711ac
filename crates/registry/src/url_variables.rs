//! Remote servers defined by variables: `MCP_SERVER_<NAME>_URL` holds the address.

use std::collections::BTreeSet;
use std::path::PathBuf;

use environment::{Diagnostics, Environment};
use serde_json::{Value, json};
use upstream::ServerConfig;
use upstream_wire::{Http, Transport};

use crate::entries::secret_values;

const PREFIX: &str = "MCP_SERVER_";
const SUFFIX: &str = "_URL";

#[derive(Debug)]
pub(crate) struct UrlVariable {
    /// Replaces the file in messages.
    pub(crate) variable: PathBuf,
    pub(crate) server: ServerConfig,
    /// The equivalent entry of a file.
    pub(crate) entry: Value,
}

/// All servers from variables, in order. An invalid address causes only a warning, because the variable may belong to
/// another program.
pub(crate) fn url_variables(env: &dyn Environment, diagnostics: &mut Diagnostics) -> Vec<UrlVariable> {
    let variables = env.names(PREFIX).into_iter();
    variables
        .filter_map(|variable| {
            let name = variable.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
            let name = name.to_ascii_lowercase();
            let url = env.var(&variable).ok()??;
            if name.is_empty() || url.is_empty() {
                return None;
            }
            if let Err(why) = upstream_wire::check_url(&url) {
                diagnostics.warning(&variable, format!("is not used: its value {why}"));
                return None;
            }
            let http = Http {
                url,
                ..Http::default()
            };
            let entry = json!({ "url": http.address() });
            let transport = Transport::Http(http);
            Some(UrlVariable {
                entry,
                server: ServerConfig {
                    name,
                    secrets: secret_values(&transport, BTreeSet::new()),
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
    use test_support::FakeEnvironment;

    use super::*;

    #[test]
    fn a_variable_defines_a_server_and_a_bad_address_is_reported() {
        let env = FakeEnvironment::new()
            .var(
                "MCP_SERVER_MY_STUB_URL",
                "https://stub.example.com/mcp?key=s3cret",
            )
            .var("MCP_SERVER_PLAIN_URL", "http://example.com/?key=s3cret")
            .var("MCP_SERVER_EMPTY_URL", "")
            .var("MCP_SERVER__URL", "https://example.com")
            .var("MCP_SERVER_X_TOKEN", "s3cret");
        let mut diagnostics = Diagnostics::of(None);
        let variables = url_variables(&env, &mut diagnostics);
        let found: Vec<_> = variables
            .iter()
            .map(|variable| (variable.server.name.as_str(), &variable.entry))
            .collect();
        assert_eq!(
            found,
            [("my_stub", &json!({"url": "https://stub.example.com/mcp"}))]
        );
        let told = diagnostics
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n");
        assert!(
            told.starts_with("MCP_SERVER_PLAIN_URL: is not used: its value is plain HTTP"),
            "{told}"
        );
        assert!(
            !told.contains("s3cret") && diagnostics.mistakes.is_empty(),
            "{told}"
        );
    }
}

//! Server management for commands: checks a definition, tries a server, lists remembered tools.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use upstream::{ServerConfig, Status};
use upstream_wire::{Era, Transport, find_program, is_self_reference};
use url::Url;

use crate::Host;
use crate::tools::as_value;

/// Longest wait for an address to accept.
const CONNECTING: Duration = Duration::from_secs(5);

/// What one server offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Name in the configuration.
    pub name: String,
    /// `legacy` or `modern`, once known.
    pub era: Option<Era>,
    /// Definitions as the server sent them; `None` while unknown.
    pub tools: Option<Vec<Value>>,
    /// Anomalies of the server.
    pub warnings: Vec<String>,
}

/// Result of trying a server.
#[derive(Debug, Clone, PartialEq)]
pub struct TriedServer {
    /// The tools.
    pub offer: Offer,
    /// Time from the start of the server to its list of tools.
    pub took: Duration,
}

/// Refuses a definition that starts codeyard itself, which would loop.
///
/// # Errors
/// Why it is refused, and what to do.
pub fn check_self(server: &ServerConfig, own_executable: &Path) -> Result<(), String> {
    if is_self_reference(&server.transport, own_executable) {
        return Err("this entry starts codeyard itself; add the servers behind it instead".to_owned());
    }
    Ok(())
}

/// Checks a definition without starting the server.
///
/// # Errors
/// Why it cannot work, and what to do.
pub async fn check(server: &ServerConfig) -> Result<(), String> {
    match &server.transport {
        Transport::Stdio(stdio) => find_program(stdio).map(drop).map_err(|error| error.to_string()),
        Transport::Http(http) => reach(&http.url).await,
    }
}

async fn reach(address: &str) -> Result<(), String> {
    let url = Url::parse(address).map_err(|error| format!("`{address}` is not an address: {error}"))?;
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return Err(format!(
            "`{address}` is not the address of a server; write https://HOST/PATH"
        ));
    };
    let host = host.trim_matches(['[', ']']);
    let why = match timeout(CONNECTING, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => return Ok(()),
        Ok(Err(error)) => error.to_string(),
        Err(_elapsed) => format!("no answer within {} s", CONNECTING.as_secs()),
    };
    Err(format!("{host}:{port} cannot be reached: {why}"))
}

impl Host {
    /// What an earlier process learned of each server. Starts no server.
    pub async fn remembered(&self) -> Vec<Offer> {
        self.shared.hub.ready().await;
        self.offers().await
    }

    /// Tool file directories by name, with their tools' definitions.
    pub async fn directories(&self) -> Vec<(String, Vec<Value>)> {
        let catalog = self.shared.broker.catalog().await;
        let names = self.shared.broker.directories().into_iter();
        names
            .filter_map(|name| {
                let entries = catalog.server(&name).ok()?.entries();
                let tools = entries.map(|entry| as_value(&entry.definition)).collect();
                Some((name, tools))
            })
            .collect()
    }

    /// All servers of the configuration.
    pub fn names(&self) -> Vec<String> {
        let states = self.shared.hub.states().into_iter();
        states.map(|state| state.name).collect()
    }

    /// Servers whose last start failed and whose tools are unknown.
    pub fn failed(&self) -> Vec<String> {
        let states = self.shared.hub.states().into_iter();
        let failed = states.filter(|state| {
            matches!(
                state.status,
                Status::Failed { .. } | Status::NeedsLogin { .. } | Status::Suspended { .. }
            )
        });
        failed.map(|state| state.name).collect()
    }

    /// Starts one server and lists its tools.
    ///
    /// # Errors
    /// A message that names the server.
    pub async fn try_server(&self, name: &str) -> Result<TriedServer, String> {
        let begun = Instant::now();
        let listed = self.shared.hub.list(name).await;
        listed.map_err(|error| error.to_string())?;
        let took = begun.elapsed();
        let offer = self.offers().await.into_iter().find(|offer| offer.name == name);
        let offer = offer.ok_or_else(|| format!("server '{name}' was removed meanwhile"))?;
        Ok(TriedServer { offer, took })
    }

    async fn offers(&self) -> Vec<Offer> {
        let catalog = self.shared.broker.catalog().await;
        let states = self.shared.hub.states().into_iter();
        states
            .map(|state| {
                let server = catalog.servers().find(|server| server.name == state.name);
                let listed = server.filter(|server| server.listed);
                let tools = listed.map(|server| {
                    let entries = server.entries();
                    entries.map(|entry| as_value(&entry.definition)).collect()
                });
                Offer {
                    era: state.era,
                    tools,
                    warnings: state.warnings,
                    name: state.name,
                }
            })
            .collect()
    }
}

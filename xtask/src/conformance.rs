//! Runs the protocol's official conformance suite against Codeyard.

mod client;
mod server;
mod suite;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Conformance {
    /// Our client: the hub, and what logs in to remote servers.
    Client(client::Client),
    /// Our server: the surface `standard`.
    Server(server::Server),
}

/// Also installs the suite if it is missing.
pub fn run(side: &Conformance) -> Result<()> {
    match side {
        Conformance::Client(client) => client::run(client),
        Conformance::Server(server) => server::run(server),
    }
}

//! Checks conformance: the protocol's official suite against our client and server, and REST against its OpenAPI
//! document.

mod client;
mod rest;
mod server;
mod serving;
mod suite;

use anyhow::Result;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Conformance {
    /// Our client: the hub, and logins to remote servers.
    Client(client::Client),
    /// The gateway's REST, against its OpenAPI document.
    Rest(rest::Rest),
    /// Our server: the surface `standard`.
    Server(server::Server),
}

/// Also installs the suite if it is missing.
pub fn run(side: &Conformance) -> Result<()> {
    match side {
        Conformance::Client(client) => client::run(client),
        Conformance::Rest(rest) => rest::run(rest),
        Conformance::Server(server) => server::run(server),
    }
}

//! Runs the official conformance suite of the protocol against what is ours.

mod client;
mod suite;

use anyhow::Result;
use clap::Subcommand;

/// The side that is held to the protocol.
#[derive(Debug, Subcommand)]
pub enum Conformance {
    /// Our client: the hub, and what logs in to remote servers.
    Client(client::Client),
}

/// Installs the suite if it is missing, then runs it.
pub fn run(side: &Conformance) -> Result<()> {
    match side {
        Conformance::Client(client) => client::run(client),
    }
}

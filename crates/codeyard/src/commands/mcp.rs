//! `codeyard mcp`: serves one client until it closes its side.

use anyhow::Context as _;
use config::Machine;
use server::Server;

use crate::cli::{McpArguments, Surface};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

/// Serves. Being told to end is as good an end as the client's own.
pub async fn run(context: &Context, arguments: &McpArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_serving(&arguments.mount, &arguments.limit)?;
    let parts = loaded.into_parts(context.program()?, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Server::new(parts).map_err(|error| Failure::new(Exit::Usage, error))?;
    match arguments.surface {
        Surface::Code => server
            .serve_stdio(interrupt.token.clone())
            .await
            .context("standard input and output cannot be used")?,
    }
    Ok(Exit::Done)
}

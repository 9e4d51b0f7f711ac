//! `codeyard demo`: three servers, four programs, and the programs' token cost for a model.

pub mod peer;
mod show;
mod steps;
mod tokens;

use std::path::Path;

use environment::Machine;
use server::{Host, Surface};
use settings::Loaded;
use tokio_util::sync::CancellationToken;
use upstream::ServerConfig;
use upstream_wire::{Stdio, Transport};

use crate::cli::DemoArguments;
use crate::context::{Context, principal};
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;
use peer::Peer;

pub async fn run(context: &Context, arguments: &DemoArguments) -> anyhow::Result<Exit> {
    let mut loaded = context.load_settings()?;
    let program = context.program()?;
    use_demo_servers(&mut loaded, &program.executable);
    let parts = loaded.into_parts(program, &Machine);
    let interrupt = Interrupt::watch()?;
    let server = Host::recording(parts)
        .map_err(|error| Failure::new(Exit::Usage, error))?
        .caller(principal());
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (read, write) = tokio::io::split(theirs);
    let shutdown = CancellationToken::new();
    let serving = tokio::spawn({
        let (server, shutdown) = (server.clone(), shutdown.clone());
        async move { server.serve_over(Surface::Code, read, write, shutdown).await }
    });
    let done = tokio::select! {
        done = steps::play(&context.output, Peer::new(ours), &server, &arguments.out) => done,
        () = interrupt.token.cancelled() => Ok(Exit::Done),
    };
    shutdown.cancel();
    serving.await?;
    Ok(interrupt.exit(done?))
}

/// Bytes the pipe to the gateway holds.
const PIPE: usize = 256 * 1024;

/// Replaces the user's servers with the demo's: each is this executable under another name.
fn use_demo_servers(loaded: &mut Loaded, executable: &Path) {
    loaded.servers = demo_servers::names()
        .iter()
        .map(|name| ServerConfig {
            name: (*name).to_owned(),
            transport: Transport::Stdio(Stdio {
                command: executable.display().to_string(),
                args: vec!["demo-server".to_owned(), (*name).to_owned()],
                ..Stdio::default()
            }),
            ..ServerConfig::default()
        })
        .collect();
}

//! What carries the messages of one life of a server: a process of ours, or a connection to somebody else's.

use std::sync::Arc;

use crate::config::{ServerLimits, Transport};
use crate::error::StartError;
use crate::groups::Bound;
use crate::link::Link;
use crate::process::{self, Process};
use crate::remote::Remote;
use crate::stderr::Stderr;
use crate::transport::{Pipes, Traffic};

/// Dropping it ends what it stands for.
#[derive(Debug)]
pub(crate) enum Carrier {
    Process(Process),
    Remote(Remote),
}

impl Carrier {
    /// Starts the process, or prepares the connection, of this server.
    pub(crate) async fn open(
        link: &Arc<Link>,
        traffic: Arc<Traffic>,
    ) -> Result<(Carrier, Pipes), StartError> {
        match &link.config.transport {
            Transport::Stdio(stdio) => {
                let bound = bind(link, stdio.limits, &traffic).await;
                let (process, streams) = process::start(
                    stdio,
                    &link.environment,
                    &link.supervisor,
                    bound,
                    Arc::clone(&traffic.secrets),
                    link.log.clone(),
                )?;
                let pipes = Pipes::of_process(streams.stdin, streams.stdout, traffic);
                Ok((Carrier::Process(process), pipes))
            }
            Transport::Http(http) => {
                let (remote, pipes) = Remote::open(http, link, traffic)?;
                Ok((Carrier::Remote(remote), pipes))
            }
        }
    }

    /// The process's number, if it is one.
    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Carrier::Process(process) => process.pid(),
            Carrier::Remote(_) => None,
        }
    }

    /// What it wrote to standard error; a remote server has none.
    pub(crate) fn stderr(&self) -> Arc<Stderr> {
        match self {
            Carrier::Process(process) => Arc::clone(&process.stderr),
            Carrier::Remote(_) => Stderr::none(),
        }
    }

    /// Waits until it is over and says how. Safe to cancel.
    pub(crate) async fn ended(&mut self) -> String {
        match self {
            Carrier::Process(process) => process.ended().await,
            Carrier::Remote(remote) => remote.ended().await,
        }
    }

    /// Ends it in order, after its pipes were closed; says how it ended.
    pub(crate) async fn stop(&mut self) -> String {
        match self {
            Carrier::Process(process) => process.stop().await,
            Carrier::Remote(remote) => remote.stop().await,
        }
    }

    /// Gives back what it had of the machine, once it is over.
    pub(crate) async fn release(self) {
        if let Carrier::Process(process) = self {
            process.release().await;
        }
    }

    /// Ends it without asking first.
    pub(crate) async fn kill(&mut self) {
        match self {
            Carrier::Process(process) => drop(process.kill().await),
            Carrier::Remote(remote) => remote.kill(),
        }
    }
}

/// The control group of a server with limits. Where there is none it runs without, and that is said.
async fn bind(link: &Link, limits: ServerLimits, traffic: &Traffic) -> Option<Bound> {
    if limits.is_empty() {
        return None;
    }
    let groups = Arc::clone(&link.groups);
    // Files of the kernel, which may be slow; a panic is none of them.
    let made = tokio::task::spawn_blocking(move || groups.bind(limits)).await;
    match made.unwrap_or_else(|panic| Err(panic.to_string())) {
        Ok(bound) => Some(bound),
        Err(cause) => {
            traffic.warn(format!("its `limits` do not hold: {cause}"));
            None
        }
    }
}

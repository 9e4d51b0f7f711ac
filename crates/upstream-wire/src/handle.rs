//! Handle of a running server: the process that Codeyard started, or the HTTP connection to a remote server.

use std::sync::Arc;

use crate::connector::{Connector, ToolDefinitions};
use crate::control_groups::{ControlGroup, ControlGroups};
use crate::definition::{ServerLimits, Transport};
use crate::error::StartError;
use crate::notifications::Notifications;
use crate::process::{self, Process};
use crate::remote::RemoteConnection;
use crate::stderr::Stderr;
use crate::transport::ServerTransport;

/// A running server. Dropping the handle kills the process, or closes the connection.
#[derive(Debug)]
pub enum ServerHandle {
    /// A process of this machine.
    Process(Process),
    /// A server that is reached over HTTP.
    Remote(RemoteConnection),
}

impl ServerHandle {
    pub(crate) async fn open(
        connector: &Connector,
        tools: &Arc<dyn ToolDefinitions>,
        notifications: &Arc<Notifications>,
    ) -> Result<(ServerHandle, ServerTransport), StartError> {
        let received = Arc::clone(notifications);
        match &connector.transport {
            Transport::Stdio(stdio) => {
                let group = control_group(&connector.control_groups, stdio.limits, notifications).await;
                let (process, streams) = process::start(
                    stdio,
                    &connector.environment,
                    &connector.supervisor,
                    group,
                    Arc::clone(&notifications.secrets),
                    connector.log.clone(),
                )?;
                let transport = ServerTransport::of_process(streams.stdin, streams.stdout, received);
                Ok((ServerHandle::Process(process), transport))
            }
            Transport::Http(http) => {
                let (remote, transport) =
                    RemoteConnection::open(http, connector, Arc::clone(tools), received)?;
                Ok((ServerHandle::Remote(remote), transport))
            }
        }
    }

    /// Whether the server is reached over HTTP.
    pub fn is_remote(&self) -> bool {
        matches!(self, ServerHandle::Remote(_))
    }

    /// The process id; `None` for a remote server and after the end of the process.
    pub fn pid(&self) -> Option<u32> {
        match self {
            ServerHandle::Process(process) => process.pid(),
            ServerHandle::Remote(_) => None,
        }
    }

    /// The end of its standard error; always empty for a remote server.
    pub fn stderr(&self) -> Arc<Stderr> {
        match self {
            ServerHandle::Process(process) => Arc::clone(&process.stderr),
            ServerHandle::Remote(_) => Stderr::none(),
        }
    }

    /// Waits for the end and describes it. Safe to cancel.
    pub async fn ended(&mut self) -> String {
        match self {
            ServerHandle::Process(process) => process.ended().await,
            ServerHandle::Remote(remote) => remote.ended().await,
        }
    }

    /// Stops the server, whose transport is already closed; describes how it ended.
    pub async fn stop(&mut self) -> String {
        match self {
            ServerHandle::Process(process) => process.stop().await,
            ServerHandle::Remote(remote) => remote.stop().await,
        }
    }

    /// Frees the control group after the end.
    pub async fn release(self) {
        if let ServerHandle::Process(process) = self {
            process.release().await;
        }
    }

    pub(crate) async fn kill(&mut self) {
        match self {
            ServerHandle::Process(process) => drop(process.kill().await),
            ServerHandle::Remote(remote) => remote.kill(),
        }
    }
}

/// If the control group cannot be made, the server runs without limits and with a warning.
async fn control_group(
    groups: &Arc<ControlGroups>,
    limits: ServerLimits,
    notifications: &Notifications,
) -> Option<ControlGroup> {
    if limits.is_empty() {
        return None;
    }
    let groups = Arc::clone(groups);
    // The kernel's files may block.
    let made = tokio::task::spawn_blocking(move || groups.create(limits)).await;
    match made.unwrap_or_else(|panic| Err(panic.to_string())) {
        Ok(group) => Some(group),
        Err(cause) => {
            notifications.warn(format!("its `limits` are not enforced: {cause}"));
            None
        }
    }
}

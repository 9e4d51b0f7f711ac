//! The virtual servers that are in use in this process, each with its host.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures_util::future::join_all;
use identity::{Identity, Permission};
use rest::RestError;
use settings::CodeExecution;
use store::RateWindows;
use types::{CodeSurface, ServerId, ServerKind, VirtualServer};

use gateway::ApiSurface;

use super::GatewayApi;
use super::errors::{refused, unavailable};
use super::servers::owned;
use crate::host::Host;
use crate::serve::Surface;

/// The hosts of virtual servers, made on first use.
#[derive(Default)]
pub(super) struct LiveServers {
    hosts: Mutex<HashMap<ServerId, LiveServer>>,
}

#[derive(Clone)]
struct LiveServer {
    /// Of the server that the host was made for.
    updated_ms: i64,
    host: Host,
}

// === impl LiveServers ===

impl LiveServers {
    /// The host of this server. If its settings have changed, the sessions of the host before end.
    fn host(
        &self,
        of: &Host,
        server: &VirtualServer,
        settings: &CodeExecution,
        windows: &RateWindows,
    ) -> Result<Host, RestError> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = hosts.get(&server.id)
            && live.updated_ms >= server.updated_ms
        {
            return Ok(live.host.clone());
        }
        let host = of
            .of_virtual_server(server, settings, windows)
            .map_err(|error| unavailable(&error))?;
        let live = LiveServer {
            updated_ms: server.updated_ms,
            host: host.clone(),
        };
        if let Some(before) = hosts.insert(server.id.clone(), live) {
            tokio::spawn(async move { before.host.close_sessions().await });
        }
        Ok(host)
    }

    /// The host of a server that is in use.
    pub(super) fn known(&self, server: &ServerId) -> Option<Host> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.get(server).map(|live| live.host.clone())
    }

    /// Sessions of all these servers.
    pub(super) fn open_sessions(&self) -> usize {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts
            .values()
            .map(|live| live.host.shared.sessions.figures().open)
            .sum()
    }

    /// Ends the sessions of a server that is gone.
    pub(super) fn end(&self, server: &ServerId) {
        let ended = self
            .hosts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(server);
        if let Some(ended) = ended {
            tokio::spawn(async move { ended.host.close_sessions().await });
        }
    }

    pub(super) async fn close(&self) {
        let hosts = std::mem::take(&mut *self.hosts.lock().unwrap_or_else(PoisonError::into_inner));
        join_all(hosts.values().map(|live| live.host.close_sessions())).await;
    }
}

// === impl GatewayApi ===

impl GatewayApi {
    pub(super) async fn surface_of(
        &self,
        identity: &Identity,
        id: &ServerId,
        permission: Permission,
    ) -> Result<ApiSurface, RestError> {
        let server = self.server(identity, id).await?;
        identity.decide(permission, &owned(&server)).map_err(refused)?;
        let surface = self.surface_kind(&server)?;
        let parts = &self.parts;
        let host = parts
            .live
            .host(&parts.host, &server, &parts.settings, &parts.tables.windows)?;
        let caller = host.caller(identity.principal().clone());
        Ok(ApiSurface {
            connector: Box::new(caller.connector(surface)),
            version: u64::try_from(server.updated_ms).unwrap_or_default(),
        })
    }

    fn surface_kind(&self, server: &VirtualServer) -> Result<Surface, RestError> {
        let ServerKind::CodeExecution(code) = &server.settings.kind else {
            return Ok(Surface::Standard);
        };
        if !self.parts.settings.enabled {
            return Err(RestError::code_execution_is_off());
        }
        if code.tokenization(self.defaults()).enabled {
            let why = "this version does not replace personal data: set `tokenization.enabled` to false to use the server";
            return Err(RestError::BadRequest(why.to_owned()));
        }
        match code.surface {
            CodeSurface::Server => Ok(Surface::Server),
            CodeSurface::Code => Ok(Surface::Code),
            CodeSurface::Bridge => {
                let why = "the surface `bridge` is served by `codeyard mcp --surface bridge` only: set `surface` to `server` or `code`";
                Err(RestError::BadRequest(why.to_owned()))
            }
        }
    }
}

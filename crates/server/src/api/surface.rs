//! The surface of a virtual server for one caller.

use gateway::ApiSurface;
use identity::{Identity, Permission};
use rest::RestError;
use types::{CodeSurface, ServerId, ServerKind, VirtualServer};

use super::GatewayApi;
use super::errors::refused;
use super::live::LiveServer;
use super::servers::owned;
use crate::host::Host;
use crate::serve::{BridgeSurface, Surface};

// === impl GatewayApi ===

impl GatewayApi {
    pub(super) async fn surface_of(
        &self,
        identity: &Identity,
        id: &ServerId,
        permission: Permission,
    ) -> Result<ApiSurface, RestError> {
        let server = self.cached_server(identity, id).await?;
        identity.decide(permission, &owned(&server)).map_err(refused)?;
        let kind = self.code_surface(&server)?;
        let live = self.live(identity, &server).await?;
        let caller = live.host.caller(identity.principal().clone());
        let caller = caller.by_agent(identity.agent());
        let surface = surface(kind, &live.host);
        Ok(ApiSurface {
            connector: Box::new(caller.connector(surface)),
            version: live.number,
            has_own_tools: server.settings.kind.code().is_some(),
        })
    }

    pub(super) async fn live(
        &self,
        identity: &Identity,
        server: &VirtualServer,
    ) -> Result<LiveServer, RestError> {
        let parts = &self.parts;
        let visible = parts.upstreams.visible_to(identity, &parts.host.shared.hub);
        if let Some(live) = parts.live.current(server, &visible) {
            return Ok(live);
        }
        let live = parts
            .live
            .start(&parts.host, server, visible, &parts.settings, &parts.admission)?;
        // The server may have been removed meanwhile; then nobody else ends its host.
        self.server(identity, &server.id).await?;
        Ok(live)
    }

    /// What clients of a server that runs programs see; `None` for other servers.
    pub(super) fn code_surface(&self, server: &VirtualServer) -> Result<Option<CodeSurface>, RestError> {
        let ServerKind::CodeExecution(code) = &server.settings.kind else {
            return Ok(None);
        };
        if !self.parts.settings.enabled {
            return Err(RestError::code_execution_is_off());
        }
        if code.tokenization(self.defaults()).enabled {
            let why = "this version does not replace personal data: set `tokenization.enabled` to false to use the server";
            return Err(RestError::BadRequest(why.to_owned()));
        }
        Ok(Some(code.surface))
    }
}

fn surface(kind: Option<CodeSurface>, host: &Host) -> Surface {
    let shared = &host.shared;
    match kind {
        None => Surface::Standard,
        Some(CodeSurface::Server) => Surface::Server,
        Some(CodeSurface::Code) => Surface::Code,
        Some(CodeSurface::Bridge) => Surface::Bridge(BridgeSurface::of_virtual_server(
            &shared.policy,
            &shared.defaults.answers,
        )),
    }
}

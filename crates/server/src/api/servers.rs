//! `/servers`: virtual servers are listed, made, read, changed and removed.

use std::sync::Arc;

use gateway::{ApiReply, ApiRequest};
use identity::{Identity, Owned, Permission};
use rest::{Cursor, Deleted, RestError, ServerPage, ServerView, ServersQuery};
use store::audit::AuditActor;
use store::virtual_servers::{ServerCursor, ServerFilter, ServerViewer};
use types::{ServerId, ServerSettings, TeamId, VirtualServer};

use super::errors::{of_account, of_server, refused, unavailable};
use super::{GatewayApi, json, now_ms, query, random};

impl GatewayApi {
    pub(super) async fn list_servers(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let query = query(request, ServersQuery::read)?;
        let viewer = match identity.is_unrestricted() {
            true => ServerViewer::All,
            false => ServerViewer::Of {
                user: identity.principal().user(),
                teams: identity.teams().cloned().collect(),
            },
        };
        let most = u32::try_from(query.page.limit).unwrap_or(u32::MAX);
        let filter = ServerFilter {
            tags: query.tags,
            team: query.team.map(TeamId::new),
            visibility: query.visibility,
            before: query.page.cursor.map(|cursor| ServerCursor {
                created_ms: cursor.at_ms,
                id: ServerId::new(cursor.id),
            }),
            ..ServerFilter::new(viewer, most)
        };
        let found = self
            .parts
            .tables
            .servers
            .list(identity.principal().tenant(), &filter)
            .await;
        let mut found = found.map_err(of_server)?;
        let is_full = found.len() == query.page.limit;
        let next_cursor = is_full.then(|| found.last().map(cursor_after)).flatten();
        // A token of no team sees public servers only, not even its owner's.
        found.retain(|server| identity.may_see(&owned(server)));
        let servers: Vec<ServerView> = found.iter().map(ServerView::of).collect();
        match query.include_pagination {
            true => json(200, &ServerPage { servers, next_cursor }),
            false => Ok(json(200, &servers)?.with_next_cursor(next_cursor)),
        }
    }

    pub(super) async fn create_server(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let new = rest::create_server(&request.body, self.defaults())?;
        self.check_switch(&new.settings)?;
        let now = now_ms();
        let server = VirtualServer {
            id: new.id.map_or_else(new_id, Ok)?,
            tenant: identity.principal().tenant().clone(),
            owner: identity.principal().user().clone(),
            created_ms: now,
            updated_ms: now,
            settings: new.settings,
        };
        self.check_place(identity, &owned(&server)).await?;
        identity
            .decide(Permission::ServersCreate, &owned(&server))
            .map_err(refused)?;
        self.parts
            .tables
            .servers
            .by(&AuditActor::user(identity))
            .create(&server)
            .await
            .map_err(of_server)?;
        json(201, &ServerView::of(&server))
    }

    pub(super) async fn read_server(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let server = self.server(identity, &id_in(request)).await?;
        json(200, &ServerView::of(&server))
    }

    pub(super) async fn update_server(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let current = self.server(identity, &id_in(request)).await?;
        identity
            .decide(Permission::ServersUpdate, &owned(&current))
            .map_err(refused)?;
        let settings = rest::update_server(&request.body, &current, self.defaults())?;
        if current.settings.kind.code().is_none() {
            // S0-01: existing servers may be edited while the switch is off.
            self.check_switch(&settings)?;
        }
        let changed = VirtualServer {
            settings,
            updated_ms: now_ms(),
            ..current.clone()
        };
        self.check_place(identity, &owned(&changed)).await?;
        let stored = self
            .parts
            .tables
            .servers
            .by(&AuditActor::user(identity))
            .update(&changed, current.updated_ms)
            .await;
        json(200, &ServerView::of(&stored.map_err(of_server)?))
    }

    pub(super) async fn delete_server(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let server = self.server(identity, &id_in(request)).await?;
        identity
            .decide(Permission::ServersDelete, &owned(&server))
            .map_err(refused)?;
        let removed = self
            .parts
            .tables
            .servers
            .by(&AuditActor::user(identity))
            .delete(&server.tenant, &server.id)
            .await;
        if !removed.map_err(of_server)? {
            return Err(RestError::no_server());
        }
        self.parts.live.end(&server.tenant, &server.id);
        json(200, &Deleted::server(&server.id))
    }

    /// A server that the caller sees, from the cache if it is there.
    pub(super) async fn cached_server(
        &self,
        identity: &Identity,
        id: &ServerId,
    ) -> Result<Arc<VirtualServer>, RestError> {
        let (cache, tenant) = (&self.parts.cache, identity.principal().tenant());
        let generation = cache.refresh(&self.parts.tables.changes).await;
        let generation = generation.map_err(|trouble| unavailable(&trouble))?;
        // A server that the caller does not see takes as long as a server that does not exist.
        if let Some(server) = cache.server(tenant, id)
            && identity.may_see(&owned(&server))
        {
            return Ok(server);
        }
        let server = Arc::new(self.server(identity, id).await?);
        cache.add_server(generation, &server);
        Ok(server)
    }

    /// A server that the caller sees.
    pub(super) async fn server(
        &self,
        identity: &Identity,
        id: &ServerId,
    ) -> Result<VirtualServer, RestError> {
        let tenant = identity.principal().tenant();
        let found = self
            .parts
            .tables
            .servers
            .read(tenant, id)
            .await
            .map_err(of_server)?;
        if found.is_none() {
            // Another process on the database may have removed it.
            self.parts.live.end(tenant, id);
        }
        found
            .filter(|server| identity.may_see(&owned(server)))
            .ok_or_else(RestError::no_server)
    }

    /// The server's team is one of the token's, or any existing one for a platform admin, and the caller still sees the
    /// server afterwards.
    pub(super) async fn check_place(&self, identity: &Identity, server: &Owned<'_>) -> Result<(), RestError> {
        if let Some(team) = server.team {
            let accounts = &self.parts.tables.accounts;
            let is_known = match identity.is_unrestricted() {
                true => accounts
                    .team(server.tenant, team)
                    .await
                    .map_err(of_account)?
                    .is_some(),
                false => identity.teams().any(|own| own == team),
            };
            if !is_known {
                let message = format!("unknown team '{team}'; name a team of your token");
                return Err(mistake("team_id", message));
            }
        }
        match identity.may_see(server) {
            true => Ok(()),
            false => {
                let message = "this token would not see the server; use a token with a team, or `public`";
                Err(mistake("visibility", message.to_owned()))
            }
        }
    }

    fn check_switch(&self, settings: &ServerSettings) -> Result<(), RestError> {
        match settings.kind.code() {
            Some(_) if !self.parts.settings.enabled => Err(RestError::code_execution_is_off()),
            _ => Ok(()),
        }
    }
}

/// The server as decisions see it.
pub(super) fn owned(server: &VirtualServer) -> Owned<'_> {
    Owned {
        tenant: &server.tenant,
        owner: &server.owner,
        visibility: server.settings.visibility,
        team: server.settings.team.as_ref(),
    }
}

/// The place in the list after this server.
fn cursor_after(server: &VirtualServer) -> String {
    let cursor = Cursor {
        at_ms: server.created_ms,
        id: server.id.to_string(),
    };
    cursor.to_string()
}

fn mistake(field: &str, message: String) -> RestError {
    RestError::Invalid(vec![policy::Mistake {
        field: field.to_owned(),
        message,
    }])
}

/// 128 bits of the operating system's generator.
fn new_id() -> Result<ServerId, RestError> {
    let bits: [u8; 16] = random()?;
    Ok(ServerId::new(hex::encode(bits)))
}

pub(super) fn id_in(request: &ApiRequest) -> ServerId {
    ServerId::new(request.parameter("id"))
}

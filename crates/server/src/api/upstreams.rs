//! `/upstreams`: upstream servers are listed, defined, read, changed, tried and removed.

mod checks;
mod health;

use std::sync::Arc;
use std::time::Instant;

use catalog::normalise;
use gateway::{ApiReply, ApiRequest};
use identity::{Identity, Permission};
use rest::{
    Deleted, NamesQuery, RestError, UpstreamPage, UpstreamSettings, UpstreamTest, UpstreamTool, UpstreamView,
};
use serde_json::{Map, Value};
use store::audit::AuditActor;
use store::upstream_servers::UpstreamServerError;
use tokio::time::Duration;
use types::{Ownership, Principal, UpstreamServer};
use upstream::{RelayRequest, ServerConfig, UpstreamError};

use super::errors::{refused_as, unavailable};
use super::upstream_set::{KnownUpstreams, owned};
use super::{GatewayApi, json, now_ms, query};
use health::HealthOf;

/// Longest wait for the answer of a server that is tried.
const TRYING: Duration = Duration::from_secs(45);

/// A server that the caller sees.
enum Found {
    /// Of a file of the operator.
    Operator,
    Stored(UpstreamServer),
}

impl GatewayApi {
    pub(super) async fn list_upstreams(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let query = query(request, NamesQuery::read)?;
        let known = self.known_upstreams().await?;
        let health = HealthOf::now(&self.parts.host.shared.hub);
        let files = self
            .files()
            .iter()
            .map(|config| file_view(config, identity, &health));
        let stored = known
            .servers
            .iter()
            .filter(|server| !self.is_of_a_file(&server.name) && identity.may_see(&owned(&server.ownership)));
        let stored = stored.map(|server| stored_view(server, identity, &health, &known));
        let mut views: Vec<UpstreamView> = files.chain(stored).collect();
        views.sort_by(|one, other| one.name.cmp(&other.name));
        if let Some(after) = &query.after {
            views.retain(|view| view.name > *after);
        }
        views.truncate(query.limit);
        json(200, &UpstreamPage::of(views, query.limit))
    }

    pub(super) async fn create_upstream(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let (name, settings) =
            rest::create_upstream(&request.body, |draft| self.check_draft(identity, draft, None))?;
        let now = now_ms();
        let server = UpstreamServer {
            alias: normalise(&name),
            ownership: Ownership {
                tenant: identity.principal().tenant().clone(),
                owner: identity.principal().user().clone(),
                visibility: settings.visibility,
                team: settings.team,
                created_ms: now,
            },
            updated_ms: now,
            definition: Value::Object(settings.definition).to_string(),
            name,
        };
        self.check_ownership(identity, Permission::UpstreamsCreate, &server.ownership)
            .await?;
        self.refuse_names_of_files(&server).await?;
        let created = self
            .parts
            .tables
            .upstreams
            .by(&AuditActor::user(identity))
            .create(&server)
            .await;
        created.map_err(of_upstream)?;
        self.changed_view(201, identity, &server).await
    }

    pub(super) async fn read_upstream(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let name = request.parameter("name");
        let known = self.known_upstreams().await?;
        let health = HealthOf::now(&self.parts.host.shared.hub);
        if let Some(config) = self.files().iter().find(|config| config.name == name) {
            return json(200, &file_view(config, identity, &health));
        }
        let server = stored(&known, identity, name).ok_or_else(no_upstream)?;
        json(200, &stored_view(server, identity, &health, &known))
    }

    /// Whether the caller sees a server of this name.
    pub(super) async fn sees_upstream(&self, identity: &Identity, name: &str) -> Result<bool, RestError> {
        let known = self.known_upstreams().await?;
        Ok(self.is_of_a_file(name) || stored(&known, identity, name).is_some())
    }

    pub(super) async fn update_upstream(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let current = self
            .changeable(identity, Permission::UpstreamsUpdate, request)
            .await?;
        if is_command(&current) && !identity.is_unrestricted() {
            let why = "upstreams.update of an unrestricted platform_admin, because the server is a command";
            return Err(RestError::Forbidden(why.to_owned()));
        }
        let UpstreamSettings {
            visibility,
            team,
            definition,
        } = rest::update_upstream(&request.body, &current, |draft| {
            self.check_draft(identity, draft, Some(&current.ownership))
        })?;
        let changed = UpstreamServer {
            ownership: Ownership {
                visibility,
                team,
                ..current.ownership.clone()
            },
            updated_ms: now_ms(),
            definition: Value::Object(definition).to_string(),
            ..current.clone()
        };
        self.check_ownership(identity, Permission::UpstreamsUpdate, &changed.ownership)
            .await?;
        let stored = self
            .parts
            .tables
            .upstreams
            .by(&AuditActor::user(identity))
            .update(&changed, current.updated_ms)
            .await;
        self.changed_view(200, identity, &stored.map_err(of_upstream)?)
            .await
    }

    pub(super) async fn delete_upstream(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let server = self
            .changeable(identity, Permission::UpstreamsDelete, request)
            .await?;
        let ownership = &server.ownership;
        let removed = self
            .parts
            .tables
            .upstreams
            .by(&AuditActor::user(identity))
            .delete(&ownership.tenant, &server.name, ownership.created_ms)
            .await;
        let is_removed = removed.map_err(of_upstream)?;
        self.refresh_upstreams().await?;
        match is_removed {
            true => json(200, &Deleted::upstream(&server.name)),
            false => Err(no_upstream()),
        }
    }

    /// Asks the server for its tools now, so that a dead server fails. Answers with the list that programs see, which may
    /// be older.
    pub(super) async fn test_upstream(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let name = request.parameter("name");
        let known = self.known_upstreams().await?;
        match self.find(&known, identity, name)? {
            Found::Operator if identity.is_unrestricted() => {}
            Found::Operator => {
                return Err(RestError::Forbidden(
                    "upstreams.update of an unrestricted platform_admin".to_owned(),
                ));
            }
            Found::Stored(server) => {
                may(identity, Permission::UpstreamsUpdate, &server.ownership)?;
                if UpstreamView::of_stored(&server).disabled {
                    let why = format!("upstream server '{name}' is disabled; set `disabled` to false first");
                    return Err(RestError::Conflict(why));
                }
                if let Some(why) = known.unusable.get(name) {
                    return json(200, &UpstreamTest::failed(why.clone(), 0));
                }
            }
        }
        let begun = Instant::now();
        let tried = self.try_upstream(identity.principal(), name).await;
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        json(
            200,
            &match tried {
                Ok(tools) => UpstreamTest::listed(tools, took_ms),
                Err(error) => UpstreamTest::failed(error.to_string(), took_ms),
            },
        )
    }

    async fn try_upstream(&self, user: &Principal, name: &str) -> Result<Vec<UpstreamTool>, UpstreamError> {
        let hub = &self.parts.host.shared.hub;
        let request = RelayRequest {
            server: name.to_owned(),
            method: "tools/list".to_owned(),
            params: Map::new(),
            meta: Map::new(),
            progress: None,
            deadline: tokio::time::Instant::now() + TRYING,
        };
        hub.ask_as(user, request).await?;
        hub.list_as(user, name).await?;
        let all = Arc::clone(&hub.tools().borrow());
        let listed = all.iter().find(|server| server.name == name);
        let listed = listed.and_then(|server| server.tools.clone());
        let tools = listed.or_else(|| hub.tools_of(user, name)).unwrap_or_default();
        let tools = tools.iter().map(|tool| UpstreamTool {
            name: tool.name.clone(),
            description: tool.description.clone(),
        });
        Ok(tools.collect())
    }

    /// Whether the caller may leave a server with this owner, team and visibility.
    async fn check_ownership(
        &self,
        identity: &Identity,
        permission: Permission,
        ownership: &Ownership,
    ) -> Result<(), RestError> {
        self.check_place(identity, &owned(ownership)).await?;
        may(identity, permission, ownership)
    }

    /// The stored server that the path names, if the caller sees it and may do this to it.
    async fn changeable(
        &self,
        identity: &Identity,
        permission: Permission,
        request: &ApiRequest,
    ) -> Result<UpstreamServer, RestError> {
        let name = request.parameter("name");
        let known = self.known_upstreams().await?;
        match self.find(&known, identity, name)? {
            Found::Operator => Err(RestError::Conflict(format!(
                "upstream server '{name}' is defined by the operator's configuration (`--config`), and is changed there"
            ))),
            Found::Stored(server) => {
                may(identity, permission, &server.ownership)?;
                Ok(server)
            }
        }
    }

    fn find(&self, known: &KnownUpstreams, identity: &Identity, name: &str) -> Result<Found, RestError> {
        if self.is_of_a_file(name) {
            return Ok(Found::Operator);
        }
        let server = stored(known, identity, name).ok_or_else(no_upstream)?;
        Ok(Found::Stored(server.clone()))
    }

    /// The answer to a change, after this process has followed it.
    async fn changed_view(
        &self,
        status: u16,
        identity: &Identity,
        server: &UpstreamServer,
    ) -> Result<ApiReply, RestError> {
        let known = self.known_upstreams().await?;
        let health = HealthOf::now(&self.parts.host.shared.hub);
        json(status, &stored_view(server, identity, &health, &known))
    }

    async fn known_upstreams(&self) -> Result<Arc<KnownUpstreams>, RestError> {
        self.refresh_upstreams().await?;
        Ok(self.parts.upstreams.known())
    }

    async fn refresh_upstreams(&self) -> Result<(), RestError> {
        let refreshed = self.parts.upstreams.refresh(&self.parts.host).await;
        refreshed.map_err(of_upstream)
    }

    /// Servers of the operator's files.
    fn files(&self) -> &[ServerConfig] {
        &self.parts.host.shared.configs.servers
    }

    fn is_of_a_file(&self, name: &str) -> bool {
        self.files().iter().any(|config| config.name == name)
    }
}

fn stored<'k>(known: &'k KnownUpstreams, identity: &Identity, name: &str) -> Option<&'k UpstreamServer> {
    let found = known.servers.iter().find(|server| server.name == name);
    found.filter(|server| identity.may_see(&owned(&server.ownership)))
}

fn is_command(server: &UpstreamServer) -> bool {
    UpstreamView::of_stored(server).transport == "stdio"
}

/// Definitions are shown to callers who may change them.
fn stored_view(
    server: &UpstreamServer,
    identity: &Identity,
    health: &HealthOf,
    known: &KnownUpstreams,
) -> UpstreamView {
    let view = UpstreamView::of_stored(server);
    let manages = may(identity, Permission::UpstreamsUpdate, &server.ownership).is_ok();
    let manages = manages && (identity.is_unrestricted() || view.transport != "stdio");
    let health = match known.unusable.get(&server.name) {
        Some(why) => health::unusable(why),
        None if view.disabled => health::disabled(),
        None => health.of(&server.name),
    };
    match manages {
        true => UpstreamView {
            health,
            ..UpstreamView::with_definition_of(server)
        },
        false => UpstreamView {
            health: health::without_error(health),
            ..view
        },
    }
}

/// Nothing of the definition is shown: it may name files and addresses of the operator's machine.
fn file_view(config: &ServerConfig, identity: &Identity, health: &HealthOf) -> UpstreamView {
    let health = health.of(&config.name);
    UpstreamView {
        name: config.name.clone(),
        source: "file",
        transport: config.transport.name(),
        description: config.description.clone(),
        tags: config.tags.clone(),
        visibility: types::Visibility::Public.name(),
        health: match identity.is_unrestricted() {
            true => health,
            false => health::without_error(health),
        },
        ..UpstreamView::default()
    }
}

/// Whether the caller may do this to a server with this owner, team and visibility.
fn may(identity: &Identity, permission: Permission, ownership: &Ownership) -> Result<(), RestError> {
    let decided = identity.decide(permission, &owned(ownership));
    decided.map_err(|refusal| refused_as(refusal, no_upstream))
}

fn no_upstream() -> RestError {
    RestError::NotFound("Upstream server not found".to_owned())
}

fn of_upstream(error: UpstreamServerError) -> RestError {
    match error {
        UpstreamServerError::NameTaken(name) => name_is_taken(&name),
        UpstreamServerError::TooMany | UpstreamServerError::Changed(_) => {
            RestError::Conflict(error.to_string())
        }
        UpstreamServerError::Unknown(_) => no_upstream(),
        UpstreamServerError::Store(trouble) => unavailable(&trouble),
    }
}

fn name_is_taken(name: &str) -> RestError {
    RestError::Conflict(format!("Upstream server already exists with name: {name}"))
}

//! What the gateway serves: who a token belongs to, REST, and a surface for each virtual server.

mod audit;
mod cache;
mod documents;
mod errors;
mod export;
mod live;
mod logins;
mod metrics;
mod places;
mod records;
mod replay;
mod servers;
mod sign_on;
pub(crate) mod sinks;
mod surface;
mod teams;
mod tokens;
mod upstream_set;
mod upstreams;
mod users;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::sinks::SinkConfig;
use gateway::{
    Api, ApiReply, ApiRequest, ApiSurface, LoginPage, LoginVisit, OtherProcess, Place, RefusedAttempt,
};
use identity::{Identity, Method, Permission, Route, TokenSecret};
use oidc::{IssuerConfig, Issuers};
use prometheus_client::registry::Registry;
use rest::{NamesQuery, RestError};
use sandbox::BoxFuture;
use serde::Serialize;
use session::SessionQuota;
use settings::{CodeExecution, Gateway};
use store::accounts::{AccountError, AccountPage, Lookup, Moment, TokensOf};
use store::cpu_debts::CpuDebts;
use store::logins::UserLogins;
use store::server_records::ServerRecords;
use store::upstream_servers::UpstreamServerError;
use store::virtual_servers::VirtualServers;
use store::{Accounts, Audit, RateWindows, SignOns, Sinks, UpstreamServers};
use tokio_util::sync::CancellationToken;
use types::{CodeDefaults, ServerId, TenantId};

/// The tenant of deployments whose operator makes no others.
const TENANT: &str = "local";

use self::metrics::{ApiMetrics, MetricsMoment, ProcessFigures};
use self::sinks::GatewaySinks;
use crate::cluster::Cluster;
use crate::cpu_quota::{CpuLimits, CpuQuotas};
use crate::fair_turns::FairTurns;
use crate::host::Host;
use crate::served::RunAdmission;
use crate::span_outlet::SpanOutlet;
use crate::stored_windows::StoredWindows;
use crate::user_logins::LoginStore;
use cache::GatewayCache;
use errors::unavailable;
use live::LiveServers;
use upstream_set::UpstreamSet;

pub use self::sinks::SinkStartError;
pub use audit::audit_view;
pub use cache::CHANGES_SEEN_AFTER;

/// Everything behind the gateway's routes. Cheap to clone.
#[derive(Clone)]
pub struct GatewayApi {
    parts: Arc<ApiParts>,
}

struct ApiParts {
    host: Host,
    tables: GatewayTables,
    settings: CodeExecution,
    admission: RunAdmission,
    live: LiveServers,
    cache: GatewayCache,
    upstreams: UpstreamSet,
    sinks: GatewaySinks,
    issuers: Issuers,
    logins: LoginStore,
    /// Triggered when the process ends.
    ended: CancellationToken,
    metrics: ApiMetrics,
}

/// What the gateway stores.
#[derive(Debug, Clone)]
pub struct GatewayTables {
    /// Users, teams and tokens.
    pub accounts: Accounts,
    /// Users who signed on at an issuer.
    pub sign_ons: SignOns,
    /// Users' own logins to upstream servers.
    pub logins: UserLogins,
    /// Virtual servers.
    pub servers: VirtualServers,
    /// Upstream servers that users defined.
    pub upstreams: UpstreamServers,
    /// Runs and security events of virtual servers.
    pub records: ServerRecords,
    /// Runs and refused changes in the last minute.
    pub windows: RateWindows,
    /// CPU time that users and tenants have used.
    pub cpu_debts: CpuDebts,
    /// Administrative changes.
    pub audit: Audit,
    /// The same, for their number, which requests wait for: not behind reads of long lists.
    pub changes: Audit,
    /// Calls of upstream servers in the last minute, apart from `windows`: they may wait for each other.
    pub call_windows: RateWindows,
    /// What was sent to sinks.
    pub sinks: Sinks,
}

// === impl GatewayTables ===

impl GatewayTables {
    /// All tables in this database, which the records share.
    pub fn new(database: &store::Database) -> GatewayTables {
        GatewayTables {
            accounts: Accounts::new(database.clone()),
            sign_ons: SignOns::new(database.clone()),
            logins: UserLogins::new(database.clone()),
            servers: VirtualServers::new(database.clone()),
            upstreams: UpstreamServers::new(database.clone()),
            records: ServerRecords::new(database.clone()),
            windows: RateWindows::new(database.clone()),
            cpu_debts: CpuDebts::new(database.clone()),
            audit: Audit::new(database.clone()),
            changes: Audit::new(database.clone()),
            call_windows: RateWindows::new(database.clone()),
            sinks: Sinks::new(database.clone()),
        }
    }

    /// Whether somebody has a token.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn has_tokens(&self) -> Result<bool, AccountError> {
        let tokens = self
            .accounts
            .tokens(TokensOf::Tenant(&TenantId::new(TENANT)), None, 1)
            .await?;
        Ok(!tokens.is_empty())
    }

    async fn close(&self) {
        tokio::join!(
            self.accounts.close(),
            self.sign_ons.close(),
            self.logins.close(),
            self.servers.close(),
            self.upstreams.close(),
            self.records.close(),
            self.windows.close(),
            self.cpu_debts.close(),
            self.audit.close(),
            self.changes.close(),
            self.call_windows.close(),
            self.sinks.close(),
        );
    }
}

// === impl GatewayApi ===

impl GatewayApi {
    /// Serves the tools of this host. `cluster` is given if other processes serve the same database. Users sign on at the
    /// issuers.
    pub fn new(
        host: Host,
        tables: GatewayTables,
        settings: CodeExecution,
        bounds: Gateway,
        (issuers, cluster): (Vec<IssuerConfig>, Option<Cluster>),
    ) -> GatewayApi {
        let limits = CpuLimits {
            of_user: bounds.cpu_of_user,
            of_tenant: bounds.cpu_of_tenant,
        };
        let admission = RunAdmission {
            windows: tables.windows.clone(),
            cpu: CpuQuotas::new(tables.cpu_debts.clone(), limits),
            turns: FairTurns::new(bounds.runs, bounds.runs_of_user),
            sessions: SessionQuota::new(bounds.sessions, bounds.sessions_of_user),
            cluster: cluster.map(Arc::new),
        };
        let upstreams = UpstreamSet::new(tables.upstreams.clone(), &bounds);
        let metrics = ApiMetrics::new(Registry::default(), &host.shared.runs, admission.cpu.seconds());
        host.shared
            .hub
            .count_in(Arc::new(StoredWindows::new(tables.call_windows.clone())));
        let logins = LoginStore::new(tables.logins.clone(), host.shared.recordings.keys());
        host.shared.hub.keep_logins_in(Arc::new(logins.clone()));
        GatewayApi {
            parts: Arc::new(ApiParts {
                host,
                tables,
                settings,
                admission,
                live: LiveServers::default(),
                cache: GatewayCache::default(),
                upstreams,
                sinks: GatewaySinks::default(),
                issuers: Issuers::new(issuers),
                logins,
                ended: CancellationToken::new(),
                metrics,
            }),
        }
    }

    /// Adds the stored upstream servers to the operator's, and follows changes by other processes from then on, also of
    /// users. Called before the first request.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn open_upstreams(&self) -> Result<(), UpstreamServerError> {
        self.parts.upstreams.refresh(&self.parts.host).await?;
        let parts = self.parts.clone();
        tokio::spawn(async move {
            let following = parts.upstreams.follow(&parts.host);
            parts.ended.run_until_cancelled(following).await;
        });
        let api = self.clone();
        tokio::spawn(async move { api.parts.ended.run_until_cancelled(api.follow_ends()).await });
        let api = self.clone();
        tokio::spawn(async move { api.parts.ended.run_until_cancelled(api.follow_logins()).await });
        Ok(())
    }

    /// Links for users' logins begin with this address. Called before the first request.
    pub fn serve_at(&self, url: &str) {
        self.parts.logins.serve_at(url);
    }

    /// Sends records to these sinks from now on. Called before the first request, once.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn open_sinks(&self, configs: Vec<SinkConfig>) -> Result<(), SinkStartError> {
        self.parts.sinks.open(&self.parts.tables.sinks, configs).await
    }

    /// Sends the spans of the host from now on. Called before the first request, once.
    ///
    /// # Errors
    /// If the operating system has no random numbers.
    pub fn open_spans(&self, outlet: SpanOutlet) -> Result<(), SinkStartError> {
        self.parts.sinks.open_spans(outlet)
    }

    /// Ends the sessions of all virtual servers, then the host, whose last records are sent.
    pub async fn close(&self) {
        self.parts.ended.cancel();
        self.parts.live.close().await;
        if let Some(cluster) = &self.parts.admission.cluster {
            cluster.leave().await;
        }
        self.parts.host.close().await;
        self.parts.sinks.close().await;
        self.parts.tables.close().await;
    }

    fn defaults(&self) -> &CodeDefaults {
        &self.parts.settings.defaults
    }

    async fn identity_of(&self, token: &str) -> Result<Option<Identity>, RestError> {
        let Some(secret) = TokenSecret::read(token) else {
            return match self.is_of_issuer(token) {
                true => self.signed_on(token).await,
                false => Ok(None),
            };
        };
        let (hash, cache) = (secret.hash(), &self.parts.cache);
        let generation = cache.refresh(&self.parts.tables.changes).await;
        let generation = generation.map_err(|trouble| unavailable(&trouble))?;
        if let Some(identity) = cache.identity(&hash) {
            return Ok(Some(identity));
        }
        let (accounts, read_at) = (&self.parts.tables.accounts, Instant::now());
        let found = accounts.find(&hash, Moment::Database).await;
        match found.map_err(|error| unavailable(&error))? {
            Lookup::Identified(identified) => {
                cache.add_identity(hash, (generation, read_at), &identified);
                if identified.is_use_due {
                    // The answer does not depend on it.
                    let _ = accounts.note_use(&identified.identity, Moment::Database).await;
                }
                Ok(Some(identified.identity))
            }
            Lookup::Refused(_) => Ok(None),
        }
    }

    fn metrics(&self) -> Result<ApiReply, RestError> {
        let (parts, shared) = (&self.parts, &self.parts.host.shared);
        parts.metrics.reply(&MetricsMoment {
            sessions: shared.sessions.figures().open + parts.live.open_sessions(),
            servers: &shared.hub.states(),
            process: ProcessFigures {
                sandbox: shared.backend.figures(),
                turns: parts.admission.turns.figures(),
                records: shared.records.queued(),
            },
            sinks: &parts.sinks.figures(),
            spans: parts.sinks.spans(),
        })
    }

    async fn answer_admitted(&self, request: ApiRequest) -> Result<ApiReply, RestError> {
        let Some(identity) = &request.identity else {
            return documents::open(request.route);
        };
        match request.route {
            Route::ListServers => self.list_servers(identity, &request).await,
            Route::CreateServer => self.create_server(identity, &request).await,
            Route::ReadServer => self.read_server(identity, &request).await,
            Route::UpdateServer => self.update_server(identity, &request).await,
            Route::DeleteServer => self.delete_server(identity, &request).await,
            Route::ListUpstreams => self.list_upstreams(identity, &request).await,
            Route::CreateUpstream => self.create_upstream(identity, &request).await,
            Route::ReadUpstream => self.read_upstream(identity, &request).await,
            Route::UpdateUpstream => self.update_upstream(identity, &request).await,
            Route::DeleteUpstream => self.delete_upstream(identity, &request).await,
            Route::TestUpstream => self.test_upstream(identity, &request).await,
            Route::ListRuns => self.list_runs(identity, &request).await,
            Route::ReplayRun => self.replay_run(identity, &request).await,
            Route::ListSessions => self.list_sessions(identity, &request).await,
            Route::ListSecurityEvents => self.list_security_events(identity, &request).await,
            Route::ListTokens => self.list_tokens(identity, &request).await,
            Route::CreateToken => self.create_token(identity, &request).await,
            Route::RevokeToken => self.revoke_token(identity, &request).await,
            Route::ListLogins => self.list_logins(identity, &request).await,
            Route::SetLogin => self.set_login(identity, &request).await,
            Route::RevokeLogin => self.revoke_login(identity, &request).await,
            Route::ListUsers => self.list_users(identity, &request).await,
            Route::CreateUser => self.create_user(identity, &request).await,
            Route::ReadUser => self.read_user(identity, &request).await,
            Route::UpdateUser => self.update_user(identity, &request).await,
            Route::DeleteUser => self.delete_user(identity, &request).await,
            Route::ListTeams => self.list_teams(identity, &request).await,
            Route::CreateTeam => self.create_team(identity, &request).await,
            Route::ReadTeam => self.read_team(identity, &request).await,
            Route::UpdateTeam => self.update_team(identity, &request).await,
            Route::DeleteTeam => self.delete_team(identity, &request).await,
            Route::ListMembers => self.list_members(identity, &request).await,
            Route::SetMember => self.set_member(identity, &request).await,
            Route::RemoveMember => self.remove_member(identity, &request).await,
            Route::ListAudit => self.list_audit(identity, &request).await,
            Route::OpenApi => documents::openapi(),
            Route::Metrics => self.metrics(),
            other => documents::open(other),
        }
    }
}

impl Api for GatewayApi {
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<Identity>, RestError>> {
        Box::pin(self.identity_of(token))
    }

    fn recheck<'a>(
        &'a self,
        token: &'a str,
        identity: &'a Identity,
    ) -> BoxFuture<'a, Result<Option<Identity>, RestError>> {
        Box::pin(async move {
            match identity.is_signed_on() {
                true => self.still_signed_on(token, identity).await,
                false => self.identity_of(token).await,
            }
        })
    }

    fn resource_metadata(&self, resource: &str) -> Option<Vec<u8>> {
        self.metadata_of(resource)
    }

    fn sign_out<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<(), RestError>> {
        Box::pin(self.sign_out_by(token))
    }

    fn visit_login<'a>(&'a self, visit: LoginVisit<'a>) -> BoxFuture<'a, LoginPage> {
        Box::pin(self.browser_login(visit))
    }

    fn answer(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiReply, RestError>> {
        Box::pin(async {
            let is_use = matches!(request.route, Route::TestUpstream | Route::ReplayRun);
            let is_change = request.route.method() != Method::Get && !is_use;
            let mut guard = is_change.then(|| self.parts.cache.empty_on_drop());
            let answered = self.answer_admitted(request).await;
            if let (Some(guard), Err(refusal)) = (&mut guard, &answered)
                && refusal.status() < 500
            {
                guard.disarm();
            }
            answered
        })
    }

    fn refused<'a>(&'a self, attempt: RefusedAttempt<'a>) -> BoxFuture<'a, Result<(), RestError>> {
        Box::pin(self.record_refusal(attempt))
    }

    fn surface<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
        permission: Permission,
    ) -> BoxFuture<'a, Result<ApiSurface, RestError>> {
        Box::pin(self.surface_of(identity, server, permission))
    }

    fn place<'a>(
        &'a self,
        identity: &'a Identity,
        server: &'a ServerId,
        gone: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Place, RestError>> {
        Box::pin(self.place_of(identity, server, gone))
    }

    fn others(&self) -> BoxFuture<'_, Result<Vec<OtherProcess>, RestError>> {
        Box::pin(self.other_processes())
    }

    fn answered(&self, route: Option<Route>, status: u16, duration: Duration) {
        self.parts.metrics.answered(route, status, duration);
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), RestError>> {
        Box::pin(async {
            let tenant = TenantId::new(TENANT);
            let read = self.parts.tables.servers.read(&tenant, &ServerId::new("-")).await;
            read.map(drop).map_err(|error| unavailable(&error))
        })
    }
}

/// A value as the body of an answer.
fn json(status: u16, value: &impl Serialize) -> Result<ApiReply, RestError> {
    let body = serde_json::to_vec(value).map_err(|error| unavailable(&error))?;
    Ok(ApiReply::json(status, body))
}

/// Milliseconds since 1970, in UTC.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// The query of a request, decoded and read.
fn query<T>(
    request: &ApiRequest,
    read: impl FnOnce(&[(&str, &str)]) -> Result<T, RestError>,
) -> Result<T, RestError> {
    let pairs: Vec<_> = url::form_urlencoded::parse(request.query.as_bytes()).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
    read(&pairs)
}

/// Bytes of the operating system's generator.
fn random<const N: usize>() -> Result<[u8; N], RestError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| unavailable(&error))?;
    Ok(bytes)
}

/// The page of a list that is sorted by name.
fn names_page(query: &NamesQuery) -> AccountPage<'_> {
    AccountPage {
        after: query.after.as_deref(),
        limit: u32::try_from(query.limit).unwrap_or(u32::MAX),
    }
}

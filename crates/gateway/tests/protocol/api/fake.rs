//! Tokens, servers and a scripted surface in memory, served on a socket.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{StreamExt as _, stream};
use gateway::{
    Api, ApiConfig, ApiReply, ApiRequest, ApiSurface, Clients, Connection, ConnectionEvents, Connector,
    OtherProcess, Pipes, Place, RefusedAttempt,
};
use identity::{ApiToken, Grant, Identity, Permission, PermissionSet, Role, TokenId, TokenTeams, User};
use policy::{Policy, PolicyConfig};
use rest::RestError;
use surfaces::{CodeConfig, ToolListing};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use types::{Principal, ServerId};

use super::http_client::{Answer, Ask};
use crate::client::{Script, soon};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The server of every test.
pub const SERVER: &str = "s1";

pub struct Fake {
    tokens: Mutex<HashMap<String, Identity>>,
    /// Versions by id.
    servers: Mutex<HashMap<String, u64>>,
    is_down: Mutex<bool>,
    pub script: Script,
    /// Requests that `answer` received.
    pub requests: watch::Sender<Vec<ApiRequest>>,
    /// `answer` waits for a permit on the route `/metrics`.
    pub metrics: Semaphore,
    /// The export at `/audit` sends a line for each permit, and ends when this is closed.
    pub export: Arc<Semaphore>,
    /// Number of ended surfaces.
    pub ended: watch::Sender<usize>,
    /// Route and status of each response.
    pub answered: Mutex<Vec<(Option<identity::Route>, u16)>>,
    /// Route, parameter `id` and status of each refused attempt.
    pub refused: Mutex<Vec<(identity::Route, String, u16)>>,
}

/// A gateway over the fake.
pub struct Gateway {
    pub api: Arc<Fake>,
    pub address: SocketAddr,
    pub shutdown: CancellationToken,
    serving: JoinHandle<()>,
}

#[derive(Default)]
pub struct ScriptConnector {
    script: Script,
    /// Surfaces that have ended.
    pub ended: watch::Sender<usize>,
}

pub fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

impl Fake {
    /// Adds a token of this user, with the permissions of a platform admin.
    pub fn admit(&self, token: &str, user: &str, expires_ms: Option<i64>) {
        self.admit_with(token, user, expires_ms, PermissionSet::ALL);
    }

    pub fn admit_with(&self, token: &str, user: &str, expires_ms: Option<i64>, scopes: PermissionSet) {
        let principal = Principal::new("acme", user).unwrap();
        let mut tokens = self.tokens.lock().unwrap();
        let mut id = [0; 12];
        id[0] = u8::try_from(tokens.len()).unwrap();
        let api_token = ApiToken {
            id: TokenId::new(id),
            grant: Grant {
                owner: principal.clone(),
                name: None,
                role: Role::PlatformAdmin,
                teams: TokenTeams::Unrestricted,
                scopes: Some(scopes),
                expires_ms,
            },
            created_ms: 0,
            made_by: None,
            revoked_ms: None,
            last_used_ms: None,
        };
        let user = User {
            principal,
            role: Role::PlatformAdmin,
            created_ms: 0,
            disabled_ms: None,
        };
        let identity = Identity::of(&api_token, &user, &[], 0).unwrap();
        tokens.insert(token.to_owned(), identity);
    }

    pub fn revoke(&self, token: &str) {
        self.tokens.lock().unwrap().remove(token);
    }

    pub fn add_server(&self, id: &str) {
        self.servers.lock().unwrap().insert(id.to_owned(), 1);
    }

    pub fn delete_server(&self) {
        self.servers.lock().unwrap().clear();
    }

    pub fn change_server(&self) {
        *self.servers.lock().unwrap().get_mut(SERVER).unwrap() += 1;
    }

    pub fn set_down(&self, is_down: bool) {
        *self.is_down.lock().unwrap() = is_down;
    }

    /// Waits until this many surfaces have ended.
    pub async fn surfaces_ended(&self, count: usize) {
        let mut ended = self.ended.subscribe();
        soon("surfaces to end", ended.wait_for(|ended| *ended >= count))
            .await
            .unwrap();
    }

    /// Waits until a request has reached `answer`.
    pub async fn asked(&self) -> ApiRequest {
        let mut requests = self.requests.subscribe();
        let seen = soon("a request", requests.wait_for(|seen| !seen.is_empty())).await;
        seen.unwrap().last().unwrap().clone()
    }

    fn check_database(&self) -> Result<(), RestError> {
        match *self.is_down.lock().unwrap() {
            true => Err(RestError::Unavailable {
                message: "the database does not answer".to_owned(),
                retry_after: Duration::from_secs(1),
            }),
            false => Ok(()),
        }
    }
}

impl Api for Fake {
    fn identify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<Identity>, RestError>> {
        Box::pin(async move {
            self.check_database()?;
            Ok(self.tokens.lock().unwrap().get(token).cloned())
        })
    }

    fn answer(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiReply, RestError>> {
        Box::pin(async move {
            let route = request.route;
            self.requests.send_modify(|seen| seen.push(request));
            match route {
                identity::Route::Metrics => {
                    self.metrics.acquire().await.unwrap().forget();
                    Ok(ApiReply::text(200, "metrics"))
                }
                identity::Route::ListAudit => {
                    let parts = stream::unfold(Arc::clone(&self.export), |export| async {
                        export.acquire().await.ok()?.forget();
                        Some((Ok(b"{}\n".to_vec()), export))
                    });
                    Ok(ApiReply::streamed("application/x-ndjson", parts.boxed()))
                }
                identity::Route::Docs => Ok(ApiReply::html(200, "<p>docs</p>")),
                identity::Route::DeleteServer => Ok(ApiReply::no_content()),
                identity::Route::ListUsers => Err(RestError::TooManyRequests {
                    message: "slow down".to_owned(),
                    retry_after: Duration::from_secs(7),
                }),
                _ => Ok(ApiReply::json(200, format!("{{\"route\":\"{route}\"}}"))),
            }
        })
    }

    fn place<'a>(
        &'a self,
        _identity: &'a Identity,
        _server: &'a ServerId,
        _gone: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Place, RestError>> {
        Box::pin(async { Ok(Place::Here) })
    }

    fn others(&self) -> BoxFuture<'_, Result<Vec<OtherProcess>, RestError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn refused<'a>(&'a self, attempt: RefusedAttempt<'a>) -> BoxFuture<'a, Result<(), RestError>> {
        Box::pin(async move {
            self.check_database()?;
            let id = attempt.parameters.get("id").cloned().unwrap_or_default();
            let refused = (attempt.route, id, attempt.status);
            self.refused.lock().unwrap().push(refused);
            Ok(())
        })
    }

    fn answered(&self, route: Option<identity::Route>, status: u16, _: Duration) {
        self.answered.lock().unwrap().push((route, status));
    }

    fn surface<'a>(
        &'a self,
        _identity: &'a Identity,
        server: &'a ServerId,
        _permission: Permission,
    ) -> BoxFuture<'a, Result<ApiSurface, RestError>> {
        Box::pin(async move {
            self.check_database()?;
            let version = self.servers.lock().unwrap().get(server.as_str()).copied();
            let version = version.ok_or_else(RestError::no_server)?;
            let connector = Box::new(ScriptConnector {
                script: self.script.clone(),
                ended: self.ended.clone(),
            });
            Ok(ApiSurface {
                connector,
                version,
                has_own_tools: true,
            })
        })
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), RestError>> {
        Box::pin(async { self.check_database() })
    }
}

impl Connector for ScriptConnector {
    fn connect(
        &self,
        pipes: Pipes,
        _: Clients,
        shutdown: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
        let events = ConnectionEvents::default();
        let config = CodeConfig {
            policy: Arc::new(Policy::new(PolicyConfig::default()).unwrap()),
            answers: types::Answers::default(),
            receipt: false,
            check: types::CheckMode::default(),
            listing: ToolListing::Constant,
        };
        let surface = surfaces::code(self.script.clone(), config, events.closed.clone());
        let ended = self.ended.clone();
        Box::pin(async move {
            let connection = Connection {
                pipes,
                events,
                shutdown,
            };
            gateway::serve(surface, connection).await;
            ended.send_modify(|ended| *ended += 1);
        })
    }
}

impl Gateway {
    /// With the tokens `ann` and `bob`, each of the user with that name, and one server.
    pub async fn start() -> Gateway {
        Gateway::start_with(Duration::from_secs(30)).await
    }

    /// With this interval between checks of open streams.
    pub async fn start_with(recheck_every: Duration) -> Gateway {
        let api = Arc::new(Fake {
            tokens: Mutex::default(),
            servers: Mutex::new(HashMap::from([(SERVER.to_owned(), 1)])),
            is_down: Mutex::default(),
            script: Script::default(),
            requests: watch::Sender::default(),
            metrics: Semaphore::new(0),
            export: Arc::new(Semaphore::new(0)),
            ended: watch::Sender::default(),
            answered: Mutex::default(),
            refused: Mutex::default(),
        });
        api.admit("ann", "ann@example.com", None);
        api.admit("bob", "bob@example.com", None);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let config = ApiConfig {
            recheck_every,
            ..ApiConfig::new(listener)
        };
        let served = gateway::serve_api(config, Arc::<Fake>::clone(&api), shutdown.clone());
        Gateway {
            api,
            address,
            shutdown,
            serving: tokio::spawn(async { served.await.unwrap() }),
        }
    }

    pub async fn send(&self, ask: Ask) -> Answer {
        ask.send(self.address).await
    }

    pub async fn ended(self) {
        soon("the gateway to end", self.serving).await.unwrap();
    }
}

/// All permissions but this one.
pub fn all_but(permission: Permission) -> PermissionSet {
    Permission::ALL
        .iter()
        .filter(|one| **one != permission)
        .copied()
        .collect()
}

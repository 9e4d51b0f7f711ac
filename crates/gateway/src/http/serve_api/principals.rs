//! The endpoints of each principal, and its share of common resources.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use identity::{Identity, TokenId};
use parking_lot::Mutex;
use rest::RestError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use types::{Principal, ServerId};

use super::rpc_calls::RpcCalls;
use crate::http::api::ApiSurface;
use crate::http::body::BodyShare;
use crate::http::endpoint::Endpoint;
use crate::http::event_log::EventBudget;
use crate::http::sessions::{Conversations, SWEEP_EVERY};

/// Limit on a principal's endpoints; at the limit, a new one ends the least recently used idle one.
const MOST_ENDPOINTS: usize = 64;

/// Limit on a principal's requests and streams, because they use connections that all clients share.
const MOST_REQUESTS: usize = 256;

/// Limit on a principal's concurrent database requests. Further requests wait, so that a flood delays no other
/// principal.
const MOST_ASKING: usize = 4;

/// Limit on the sessions of an endpoint.
const MOST_SESSIONS: usize = 128;

/// An endpoint without sessions that is unused for this long ends.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// All principals with a recently valid token.
#[derive(Debug, Default)]
pub(super) struct Principals {
    states: Mutex<HashMap<Principal, Arc<PrincipalState>>>,
    budget: EventBudget,
}

#[derive(Debug)]
pub(super) struct PrincipalState {
    pub(super) bodies: BodyShare,
    requests: Arc<Semaphore>,
    /// Permits for requests to surfaces, held until their answers.
    unanswered: Arc<Semaphore>,
    /// Permits for database requests.
    asking: Semaphore,
    budget: EventBudget,
    endpoints: Mutex<HashMap<EndpointKey, OpenEndpoint>>,
    pub(super) rpc_calls: RpcCalls,
}

/// Includes the token, so that one token cannot use another's sessions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EndpointKey {
    token: TokenId,
    server: ServerId,
}

#[derive(Debug)]
struct OpenEndpoint {
    endpoint: Arc<Endpoint>,
    version: u64,
    used: Instant,
}

// === impl Principals ===

impl Principals {
    pub(super) fn state(&self, identity: &Identity) -> Arc<PrincipalState> {
        let mut states = self.states.lock();
        let state = states.entry(identity.principal().clone());
        Arc::clone(state.or_insert_with(|| {
            Arc::new(PrincipalState {
                bodies: BodyShare::new(),
                requests: Arc::new(Semaphore::new(MOST_REQUESTS)),
                unanswered: Arc::new(Semaphore::new(MOST_REQUESTS)),
                asking: Semaphore::new(MOST_ASKING),
                budget: self.budget.share(),
                endpoints: Mutex::default(),
                rpc_calls: RpcCalls::default(),
            })
        }))
    }

    /// Ends unused sessions and endpoints. Never returns.
    pub(super) async fn sweep(&self) {
        loop {
            tokio::time::sleep(SWEEP_EVERY).await;
            self.end_idle(Instant::now());
        }
    }

    fn end_idle(&self, now: Instant) {
        self.states.lock().retain(|_, state| {
            let is_used = state.end_idle(now);
            // A request of a removed principal would still hold the old share, in addition to a new one.
            let is_busy = [&state.requests, &state.unanswered]
                .iter()
                .any(|permits| permits.available_permits() < MOST_REQUESTS);
            is_used || is_busy || Arc::strong_count(state) > 1
        });
    }

    /// Ends every conversation and waits for their surfaces.
    pub(super) async fn close(&self) {
        let states = std::mem::take(&mut *self.states.lock());
        let endpoints: Vec<_> = states.values().flat_map(|state| state.take_all()).collect();
        endpoints
            .iter()
            .for_each(|open| open.endpoint.conversations.end_all());
        for open in endpoints {
            open.endpoint.conversations.close().await;
        }
    }
}

// === impl PrincipalState ===

impl PrincipalState {
    /// A permit for one request, until its response is sent.
    pub(super) fn place(&self) -> Result<OwnedSemaphorePermit, RestError> {
        let place = Arc::clone(&self.requests).try_acquire_owned();
        place.map_err(|_| RestError::TooManyRequests {
            message: format!(
                "{MOST_REQUESTS} requests and streams of yours are open already; wait for answers, or close some"
            ),
            retry_after: Duration::from_secs(1),
        })
    }

    /// Runs a future that uses the database, within the principal's limit.
    pub(super) async fn in_turn<T>(&self, asking: impl Future<Output = T>) -> T {
        // The semaphore is never closed.
        let _turn = self.asking.acquire().await.ok();
        asking.await
    }

    /// The endpoint of a virtual server for this token. An endpoint with another version ends.
    pub(super) fn endpoint(
        &self,
        identity: &Identity,
        server: &ServerId,
        surface: ApiSurface,
    ) -> Result<Arc<Endpoint>, RestError> {
        let key = EndpointKey::of(identity, server);
        let mut endpoints = self.endpoints.lock();
        if let Some(open) = endpoints.get_mut(&key) {
            if open.version == surface.version {
                open.used = Instant::now();
                return Ok(Arc::clone(&open.endpoint));
            }
            open.endpoint.conversations.end_all();
            endpoints.remove(&key);
        }
        if endpoints.len() >= MOST_ENDPOINTS {
            make_room(&mut endpoints)?;
        }
        let conversations = Conversations::new(
            surface.connector,
            MOST_SESSIONS,
            self.budget.clone(),
            self.unanswered.clone(),
        );
        let endpoint = Arc::new(Endpoint::new(conversations));
        let open = OpenEndpoint {
            endpoint: Arc::clone(&endpoint),
            version: surface.version,
            used: Instant::now(),
        };
        endpoints.insert(key, open);
        Ok(endpoint)
    }

    /// Ends the conversations with a virtual server that the token no longer reaches.
    pub(super) fn forget(&self, identity: &Identity, server: &ServerId) {
        let forgotten = self.endpoints.lock().remove(&EndpointKey::of(identity, server));
        if let Some(open) = forgotten {
            open.endpoint.conversations.end_all();
        }
    }

    /// Ends all conversations of a token.
    pub(super) fn forget_all(&self, identity: &Identity) {
        let mut endpoints = self.endpoints.lock();
        let own = endpoints.extract_if(|key, _| key.token == *identity.token());
        let forgotten: Vec<OpenEndpoint> = own.map(|(_, open)| open).collect();
        drop(endpoints);
        forgotten
            .iter()
            .for_each(|open| open.endpoint.conversations.end_all());
    }

    /// Returns whether an endpoint is left.
    fn end_idle(&self, now: Instant) -> bool {
        let mut endpoints = self.endpoints.lock();
        endpoints.retain(|_, open| {
            let conversations = &open.endpoint.conversations;
            conversations.end_idle(now);
            let is_recent = now.duration_since(open.used) < IDLE;
            is_recent || conversations.has_sessions() || !conversations.is_idle()
        });
        !endpoints.is_empty()
    }

    fn take_all(&self) -> Vec<OpenEndpoint> {
        let mut endpoints = self.endpoints.lock();
        endpoints.drain().map(|(_, open)| open).collect()
    }
}

fn make_room(endpoints: &mut HashMap<EndpointKey, OpenEndpoint>) -> Result<(), RestError> {
    let idle = endpoints
        .iter()
        .filter(|(_, open)| open.endpoint.conversations.is_idle());
    let longest = idle.min_by_key(|(_, open)| open.used).map(|(key, _)| key.clone());
    let removed = longest.and_then(|key| endpoints.remove(&key));
    let open = removed.ok_or_else(|| RestError::TooManyRequests {
        message: format!(
            "{MOST_ENDPOINTS} virtual servers are in use by you; wait for answers, or close streams"
        ),
        retry_after: Duration::from_secs(1),
    })?;
    open.endpoint.conversations.end_all();
    Ok(())
}

impl EndpointKey {
    fn of(identity: &Identity, server: &ServerId) -> EndpointKey {
        EndpointKey {
            token: identity.token().clone(),
            server: server.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use identity::{ApiToken, Grant, Role, TokenTeams, User};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::http::{Clients, Connector};
    use crate::pipes::Pipes;

    struct Silent;

    impl Connector for Silent {
        fn connect(
            &self,
            _: Pipes,
            _: Clients,
            shutdown: CancellationToken,
        ) -> Pin<Box<dyn Future<Output = ()> + Send + 'static>> {
            Box::pin(async move { shutdown.cancelled().await })
        }
    }

    fn surface() -> ApiSurface {
        ApiSurface {
            connector: Box::new(Silent),
            version: 1,
            has_own_tools: true,
        }
    }

    fn identity() -> Identity {
        let token = ApiToken {
            id: TokenId::new([1; 12]),
            grant: Grant {
                owner: Principal::local(),
                name: None,
                role: Role::Developer,
                teams: TokenTeams::Only([].into()),
                scopes: None,
                expires_ms: None,
            },
            created_ms: 0,
            made_by: None,
            revoked_ms: None,
            last_used_ms: None,
        };
        let user = User {
            principal: Principal::local(),
            role: Role::Developer,
            created_ms: 0,
            disabled_ms: None,
        };
        Identity::of(&token, &user, &[], 0).expect("valid")
    }

    #[tokio::test]
    async fn unused_endpoints_end_and_their_principals_are_removed() {
        let (principals, identity) = (Principals::default(), identity());
        let open = |server| {
            let state = principals.state(&identity);
            state.endpoint(&identity, &ServerId::new(server), surface())
        };
        let plain = open("plain").expect("room");
        let session = open("session").expect("room");
        let (opening, _) = session.conversations.begin().expect("room");
        opening.agree();
        let count = || {
            let states = principals.states.lock();
            let counts = states.values().map(|state| state.endpoints.lock().len());
            counts.sum::<usize>()
        };
        let after = |time: Duration| principals.end_idle(Instant::now() + time);
        after(IDLE / 2);
        assert_eq!(count(), 2);
        drop(plain);
        after(IDLE + SWEEP_EVERY);
        assert_eq!(count(), 1, "the session stays");
        after(Duration::from_secs(60 * 60));
        assert!(principals.states.lock().is_empty());
    }

    #[test]
    fn a_principal_has_a_bounded_number_of_requests() {
        let principals = Principals::default();
        let state = || principals.state(&identity());
        let mut places: Vec<_> = (0..MOST_REQUESTS).map(|_| state().place()).collect();
        assert!(places.iter().all(Result::is_ok));
        principals.end_idle(Instant::now());
        let refused = state().place().err().map(|problem| problem.status());
        assert_eq!(refused, Some(429));
        places.pop();
        assert!(state().place().is_ok());
    }

    #[tokio::test]
    async fn a_principal_has_a_bounded_number_of_busy_endpoints() {
        let (principals, identity) = (Principals::default(), identity());
        let state = principals.state(&identity);
        let open = |number: usize| {
            let server = ServerId::new(format!("s{number}"));
            state.endpoint(&identity, &server, surface())
        };
        let mut streams = Vec::new();
        for number in 0..MOST_ENDPOINTS {
            let endpoint = open(number).expect("room");
            streams.push(endpoint.conversations.shared().listen().expect("room"));
        }
        let refused = open(MOST_ENDPOINTS).err().map(|problem| problem.status());
        assert_eq!(refused, Some(429));
        streams.remove(7);
        assert!(open(MOST_ENDPOINTS).is_ok());
        assert!(open(8).is_ok(), "the busy ones stay");
        principals.close().await;
    }
}

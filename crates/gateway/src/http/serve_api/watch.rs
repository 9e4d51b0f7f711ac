//! Ends a stream and its sessions when the token expires or is revoked, or the virtual server is gone.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use identity::{Identity, Permission, Route};
use rest::RestError;
use types::ServerId;

use super::refusal::ApiRefusal;
use super::serving::{ApiService, Caller};
use crate::http::events::StreamKind;

/// Consecutive checks without a result, after which a stream ends as if its token were revoked.
const MOST_UNCHECKED: u32 = 4;

/// The caller of a stream.
pub(super) struct StreamWatch {
    pub(super) service: Arc<ApiService>,
    pub(super) token: String,
    pub(super) identity: Identity,
    pub(super) route: Route,
    pub(super) server: ServerId,
    pub(super) version: u64,
}

enum Checked {
    Valid(Box<Identity>),
    /// The next request opens an endpoint of the other version.
    Changed,
    Refused,
    /// The database does not answer.
    Unknown,
}

impl StreamWatch {
    /// Passes a response on. A stream ends when its caller loses the right to it; a standing stream also ends with
    /// the drain.
    pub(super) fn over(self, response: Response) -> Response {
        let Some(kind) = response.extensions().get::<StreamKind>().copied() else {
            return response;
        };
        let ended = Box::pin(self.ended(kind));
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(ended)))
    }

    async fn ended(self, kind: StreamKind) {
        let draining = self.service.draining.clone();
        let drained = async {
            match kind {
                StreamKind::Standing => draining.cancelled().await,
                StreamKind::Answer => std::future::pending().await,
            }
        };
        tokio::select! {
            () = drained => {}
            () = self.refused(kind) => {}
        }
    }

    async fn refused(mut self, kind: StreamKind) {
        let mut unchecked = 0;
        while let Some(left) = self.time_left(kind) {
            tokio::time::sleep(left.min(self.service.recheck_every)).await;
            match self.check().await {
                Checked::Valid(identity) => {
                    self.identity = *identity;
                    unchecked = 0;
                }
                Checked::Unknown if unchecked + 1 < MOST_UNCHECKED => unchecked += 1,
                Checked::Changed => return,
                Checked::Unknown | Checked::Refused => return self.forget(),
            }
        }
        // Whoever signed on goes on with the next token.
        if !self.identity.is_signed_on() {
            self.forget();
        }
    }

    fn forget(&self) {
        self.service
            .principals
            .state(&self.identity)
            .forget(&self.identity, &self.server);
    }

    /// Time until the stream ends with its token; `None` once it has. An answer may take longer than the tokens of an
    /// issuer live.
    fn time_left(&self, kind: StreamKind) -> Option<Duration> {
        match kind {
            StreamKind::Answer if self.identity.is_signed_on() => Some(Duration::MAX),
            StreamKind::Answer | StreamKind::Standing => time_left(&self.identity),
        }
    }

    async fn check(&self) -> Checked {
        let identity = match self.service.api.recheck(&self.token, &self.identity).await {
            Ok(Some(identity)) => identity,
            Ok(None) | Err(RestError::InvalidToken(_)) => return Checked::Refused,
            Err(_) => return Checked::Unknown,
        };
        if self.route.admit(Some(&identity)).is_err() {
            return Checked::Refused;
        }
        match self
            .service
            .surface(&identity, &self.server, Permission::ServersUse)
            .await
        {
            Ok(surface) if surface.version == self.version => Checked::Valid(Box::new(identity)),
            Err(problem) if problem.retry_after().is_some() => Checked::Unknown,
            Ok(_) => Checked::Changed,
            Err(_) => Checked::Refused,
        }
    }
}

impl ApiService {
    /// The answer, or a refusal as soon as the token is revoked or its user has signed out. The request is dropped then,
    /// which ends its program.
    pub(super) async fn while_valid(
        &self,
        caller: Option<Caller>,
        answering: impl Future<Output = Response>,
    ) -> Response {
        let Some(caller) = caller else {
            return answering.await;
        };
        tokio::select! {
            biased;
            response = answering => response,
            () = self.ended(&caller) => ApiRefusal::from(RestError::Unauthenticated).into_response(),
        }
    }

    /// Returns when the caller's token is refused, and ends the caller's conversations. While the database does not
    /// answer, the request goes on.
    async fn ended(&self, caller: &Caller) {
        loop {
            tokio::time::sleep(self.recheck_every).await;
            let checked = self.api.recheck(&caller.token, &caller.identity).await;
            if matches!(checked, Ok(None) | Err(RestError::InvalidToken(_))) {
                self.principals
                    .state(&caller.identity)
                    .forget_all(&caller.identity);
                return;
            }
        }
    }
}

/// Time until the token expires; `None` once it has.
fn time_left(identity: &Identity) -> Option<Duration> {
    let Some(expires) = identity.expires_ms() else {
        return Some(Duration::MAX);
    };
    let expires = Duration::from_millis(u64::try_from(expires).ok()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    expires.checked_sub(now).filter(|left| !left.is_zero())
}

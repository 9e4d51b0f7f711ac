//! Ends a stream and its sessions when the token expires or is revoked, or the virtual server is gone.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use identity::{Identity, Permission, Route};
use types::ServerId;

use super::serving::ApiService;
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
            () = self.refused() => {}
        }
    }

    async fn refused(mut self) {
        let mut unchecked = 0;
        while let Some(left) = time_left(&self.identity) {
            tokio::time::sleep(left.min(self.service.recheck_every)).await;
            match self.check().await {
                Checked::Valid(identity) => {
                    self.identity = *identity;
                    unchecked = 0;
                }
                Checked::Unknown if unchecked + 1 < MOST_UNCHECKED => unchecked += 1,
                Checked::Changed => return,
                Checked::Unknown | Checked::Refused => break,
            }
        }
        self.service
            .principals
            .state(&self.identity)
            .forget(&self.identity, &self.server);
    }

    async fn check(&self) -> Checked {
        let identity = match self.service.api.identify(&self.token).await {
            Ok(Some(identity)) => identity,
            Ok(None) => return Checked::Refused,
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

/// Time until the token expires; `None` once it has.
fn time_left(identity: &Identity) -> Option<Duration> {
    let Some(expires) = identity.expires_ms() else {
        return Some(Duration::MAX);
    };
    let expires = Duration::from_millis(u64::try_from(expires).ok()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    expires.checked_sub(now).filter(|left| !left.is_zero())
}

//! Breaks an export off when its token no longer admits it, so that the client sees that the end is missing.

use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt as _, stream};
use identity::Route;
use rest::RestError;

use super::serving::ApiService;
use crate::http::api::{ApiReply, ReplyParts};

impl ApiService {
    /// The answer; a streamed one is checked again as often as standing streams are.
    pub(super) fn while_admitted(self: &Arc<Self>, route: Route, token: String, reply: ApiReply) -> ApiReply {
        reply.map_parts(|parts| {
            let start = Export {
                service: Arc::clone(self),
                route,
                token,
                parts,
                checked: Instant::now(),
            };
            stream::try_unfold(start, Export::next).boxed()
        })
    }
}

struct Export {
    service: Arc<ApiService>,
    route: Route,
    token: String,
    parts: ReplyParts,
    checked: Instant,
}

impl Export {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Export)>, RestError> {
        if self.checked.elapsed() >= self.service.recheck_every {
            let identity = self.service.api.identify(&self.token).await?;
            let identity = identity.ok_or(RestError::Unauthenticated)?;
            if self.route.admit(Some(&identity)).is_err() {
                return Err(RestError::Unauthenticated);
            }
            self.checked = Instant::now();
        }
        match self.parts.next().await {
            Some(part) => Ok(Some((part?, self))),
            None => Ok(None),
        }
    }
}

//! Aborts an export when its token is revoked or its caller's rights change, so that the client notices the missing
//! end.

use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt as _, stream};
use rest::RestError;

use super::serving::{ApiService, Caller};
use crate::http::api::{ApiReply, ReplyParts};

impl ApiService {
    /// The answer; a streamed one is rechecked as often as standing streams.
    pub(super) fn while_admitted(self: &Arc<Self>, caller: Option<Caller>, reply: ApiReply) -> ApiReply {
        let Some(caller) = caller else { return reply };
        reply.map_parts(|parts| {
            let start = Export {
                service: Arc::clone(self),
                caller,
                parts,
                checked: Instant::now(),
            };
            stream::try_unfold(start, Export::next).boxed()
        })
    }
}

struct Export {
    service: Arc<ApiService>,
    caller: Caller,
    parts: ReplyParts,
    checked: Instant,
}

impl Export {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Export)>, RestError> {
        if self.checked.elapsed() >= self.service.recheck_every {
            let identity = self
                .service
                .api
                .recheck(&self.caller.token, &self.caller.identity)
                .await?;
            if identity.as_ref() != Some(&self.caller.identity) {
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

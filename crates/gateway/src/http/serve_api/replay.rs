//! S0-79: repeats a run in the process that runs the caller's sessions.

use http::request::Parts;
use identity::Permission;
use rest::RestError;
use types::ServerId;

use super::forward;
use super::serving::ApiService;
use crate::http::api::{ApiReply, ApiRequest};

impl ApiService {
    pub(super) async fn replay(
        &self,
        server: &ServerId,
        request: ApiRequest,
        head: &Parts,
    ) -> Result<ApiReply, RestError> {
        let identity = request.identity.clone().ok_or(RestError::Unauthenticated)?;
        // No lease is taken at a server that the caller may not use; the API words the refusal.
        let surface = self.surface(&identity, server, Permission::ServersUse).await;
        if surface.is_ok()
            && let Some(answer) = self.forwarder.elsewhere(&identity, server, (head, &[])).await?
        {
            return forward::reply(answer).await;
        }
        self.api.answer(request).await
    }
}

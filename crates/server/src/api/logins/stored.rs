//! `/logins`: users' logins are listed and revoked, and keys are stored.

use gateway::{ApiReply, ApiRequest};
use identity::Identity;
use rest::{Deleted, LoginUse, LoginView, LoginsQuery, RestError};
use store::audit::AuditActor;
use store::logins::{LoginRow, SealedLogin};
use types::Principal;
use upstream_wire::oauth::{self, LoggedOut, LoginState};

use crate::api::errors::unavailable;
use crate::api::{GatewayApi, json, now_ms, query};

impl GatewayApi {
    /// The caller's own logins, or those of all users for an unrestricted platform admin.
    pub(in crate::api) async fn list_logins(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let own = identity.principal();
        let user = match query(request, LoginsQuery::read)?.user {
            Some(email) => Some(named(identity, email.as_str())?),
            None => (!identity.is_unrestricted()).then(|| own.clone()),
        };
        // Users of whom the caller may not know look like users without logins.
        if user
            .as_ref()
            .is_some_and(|user| !identity.may_manage_tokens_of(user))
        {
            return json(200, &[(); 0]);
        }
        let found = self.parts.logins.table.list(own.tenant(), user.as_ref()).await;
        let found = found.map_err(|trouble| unavailable(&trouble))?;
        let views: Vec<LoginView> = found.iter().map(|login| self.login_view(login)).collect();
        json(200, &views)
    }

    fn login_view(&self, login: &SealedLogin) -> LoginView {
        let row = &login.row;
        let http = self.parts.host.shared.hub.user_login(&row.server);
        let text = self.parts.logins.open(row, &login.sealed).ok();
        let state = http
            .zip(text)
            .and_then(|(http, text)| oauth::state_of_text(&text, &http));
        let usable = match state {
            None | Some(LoginState::Ended) => LoginUse::NeedsLogin,
            Some(LoginState::Renewable | LoginState::Until(_)) => LoginUse::Valid,
        };
        LoginView::of(&row.server, row.user.user().as_str(), usable, login.updated_ms)
    }

    pub(in crate::api) async fn set_login(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let (key, server) = (rest::set_login(&request.body)?, request.parameter("name"));
        let hub = &self.parts.host.shared.hub;
        let is_seen = self.sees_upstream(identity, server).await?;
        let http = hub.user_login(server).filter(|_| is_seen).ok_or_else(|| {
            let why = "Upstream server not found, or its definition has no `\"login\": \"user\"`";
            RestError::NotFound(why.to_owned())
        })?;
        let login = oauth::of_key(&http, &key).map_err(|message| {
            RestError::Invalid(vec![policy::Mistake {
                field: "key".to_owned(),
                message,
            }])
        })?;
        let row = LoginRow {
            user: identity.principal().clone(),
            server: server.to_owned(),
        };
        let actor = AuditActor::user(identity);
        let stored = self.parts.logins.store(&actor, &row, login).await;
        stored.map_err(|why| unavailable(&why))?;
        let user = row.user.user().as_str();
        json(200, &LoginView::of(server, user, LoginUse::Valid, now_ms()))
    }

    pub(in crate::api) async fn revoke_login(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let user = match query(request, LoginsQuery::read)?.user {
            Some(email) => named(identity, email.as_str())?,
            None => identity.principal().clone(),
        };
        let row = LoginRow {
            user,
            server: request.parameter("name").to_owned(),
        };
        if !identity.may_manage_tokens_of(&row.user) {
            return Err(no_login());
        }
        let logins = &self.parts.logins;
        let revoked = logins.revoke(&AuditActor::user(identity), &row).await;
        match revoked.map_err(|why| unavailable(&why))? {
            Some(LoggedOut::NotRevoked(why)) => {
                tracing::warn!(server = %row.server, "a login was removed here and not revoked there: {why}");
            }
            Some(_) => {}
            None => return Err(no_login()),
        }
        json(200, &Deleted::login(&row.server, row.user.user().as_str()))
    }
}

/// The user of the caller's tenant with this address, which was read already.
fn named(identity: &Identity, email: &str) -> Result<Principal, RestError> {
    identity::user(identity.principal().tenant(), email).map_err(|bad| unavailable(&bad))
}

fn no_login() -> RestError {
    RestError::NotFound("Login not found".to_owned())
}

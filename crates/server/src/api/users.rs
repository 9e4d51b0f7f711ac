//! `/users`: users are listed, made, read, changed and removed.

use gateway::{ApiReply, ApiRequest};
use identity::{Identity, User};
use rest::{Deleted, NamesQuery, RestError, UserPage, UserView};
use store::accounts::UserChange;
use store::audit::AuditActor;
use types::Principal;

use super::errors::{mistake, of_account, unavailable};
use super::{GatewayApi, json, names_page, query};

impl GatewayApi {
    pub(super) async fn list_users(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let query = query(request, NamesQuery::read)?;
        let accounts = &self.parts.tables.accounts;
        let found = accounts
            .users(identity.principal().tenant(), names_page(&query))
            .await;
        json(200, &UserPage::of(&found.map_err(of_account)?, query.limit))
    }

    pub(super) async fn create_user(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let new = rest::create_user(&request.body)?;
        identity
            .may_appoint(new.role, None)
            .map_err(|refusal| mistake(&refusal))?;
        let user = identity::user(identity.principal().tenant(), new.user.as_str());
        let user = user.map_err(|bad| unavailable(&bad))?;
        let created = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .create_user(&user, new.role)
            .await;
        json(201, &UserView::of(&created.map_err(of_account)?))
    }

    pub(super) async fn read_user(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        json(200, &UserView::of(&self.user(identity, request).await?))
    }

    pub(super) async fn update_user(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let current = self.user(identity, request).await?;
        let asked = rest::update_user(&request.body, &current)?;
        // A body that repeats the role appoints nobody.
        let role = asked.role.filter(|role| *role != current.role);
        if let Some(role) = role {
            identity
                .may_appoint(role, None)
                .map_err(|refusal| mistake(&refusal))?;
        }
        let change = UserChange {
            role,
            disabled: asked.disabled,
        };
        let accounts = &self.parts.tables.accounts;
        let changed = accounts
            .by(&AuditActor::user(identity))
            .change_user_keeping_admin(&current.principal, change)
            .await;
        json(200, &UserView::of(&changed.map_err(of_account)?))
    }

    pub(super) async fn delete_user(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let user = self.user(identity, request).await?;
        let deleted = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .delete_user_keeping_admin(&user.principal)
            .await;
        match deleted.map_err(of_account)? {
            true => json(200, &Deleted::user(&user)),
            false => Err(no_user()),
        }
    }

    /// The user whom the path names.
    async fn user(&self, identity: &Identity, request: &ApiRequest) -> Result<User, RestError> {
        let user = named_user(identity, request)?;
        let found = self.parts.tables.accounts.user(&user).await.map_err(of_account)?;
        found.ok_or_else(no_user)
    }
}

/// The user of the caller's tenant whom the path names. A text that is no address is the address of nobody.
pub(super) fn named_user(identity: &Identity, request: &ApiRequest) -> Result<Principal, RestError> {
    identity::user(identity.principal().tenant(), request.parameter("email")).map_err(|_| no_user())
}

fn no_user() -> RestError {
    RestError::NotFound("User not found".to_owned())
}

//! `/tokens`: API tokens are listed, made and revoked.

use gateway::{ApiReply, ApiRequest};
use identity::{ApiToken, Grant, Identity, TokenId, TokenSecret, TokenTeams};
use rest::{CreatedToken, RestError, TokenPage, TokenRequest, TokenView, TokensQuery};
use store::accounts::{NewToken, TokenCursor, TokensOf};
use store::audit::AuditActor;
use types::Principal;

use super::errors::{mistake, of_account, unavailable};
use super::{GatewayApi, json, now_ms, query, random};

impl GatewayApi {
    /// The caller's own tokens, or those of all users for an unrestricted platform admin.
    pub(super) async fn list_tokens(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let query = query(request, TokensQuery::read)?;
        let own = identity.principal();
        let asked = query.user.as_ref().map(|email| user(identity, email.as_str()));
        let asked = asked.transpose()?;
        let of = match &asked {
            // Users of whom the caller may not know look like users without tokens.
            Some(user) if !identity.may_manage_tokens_of(user) => return json(200, &TokenPage::of(&[], 1)),
            Some(user) => TokensOf::User(user),
            None if identity.is_unrestricted() => TokensOf::Tenant(own.tenant()),
            None => TokensOf::User(own),
        };
        let after = match query.page.cursor {
            Some(cursor) => Some(TokenCursor {
                created_ms: cursor.at_ms,
                id: TokenId::read(&cursor.id).ok_or_else(bad_cursor)?,
            }),
            None => None,
        };
        let most = u32::try_from(query.page.limit).unwrap_or(u32::MAX);
        let accounts = &self.parts.tables.accounts;
        let found = accounts
            .tokens(of, after.as_ref(), most)
            .await
            .map_err(of_account)?;
        json(200, &TokenPage::of(&found, query.page.limit))
    }

    /// The answer is the only one with the secret.
    pub(super) async fn create_token(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let grant = grant(identity, rest::create_token(&request.body)?)?;
        identity.may_grant(&grant).map_err(|refusal| mistake(&refusal))?;
        grant.check(now_ms()).map_err(|bad| mistake(&bad))?;
        let (secret, id) = (TokenSecret::new(random()?), TokenId::new(random()?));
        let token = NewToken {
            hash: &secret.hash(),
            id: &id,
            grant: &grant,
            made_by: Some(identity.token()),
        };
        let created = self
            .parts
            .tables
            .accounts
            .by(&AuditActor::user(identity))
            .create_token(token)
            .await;
        json(201, &CreatedToken::of(&secret, &created.map_err(of_account)?))
    }

    pub(super) async fn revoke_token(
        &self,
        identity: &Identity,
        request: &ApiRequest,
    ) -> Result<ApiReply, RestError> {
        let token = self.managed_token(identity, request.parameter("id")).await?;
        let accounts = &self.parts.tables.accounts;
        let revoked = accounts
            .by(&AuditActor::user(identity))
            .revoke_token(identity.principal().tenant(), &token.id)
            .await;
        let revoked = revoked.map_err(of_account)?.ok_or_else(no_token)?;
        json(200, &TokenView::of(&revoked))
    }

    /// A token that the caller may revoke.
    async fn managed_token(&self, identity: &Identity, id: &str) -> Result<ApiToken, RestError> {
        let id = TokenId::read(id).ok_or_else(no_token)?;
        let accounts = &self.parts.tables.accounts;
        let found = accounts
            .token(identity.principal().tenant(), &id)
            .await
            .map_err(of_account)?;
        found
            .filter(|token| identity.may_manage_tokens_of(&token.grant.owner))
            .ok_or_else(no_token)
    }
}

fn grant(identity: &Identity, asked: TokenRequest) -> Result<Grant, RestError> {
    let owner = match &asked.user {
        Some(email) => user(identity, email.as_str())?,
        None => identity.principal().clone(),
    };
    Ok(Grant {
        owner,
        name: asked.name,
        role: asked.role,
        teams: match asked.teams {
            Some(teams) => TokenTeams::Only(teams.into_iter().collect()),
            None => TokenTeams::chosen(asked.role, []),
        },
        scopes: asked.scopes,
        expires_ms: asked.expires_ms,
    })
}

/// The user of the caller's tenant with this address, which was read already.
fn user(identity: &Identity, email: &str) -> Result<Principal, RestError> {
    identity::user(identity.principal().tenant(), email).map_err(|bad| unavailable(&bad))
}

fn no_token() -> RestError {
    RestError::NotFound("Token not found".to_owned())
}

pub(super) fn bad_cursor() -> RestError {
    RestError::Invalid(vec![policy::Mistake {
        field: "cursor".to_owned(),
        message: rest::BadCursor.to_string(),
    }])
}

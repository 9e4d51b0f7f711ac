//! Rows of sign-ons.

use identity::{Membership, SignOn, TokenId, User};
use types::Principal;

use super::state::{IssuerAccount, SignOnState};
use super::{ends, issuer_accounts};
use crate::accounts::{AccountFault, members, of, users};
use crate::connection::{Connection, Statement};

/// Sign-ons are removed this long after their last token, in milliseconds, unless an API token was made with them.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// A sign-on counts as a credential this long after its last token, in milliseconds: programs and streams that began
/// before go on.
const COUNTED_MS: i64 = 24 * 60 * 60 * 1000;

pub(super) async fn find(
    connection: &mut Connection,
    user: &Principal,
    sign_on: &SignOn,
) -> Result<SignOnState, AccountFault> {
    let is_signed_out = is_signed_out(connection, sign_on).await?;
    let account = issuer_accounts::find(connection, user, sign_on).await?;
    let noted = "SELECT 1 AS value FROM sign_ons WHERE id = $1 AND expires_ms >= $2 AND issued_ms >= $3 AND ended_ms IS NULL";
    let noted = Statement::new(noted)
        .bind(sign_on.id().as_str())
        .bind(sign_on.expires_ms)
        .bind(sign_on.issued_ms);
    let has_followed =
        matches!(account, IssuerAccount::Own { followed_ms } if followed_ms >= sign_on.issued_ms);
    let is_noted = has_followed && connection.fetch_optional(noted).await?.is_some();
    Ok(SignOnState {
        user: users::load(connection, user).await?,
        memberships: members::of_user(connection, user).await?,
        is_signed_out,
        account,
        is_noted,
    })
}

/// Whether the issuer reported the end of the token's session.
async fn is_signed_out(connection: &mut Connection, sign_on: &SignOn) -> Result<bool, sqlx::Error> {
    let ended = "SELECT 1 AS value FROM sign_outs WHERE issuer = $1 AND ((session <> '' AND session = $2) \
         OR (subject = $3 AND issued_ms >= $4 AND (session = '' OR $2 = ''))) LIMIT 1";
    let ended = Statement::new(ended)
        .bind(sign_on.issuer.as_str())
        .bind(sign_on.session.as_str())
        .bind(sign_on.subject.as_str())
        .bind(sign_on.issued_ms);
    Ok(connection.fetch_optional(ended).await?.is_some())
}

pub(super) async fn open(
    connection: &mut Connection,
    user: &Principal,
    id: &TokenId,
) -> Result<Option<(User, Vec<Membership>)>, AccountFault> {
    let sql =
        "SELECT 1 AS value FROM sign_ons WHERE tenant = $1 AND email = $2 AND id = $3 AND ended_ms IS NULL";
    let asked = of(sql.to_owned(), user).bind(id.as_str());
    if connection.fetch_optional(asked).await?.is_none() {
        return Ok(None);
    }
    let Some(stored) = users::load(connection, user).await? else {
        return Ok(None);
    };
    Ok(Some((stored, members::of_user(connection, user).await?)))
}

/// Notes a token within a transaction that excludes reports of its issuer; `false` if the user has signed out.
pub(super) async fn note(
    connection: &mut Connection,
    user: &Principal,
    sign_on: &SignOn,
) -> Result<bool, AccountFault> {
    ends::begin(connection, &sign_on.issuer).await?;
    if is_signed_out(connection, sign_on).await? {
        connection.commit().await?;
        return Ok(false);
    }
    let now = connection.clock();
    let old = Statement::new(format!(
        "DELETE FROM sign_ons WHERE expires_ms < {now} - {KEPT_MS} AND NOT EXISTS \
         (SELECT 1 FROM tokens WHERE tokens.made_by = sign_ons.id AND tokens.revoked_ms IS NULL)"
    ));
    connection.execute(old).await?;
    issuer_accounts::note_followed(connection, user, sign_on).await?;
    let sql = "INSERT INTO sign_ons (tenant, email, id, issuer, subject, session, issued_ms, expires_ms) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET issued_ms = excluded.issued_ms, \
         expires_ms = excluded.expires_ms, ended_ms = NULL \
         WHERE sign_ons.issued_ms <= excluded.issued_ms";
    let insert = of(sql.to_owned(), user)
        .bind(sign_on.id().as_str())
        .bind(sign_on.issuer.as_str())
        .bind(sign_on.subject.as_str())
        .bind(sign_on.session.as_str())
        .bind(sign_on.issued_ms)
        .bind(sign_on.expires_ms);
    connection.execute(insert).await?;
    connection.commit().await?;
    Ok(true)
}

/// Whether a user is disabled or absent, or has neither an API token nor a sign-on that counts.
pub(super) async fn lacks_credential(
    connection: &mut Connection,
    user: &Principal,
) -> Result<bool, AccountFault> {
    let now = connection.clock();
    let sql = format!(
        "SELECT 1 AS value FROM users WHERE tenant = $1 AND email = $2 AND disabled_ms IS NULL AND (\
         EXISTS (SELECT 1 FROM tokens WHERE tokens.tenant = users.tenant AND tokens.email = users.email \
         AND revoked_ms IS NULL AND (expires_ms IS NULL OR expires_ms > {now})) \
         OR EXISTS (SELECT 1 FROM sign_ons WHERE sign_ons.tenant = users.tenant AND sign_ons.email = users.email \
         AND ended_ms IS NULL AND expires_ms > {now} - {COUNTED_MS}))"
    );
    Ok(connection.fetch_optional(of(sql, user)).await?.is_none())
}

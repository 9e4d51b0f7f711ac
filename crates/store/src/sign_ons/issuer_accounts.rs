//! Binds each user to one account of an issuer, and each account to one user.

use identity::SignOn;
use types::Principal;

use super::state::IssuerAccount;
use crate::accounts::of;
use crate::connection::{Connection, Statement};

/// Binds the user to this account, unless one of them is bound already. The user must exist.
pub(crate) async fn bind(
    connection: &mut Connection,
    user: &Principal,
    sign_on: &SignOn,
) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO issuer_accounts (tenant, email, issuer, subject, followed_ms) \
         VALUES ($1, $2, $3, $4, 0) ON CONFLICT DO NOTHING";
    let insert = of(sql.to_owned(), user)
        .bind(sign_on.issuer.as_str())
        .bind(sign_on.subject.as_str());
    connection.execute(insert).await.map(drop)
}

pub(super) async fn find(
    connection: &mut Connection,
    user: &Principal,
    sign_on: &SignOn,
) -> Result<IssuerAccount, sqlx::Error> {
    let sql = "SELECT email, issuer, subject, followed_ms FROM issuer_accounts WHERE tenant = $1 \
         AND (email = $2 OR (issuer = $3 AND subject = $4))";
    let asked = of(sql.to_owned(), user)
        .bind(sign_on.issuer.as_str())
        .bind(sign_on.subject.as_str());
    let mut found = IssuerAccount::Unbound;
    for row in connection.fetch_all(asked).await? {
        let email: String = row.get("email")?;
        let (issuer, subject): (String, String) = (row.get("issuer")?, row.get("subject")?);
        let is_user = email == user.user().as_str();
        let is_account = issuer == sign_on.issuer && subject == sign_on.subject;
        match (is_user, is_account) {
            (true, true) => {
                return Ok(IssuerAccount::Own {
                    followed_ms: row.get("followed_ms")?,
                });
            }
            (true, false) => found = IssuerAccount::OfOtherAccount,
            (false, _) if found == IssuerAccount::Unbound => found = IssuerAccount::OfOtherUser,
            (false, _) => {}
        }
    }
    Ok(found)
}

/// Notes that the user's role and teams follow this token's claims.
pub(super) async fn note_followed(
    connection: &mut Connection,
    user: &Principal,
    sign_on: &SignOn,
) -> Result<(), sqlx::Error> {
    let sql =
        "UPDATE issuer_accounts SET followed_ms = $3 WHERE tenant = $1 AND email = $2 AND followed_ms < $3";
    let update: Statement = of(sql.to_owned(), user).bind(sign_on.issued_ms);
    connection.execute(update).await.map(drop)
}

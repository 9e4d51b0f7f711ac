//! Looks up the identity behind a token's hash in one statement.

use std::time::Duration;

use identity::{Identity, Membership, TokenHash, TokenId, TokenRefusal, User};
use types::Principal;

use super::error::AccountFault;
use super::tokens::{self, COLUMNS};
use super::users::{damaged, of, principal, role};
use crate::connection::{Connection, SqlRow, Statement};

/// Uses of a token within this many milliseconds are recorded once.
const NOTED_MS: i64 = 60_000;

/// The clock that decides a token's expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The database's, which all processes share.
    Database,
    /// This time, in milliseconds since 1970.
    At(i64),
}

/// Result of a token's lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// A valid token.
    Identified(Box<Identified>),
    /// No identity.
    Refused(RefusedToken),
}

/// The caller with a valid token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identified {
    /// The token's current rights.
    pub identity: Identity,
    /// Whether `Accounts::note_use` would write. It may run after the answer.
    pub is_use_due: bool,
    /// Time until the token expires; `None` if it never does.
    pub expires_in: Option<Duration>,
}

/// A refused token, for the record of the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedToken {
    /// Why.
    pub refusal: TokenRefusal,
    /// The token and its owner; `None` if no token has this text.
    pub token: Option<(TokenId, Principal)>,
}

// === impl Lookup ===

impl Lookup {
    /// A text that matches no token.
    pub fn unknown() -> Lookup {
        Lookup::Refused(RefusedToken {
            refusal: TokenRefusal::Unknown,
            token: None,
        })
    }
}

// === impl Moment ===

impl Moment {
    pub(crate) fn sql(self, connection: &Connection) -> String {
        match self {
            Moment::Database => connection.clock().to_owned(),
            Moment::At(ms) => format!("CAST({ms} AS BIGINT)"),
        }
    }
}

pub(super) async fn find(
    connection: &mut Connection,
    hash: &TokenHash,
    moment: Moment,
) -> Result<Lookup, sqlx::Error> {
    let sql = format!(
        "SELECT {COLUMNS}, tokens.hash, users.role AS user_role, users.created_ms AS user_created_ms, \
         users.disabled_ms, memberships.team AS member_team, memberships.role AS member_role, \
         memberships.created_ms AS member_created_ms, {} AS now_ms FROM tokens \
         JOIN users ON users.tenant = tokens.tenant AND users.email = tokens.email \
         LEFT JOIN memberships ON memberships.tenant = tokens.tenant AND memberships.email = tokens.email \
         WHERE tokens.hash = $1",
        moment.sql(connection)
    );
    let rows = connection
        .fetch_all(Statement::new(sql).bind(hash.to_hex()))
        .await?;
    let Some(first) = rows.first() else {
        return Ok(Lookup::unknown());
    };
    // An index finds the row; this comparison takes the same time for every hash.
    if TokenHash::from_hex(&first.get::<String>("hash")?).as_ref() != Some(hash) {
        return Ok(Lookup::unknown());
    }
    let token = tokens::read(first)?;
    let user = User {
        principal: principal(first)?,
        role: role(first, "user_role")?,
        created_ms: first.get("user_created_ms")?,
        disabled_ms: first.get("disabled_ms")?,
    };
    let memberships = rows.iter().filter_map(|row| membership(row, &user).transpose());
    let memberships: Vec<Membership> = memberships.collect::<Result<_, _>>()?;
    let now_ms: i64 = first.get("now_ms")?;
    let is_use_due = token
        .last_used_ms
        .is_none_or(|used| used <= now_ms.saturating_sub(NOTED_MS));
    let expires_in = token.grant.expires_ms.map(|expires_ms| {
        let left = expires_ms.saturating_sub(now_ms).max(0);
        Duration::from_millis(left.unsigned_abs())
    });
    Ok(match Identity::of(&token, &user, &memberships, now_ms) {
        Ok(identity) => Lookup::Identified(Box::new(Identified {
            identity,
            is_use_due,
            expires_in,
        })),
        Err(refusal) => Lookup::Refused(RefusedToken {
            refusal,
            token: Some((token.id, user.principal)),
        }),
    })
}

fn membership(row: &SqlRow, user: &User) -> Result<Option<Membership>, sqlx::Error> {
    let Some(team) = row.get::<Option<String>>("member_team")? else {
        return Ok(None);
    };
    Ok(Some(Membership {
        user: user.principal.clone(),
        team: identity::team_id(&team).map_err(damaged)?,
        role: role(row, "member_role")?,
        created_ms: row.get("member_created_ms")?,
    }))
}

pub(super) async fn note_use(
    connection: &mut Connection,
    identity: &Identity,
    moment: Moment,
) -> Result<(), AccountFault> {
    let now = moment.sql(connection);
    let sql = format!(
        "UPDATE tokens SET last_used_ms = {now} WHERE tenant = $1 AND email = $2 AND id = $3 \
         AND (last_used_ms IS NULL OR last_used_ms <= {now} - {NOTED_MS})"
    );
    let noted = of(sql, identity.principal()).bind(identity.token().as_str());
    connection.execute(noted).await?;
    Ok(())
}

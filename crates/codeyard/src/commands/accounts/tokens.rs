//! `codeyard token`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use identity::{ApiToken, Grant, Membership, PermissionSet, Role, TokenId, TokenSecret, TokenTeams, User};
use serde_json::{Value, json};
use store::Accounts;
use store::accounts::{NewToken, TokenCursor, TokensOf};
use types::TeamId;

use super::operator::{ROWS, actor, failure, principal, team_id, tenant, user_or_new};
use crate::cli::{CreateToken, Expiry, ListTokens, RevokeToken};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::times;

/// Prints only the token, so that a script can read it.
pub(super) async fn create(
    context: &Context,
    accounts: &Accounts,
    arguments: &CreateToken,
) -> anyhow::Result<Exit> {
    let now = now_ms();
    let owner = principal(&arguments.user)?;
    let teams = arguments.team.iter().map(|team| team_id(team));
    let teams: Vec<TeamId> = teams.collect::<Result<_, _>>()?;
    let grant = Grant {
        owner: owner.clone(),
        name: arguments.name.clone(),
        role: arguments.role,
        teams: TokenTeams::chosen(arguments.role, teams.iter().cloned()),
        scopes: (!arguments.scope.is_empty())
            .then(|| arguments.scope.iter().copied().collect::<PermissionSet>()),
        expires_ms: arguments.expires.map(|expiry| expires_ms(expiry, now)),
    };
    grant.check(now).map_err(|bad| Failure::new(Exit::Usage, bad))?;
    let user = user_or_new(accounts, &owner, arguments.role).await?;
    check_user(&user, arguments)?;
    for team in &teams {
        join(accounts, team, &user, arguments.role).await?;
    }
    let (secret, id) = (TokenSecret::new(random()?), TokenId::new(random()?));
    let new = NewToken {
        hash: &secret.hash(),
        id: &id,
        grant: &grant,
        made_by: None,
    };
    accounts.by(&actor()).create_token(new).await.map_err(failure)?;
    context.output.line(&secret.reveal())?;
    Ok(Exit::Done)
}

/// Refuses a role above the owner's, because the token would not have it. In a team, the owner's role there counts.
fn check_user(user: &User, arguments: &CreateToken) -> Result<(), Failure> {
    let (email, has, role) = (&arguments.user, user.role, arguments.role);
    if user.disabled_ms.is_some() {
        let message = format!("{email} is disabled; run `codeyard user enable {email}` first");
        return Err(Failure::new(Exit::Usage, message));
    }
    if arguments.team.is_empty() && !has.permissions().covers(role.permissions()) {
        let message = format!(
            "{email} is {has}, which lacks permissions of {role}; name a smaller role, or create another user"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(())
}

/// Makes the user a member of the team; creates a missing team. A member's role stays the same.
async fn join(accounts: &Accounts, team: &TeamId, user: &User, role: Role) -> Result<(), Failure> {
    make_team(accounts, team).await?;
    let memberships = accounts.memberships(&user.principal).await.map_err(failure)?;
    let is_member = |membership: &Membership| membership.team == *team;
    if memberships.iter().any(is_member) || user.role == Role::PlatformAdmin {
        return Ok(());
    }
    accounts
        .by(&actor())
        .set_member(team, &user.principal, role)
        .await
        .map_err(failure)?;
    Ok(())
}

async fn make_team(accounts: &Accounts, team: &TeamId) -> Result<(), Failure> {
    if accounts.team(&tenant(), team).await.map_err(failure)?.is_none() {
        accounts
            .by(&actor())
            .create_team(&tenant(), team, team.as_str())
            .await
            .map_err(failure)?;
    }
    Ok(())
}

pub(super) async fn list(
    context: &Context,
    accounts: &Accounts,
    arguments: &ListTokens,
) -> anyhow::Result<Exit> {
    let tokens = all(accounts, arguments.user.as_deref()).await?;
    if arguments.json {
        let tokens: Vec<Value> = tokens.iter().map(described).collect();
        context.output.json(&json!({ "tokens": tokens }))?;
        return Ok(Exit::Done);
    }
    let head = ["ID", "USER", "ROLE", "TEAMS", "STATE", "NAME"]
        .map(str::to_owned)
        .to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(tokens.iter().map(row)).collect();
    context.output.print(&output::table(&rows))?;
    Ok(Exit::Done)
}

async fn all(accounts: &Accounts, user: Option<&str>) -> Result<Vec<ApiToken>, Failure> {
    let (owner, tenant) = (user.map(principal).transpose()?, tenant());
    let of = owner.as_ref().map_or(TokensOf::Tenant(&tenant), TokensOf::User);
    let mut tokens: Vec<ApiToken> = Vec::new();
    loop {
        let after = tokens.last().map(TokenCursor::after);
        let page = accounts.tokens(of, after.as_ref(), ROWS).await.map_err(failure)?;
        let is_last = page.len() < ROWS as usize;
        tokens.extend(page);
        if is_last {
            return Ok(tokens);
        }
    }
}

fn row(token: &ApiToken) -> Vec<String> {
    let grant = &token.grant;
    vec![
        token.id.to_string(),
        grant.owner.user().to_string(),
        grant.role.to_string(),
        teams(&grant.teams),
        state(token),
        grant.name.as_deref().map(output::one_line).unwrap_or_default(),
    ]
}

fn teams(teams: &TokenTeams) -> String {
    match teams {
        TokenTeams::Unrestricted => "all".to_owned(),
        TokenTeams::Only(teams) if teams.is_empty() => "none".to_owned(),
        TokenTeams::Only(teams) => {
            let teams: Vec<&str> = teams.iter().map(TeamId::as_str).collect();
            teams.join(",")
        }
    }
}

fn state(token: &ApiToken) -> String {
    match (token.valid_at(now_ms()), token.grant.expires_ms) {
        (Err(refusal), _) => refusal.name().trim_start_matches("token_").to_owned(),
        (Ok(()), Some(expires)) => format!("valid until {}", times::when(expires)),
        (Ok(()), None) => "valid".to_owned(),
    }
}

fn described(token: &ApiToken) -> Value {
    let grant = &token.grant;
    let teams = match &grant.teams {
        TokenTeams::Unrestricted => Value::Null,
        TokenTeams::Only(teams) => teams.iter().map(TeamId::as_str).collect(),
    };
    json!({
        "id": token.id.as_str(),
        "user": grant.owner.user().as_str(),
        "name": grant.name,
        "role": grant.role.name(),
        "teams": teams,
        "scopes": grant.scopes.map(|scopes| scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>()),
        "state": state(token),
        "created_ms": token.created_ms,
        "expires_ms": grant.expires_ms,
        "last_used_ms": token.last_used_ms,
    })
}

pub(super) async fn revoke(
    context: &Context,
    accounts: &Accounts,
    arguments: &RevokeToken,
) -> anyhow::Result<Exit> {
    let unknown = || {
        let message = format!(
            "unknown token '{}'; `codeyard token list` shows the ids",
            output::one_line(&arguments.id)
        );
        Failure::new(Exit::ProgramFailed, message)
    };
    let id = TokenId::read(&arguments.id).ok_or_else(unknown)?;
    let revoked = accounts
        .by(&actor())
        .revoke_token(&tenant(), &id)
        .await
        .map_err(failure)?;
    let revoked = revoked.ok_or_else(unknown)?;
    context
        .output
        .tell(&format!("revoked token {id} of {}", revoked.grant.owner));
    Ok(Exit::Done)
}

fn expires_ms(expiry: Expiry, now: i64) -> i64 {
    match expiry {
        Expiry::At(ms) => ms,
        Expiry::After(duration) => now.saturating_add(milliseconds(duration)),
    }
}

fn now_ms() -> i64 {
    milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Bytes of the operating system's generator.
fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).context("cannot read the system's random bytes")?;
    Ok(bytes)
}

//! Tokens, users, teams and members as answers show them.

use identity::{ApiToken, Membership, Permission, Role, Team, TokenSecret, TokenTeams, User};
use serde::Serialize;
use types::TeamId;
use utoipa::ToSchema;

use crate::openapi::schemas;
use crate::page::Cursor;
use crate::view::{Deleted, time};

/// An API token without its secret, as `GET /tokens` lists it. Times are ISO 8601 in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenView {
    /// Identifies the token in addresses; not a secret.
    pub id: String,
    /// Address of the token's user.
    pub user: String,
    /// Text for people.
    pub name: Option<String>,
    /// Limits the user's roles.
    #[schema(schema_with = schemas::role)]
    pub role: &'static str,
    /// Limits the user's teams; null for an unrestricted token.
    pub teams: Option<Vec<String>>,
    /// Limits the role's permissions; null for all of them.
    #[schema(schema_with = schemas::permissions_or_null)]
    pub scopes: Option<Vec<&'static str>>,
    /// Time of expiry; null for a token without expiry.
    #[schema(format = DateTime)]
    pub expires: Option<String>,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Id of the token that created this token; null for the command line.
    pub made_by: Option<String>,
    /// Time of revocation; null for a token in force.
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
    /// Time of the last use, exact to a minute; null for an unused token.
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}

/// The answer of `POST /tokens`.
#[derive(Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreatedToken {
    /// The secret token. Only this answer contains the secret.
    pub token: String,
    /// The token as in lists.
    pub details: TokenView,
}

/// One page of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenPage {
    /// Newest first, including expired and revoked tokens.
    pub tokens: Vec<TokenView>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A user. A body of `PUT` may repeat the whole object. Times are ISO 8601 in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserView {
    /// The address.
    pub user: String,
    /// The user's role on all objects that the user sees.
    #[schema(schema_with = schemas::role)]
    pub role: &'static str,
    /// Whether all of the user's tokens are invalid.
    pub disabled: bool,
    /// Time of creation.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time since which the user is disabled; null for an enabled user.
    #[schema(format = DateTime)]
    pub disabled_at: Option<String>,
}

/// One page of users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserPage {
    /// Sorted by address.
    pub users: Vec<UserView>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A team. A body of `PUT` may repeat the whole object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamView {
    /// Unique in the tenant, and part of addresses.
    pub id: String,
    /// Text for people.
    pub name: String,
    /// Time of creation, as ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// One page of teams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TeamPage {
    /// Teams that the caller may see, sorted by id.
    pub teams: Vec<TeamView>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// One user in one team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberView {
    /// The member's address.
    pub user: String,
    /// The team's id.
    pub team: String,
    /// The user's role for the team's objects, in addition to the user's own role.
    #[schema(schema_with = schemas::team_role)]
    pub role: &'static str,
    /// Start of the membership, as ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// One page of members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemberPage {
    /// Sorted by address.
    pub members: Vec<MemberView>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

// === impl TokenView ===

impl TokenView {
    /// The token as its user sees it.
    pub fn of(token: &ApiToken) -> Self {
        let grant = &token.grant;
        Self {
            id: token.id.to_string(),
            user: grant.owner.user().to_string(),
            name: grant.name.clone(),
            role: grant.role.name(),
            teams: match &grant.teams {
                TokenTeams::Unrestricted => None,
                TokenTeams::Only(teams) => Some(teams.iter().map(TeamId::to_string).collect()),
            },
            scopes: grant
                .scopes
                .map(|scopes| scopes.iter().map(Permission::name).collect()),
            expires: grant.expires_ms.map(time),
            created_at: time(token.created_ms),
            made_by: token.made_by.as_ref().map(ToString::to_string),
            revoked_at: token.revoked_ms.map(time),
            last_used_at: token.last_used_ms.map(time),
        }
    }
}

// === impl CreatedToken ===

impl CreatedToken {
    /// The only answer with the secret.
    pub fn of(secret: &TokenSecret, token: &ApiToken) -> Self {
        Self {
            token: secret.reveal(),
            details: TokenView::of(token),
        }
    }
}

// === impl TokenPage ===

impl TokenPage {
    /// A page that holds `most` tokens may have a next page.
    pub fn of(tokens: &[ApiToken], most: usize) -> Self {
        let next_cursor = next(tokens, most, |last| Cursor {
            at_ms: last.created_ms,
            id: last.id.to_string(),
        });
        Self {
            tokens: tokens.iter().map(TokenView::of).collect(),
            next_cursor,
        }
    }
}

// === impl UserView ===

impl UserView {
    /// The user as administrators see it.
    pub fn of(user: &User) -> Self {
        Self {
            user: user.principal.user().to_string(),
            role: user.role.name(),
            disabled: user.disabled_ms.is_some(),
            created_at: time(user.created_ms),
            disabled_at: user.disabled_ms.map(time),
        }
    }
}

// === impl UserPage ===

impl UserPage {
    /// A page that holds `most` users may have a next page.
    pub fn of(users: &[User], most: usize) -> Self {
        let next_cursor = next(users, most, |last| Cursor::of_name(last.principal.user()));
        Self {
            users: users.iter().map(UserView::of).collect(),
            next_cursor,
        }
    }
}

// === impl TeamView ===

impl TeamView {
    /// The team as its members see it.
    pub fn of(team: &Team) -> Self {
        Self {
            id: team.id.to_string(),
            name: team.name.clone(),
            created_at: time(team.created_ms),
        }
    }
}

// === impl TeamPage ===

impl TeamPage {
    /// A page of these teams; the next page begins after `after`.
    pub fn of(teams: &[Team], after: Option<&TeamId>) -> Self {
        Self {
            teams: teams.iter().map(TeamView::of).collect(),
            next_cursor: after.map(|last| Cursor::of_name(last).to_string()),
        }
    }
}

// === impl MemberView ===

impl MemberView {
    /// The membership as the team's members see it.
    pub fn of(membership: &Membership) -> Self {
        Self {
            user: membership.user.user().to_string(),
            team: membership.team.to_string(),
            role: membership.role.name(),
            created_at: time(membership.created_ms),
        }
    }
}

// === impl MemberPage ===

impl MemberPage {
    /// A page that holds `most` members may have a next page.
    pub fn of(members: &[Membership], most: usize) -> Self {
        let next_cursor = next(members, most, |last| Cursor::of_name(last.user.user()));
        Self {
            members: members.iter().map(MemberView::of).collect(),
            next_cursor,
        }
    }
}

/// The cursor after a page, unless the page is the last one.
fn next<T>(page: &[T], most: usize, cursor: impl FnOnce(&T) -> Cursor) -> Option<String> {
    let last = page.last().filter(|_| page.len() >= most)?;
    Some(cursor(last).to_string())
}

// === impl Deleted ===

impl Deleted {
    /// A removed user; all tokens and memberships are removed too.
    pub fn user(user: &User) -> Self {
        Self::of("User", user.principal.user())
    }

    /// A removed team; its memberships are removed too.
    pub fn team(team: &TeamId) -> Self {
        Self::of("Team", team)
    }

    /// A removed membership.
    pub fn member(user: &types::UserId) -> Self {
        Self::of("Member", user)
    }
}

/// Roles that a member of a team may have.
pub(crate) fn team_roles() -> impl Iterator<Item = Role> {
    Role::ALL.iter().copied().filter(|role| role.is_for_teams())
}

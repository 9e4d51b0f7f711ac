//! Access control as pure decisions: users, teams, roles, permissions, API tokens and the routes' permissions.
//!
//! ```text
//! token's text ─► TokenSecret ─► TokenHash ─► (store) ─► ApiToken, User, memberships ─► Identity::of
//! issuer's token ─► (oidc: verified claims) ─► SignOnRules::decide ─► SignOn, User, memberships ─► Identity::signed_on
//! Route::admit(identity)            may the caller use the route at all: 401 or 403
//! Identity::decide(permission, of)  may the caller do this to the object: 403 or 404
//! Identity::may_grant(grant)        may the caller create this token
//! Identity::may_appoint(role, team) may the caller give a user this role
//! ```
//!
//! Time and randomness are passed in. Every decision holds within one tenant: objects and users of other tenants look
//! like absent ones.

#[macro_use]
mod words;

mod audit;
mod email;
mod grant;
mod identity;
mod names;
mod permission;
mod permission_set;
mod role;
mod route;
mod sign_on;
mod token;
mod token_context;
mod user;

pub use audit::AuditAction;
pub use email::{BadEmail, BadUser, Email, user};
pub use grant::{ApiToken, BadGrant, Grant, TokenRefusal, TokenTeams};
pub use identity::{Denied, GrantRefusal, Identity, Owned, OwnedRefusal};
pub use names::{BadName, MAX_NAME, check_name, team_id};
pub use permission::Permission;
pub use permission_set::PermissionSet;
pub use role::Role;
pub use route::{Method, Route, RouteAccess, RouteRefusal};
pub use sign_on::{ClaimGrant, ClaimRule, ExistingUsers, NewUsers, SignOn, SignOnRefusal, SignOnRules};
pub use token::{PREFIX, TokenHash, TokenId, TokenSecret};
pub use token_context::TokenContext;
pub use user::{Membership, Team, User};
pub use words::UnknownWord;

//! Users' logins to upstream servers as answers show them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::schemas;
use crate::view::{Deleted, time};

/// A user's login to an upstream server, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginView {
    /// Name of the upstream server.
    pub server: String,
    /// Address of the user.
    pub user: String,
    /// `valid`, or `needs_login` after the server ended the login or its address changed.
    #[schema(schema_with = schemas::login_state)]
    pub state: &'static str,
    /// Time of the login or its last renewal, as ISO 8601 in UTC.
    #[schema(format = DateTime)]
    pub updated_at: String,
}

// === impl LoginView ===

impl LoginView {
    /// The states, by whether calls can use the login.
    pub(crate) const STATES: [&str; 2] = ["valid", "needs_login"];

    /// The login of `user` at `server`.
    pub fn of(server: &str, user: &str, is_usable: LoginUse, updated_ms: i64) -> LoginView {
        LoginView {
            server: server.to_owned(),
            user: user.to_owned(),
            state: match is_usable {
                LoginUse::Valid => LoginView::STATES[0],
                LoginUse::NeedsLogin => LoginView::STATES[1],
            },
            updated_at: time(updated_ms),
        }
    }
}

/// Whether calls can use a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginUse {
    /// Calls can use the login, as far as the gateway knows.
    Valid,
    /// Its user has to log in again.
    NeedsLogin,
}

// === impl Deleted ===

impl Deleted {
    /// A login was revoked.
    pub fn login(server: &str, user: &str) -> Deleted {
        Self::of("Login", format_args!("{user} at {server}"))
    }
}

//! A place for the logins of many principals that is not a directory of this machine.

use std::fmt;

use futures_util::future::BoxFuture;
use types::Principal;

/// Names one login.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LoginName {
    /// Whose login it is.
    pub principal: Principal,
    /// Name of the server in the configuration.
    pub server: String,
}

/// The right to renew one login, until it is dropped.
pub trait LoginLease: Send + Sync {
    /// Changes the login; `false` if it is gone or was replaced since the lease began. So a renewal never brings a
    /// revoked login back, and never overwrites a newer one.
    fn update(&self, login: String) -> BoxFuture<'_, Result<bool, String>>;
}

/// Stores logins as texts, which hold secrets. Errors are for people and hold none.
pub trait LoginVault: fmt::Debug + Send + Sync {
    /// Keeps other tasks and processes from renewing the login.
    fn lock<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<Box<dyn LoginLease>, String>>;

    /// The login; `None` without one.
    fn read<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Stores a new login in place of an earlier one.
    fn insert<'a>(&'a self, name: &'a LoginName, login: String) -> BoxFuture<'a, Result<(), String>>;

    /// A new address at which the principal's browser begins the login.
    fn link<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<String, String>>;
}

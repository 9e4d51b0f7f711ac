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

/// Holds a login's lock until it is dropped.
pub type LoginLock = Box<dyn Send + Sync>;

/// Stores logins as texts, which hold secrets. Errors are for people and hold none.
pub trait LoginVault: fmt::Debug + Send + Sync {
    /// Keeps other tasks and processes from renewing the login.
    fn lock<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<LoginLock, String>>;

    /// The login; `None` without one.
    fn read<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<Option<String>, String>>;

    /// Stores a new login in place of an earlier one.
    fn insert<'a>(&'a self, name: &'a LoginName, login: String) -> BoxFuture<'a, Result<(), String>>;

    /// Changes a login that still exists, so that a renewal does not bring a revoked login back.
    fn update<'a>(&'a self, name: &'a LoginName, login: String) -> BoxFuture<'a, Result<(), String>>;

    /// A new address at which the principal's browser begins the login.
    fn link<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<String, String>>;
}

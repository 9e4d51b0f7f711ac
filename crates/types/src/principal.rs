//! Who asks: one user of one tenant.

use std::fmt;
use std::str::FromStr;

use crate::{TenantId, UserId};

/// The tenant of everyone who runs their own Codeyard; texts leave it out.
const LOCAL: &str = "local";

/// In bytes: the tenant is part of directory names.
const MAX_TENANT: usize = 48;

const SEPARATOR: char = '/';

/// One user of one tenant. Every session, file, record and saved value belongs to exactly one principal.
///
/// The text form is `TENANT/USER`, or just `USER` for the tenant `local`. It is unique.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal {
    tenant: TenantId,
    user: UserId,
}

/// A text that does not name a principal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tenant is 1 to {MAX_TENANT} of the characters A-Z a-z 0-9 _ . -, not '{}'", .0.escape_debug())]
pub struct BadPrincipal(String);

impl Principal {
    /// Made from the names that the authenticating part gives.
    ///
    /// # Errors
    /// If the tenant is too long or has forbidden characters.
    pub fn new(tenant: &str, user: impl Into<String>) -> Result<Self, BadPrincipal> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        if !(1..=MAX_TENANT).contains(&tenant.len()) || !tenant.chars().all(allowed) {
            return Err(BadPrincipal(tenant.chars().take(MAX_TENANT).collect()));
        }
        Ok(Self {
            tenant: TenantId::new(tenant),
            user: UserId::new(user),
        })
    }

    /// The user who started this process; only this user asks over standard input and on the command line.
    pub fn local() -> Self {
        Self {
            tenant: TenantId::new(LOCAL),
            user: UserId::new(LOCAL),
        }
    }

    /// Whether this is [`Principal::local`].
    pub fn is_local(&self) -> bool {
        self.tenant.as_str() == LOCAL && self.user.as_str() == LOCAL
    }

    /// Shared by all users of an organization.
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Unique within the tenant.
    pub fn user(&self) -> &UserId {
        &self.user
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tenant, user) = (self.tenant.as_str(), self.user.as_str());
        if tenant == LOCAL && !user.contains(SEPARATOR) {
            f.write_str(user)
        } else {
            write!(f, "{tenant}{SEPARATOR}{user}")
        }
    }
}

impl FromStr for Principal {
    type Err = BadPrincipal;

    fn from_str(text: &str) -> Result<Self, BadPrincipal> {
        match text.split_once(SEPARATOR) {
            Some((tenant, user)) => Self::new(tenant, user),
            None => Self::new(LOCAL, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_principals() {
        let text = |tenant, user: &str| Principal::new(tenant, user).map(|principal| principal.to_string());
        assert_eq!(Principal::local().to_string(), "local");
        assert!(Principal::local().is_local());
        assert!(Principal::new("acme", "local").is_ok_and(|other| !other.is_local()));
        assert!(Principal::new("local", "ann").is_ok_and(|other| !other.is_local()));
        assert_eq!(text("local", "ann").as_deref(), Ok("ann"));
        assert_eq!(text("acme", "ann").as_deref(), Ok("acme/ann"));
        assert_eq!(text("local", "acme/ann").as_deref(), Ok("local/acme/ann"));
        for wrong in ["", "a b", "a/b", "\u{e4}", &"x".repeat(MAX_TENANT + 1)] {
            assert!(Principal::new(wrong, "ann").is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_text_names_one_principal(tenant in "[a-z.]{1,6}|local", user in "[a-z/ ]{0,8}|local") {
            let principal = Principal::new(&tenant, user).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(principal.to_string().parse(), Ok(principal));
        }
    }
}

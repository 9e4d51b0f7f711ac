//! E-mail addresses: the names of users.

use std::fmt;
use std::str::FromStr;

use types::{BadPrincipal, Principal, TenantId, UserId};

/// Maximum bytes, as in RFC 5321.
const MAX_EMAIL: usize = 254;
const MAX_LOCAL: usize = 64;
const MAX_LABEL: usize = 63;

/// A user's address in lower case. ASCII only, so that addresses that look alike are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

/// An invalid address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected an address such as ann@example.com, of ASCII letters, digits and . _ % + - ', got '{0}'")]
pub struct BadEmail(String);

/// An invalid tenant or address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUser {
    /// The address is invalid.
    #[error("user: {0}")]
    Email(#[from] BadEmail),
    /// The tenant is invalid.
    #[error("tenant: {0}")]
    Tenant(#[from] BadPrincipal),
}

/// The user with this address in this tenant.
///
/// # Errors
/// If tenant or address is invalid.
pub fn user(tenant: &TenantId, email: &str) -> Result<Principal, BadUser> {
    let email: Email = email.parse()?;
    Ok(Principal::new(tenant.as_str(), email.0)?)
}

// === impl Email ===

impl Email {
    /// The address in lower case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The user's id, unique within the tenant.
    pub fn user(&self) -> UserId {
        UserId::new(self.as_str())
    }
}

impl FromStr for Email {
    type Err = BadEmail;

    /// Ignores case and surrounding spaces.
    fn from_str(text: &str) -> Result<Self, BadEmail> {
        let address = text.trim_matches(' ');
        match address.split_once('@') {
            Some((local, domain))
                if address.len() <= MAX_EMAIL && is_local_part(local) && is_domain(domain) =>
            {
                Ok(Self(address.to_ascii_lowercase()))
            }
            _ => {
                let shown: String = text.chars().take(MAX_LOCAL).collect();
                Err(BadEmail(types::spelled_out(&shown)))
            }
        }
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_local_part(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '%' | '+' | '-' | '\'');
    text.len() <= MAX_LOCAL
        && text
            .split('.')
            .all(|part| !part.is_empty() && part.chars().all(allowed))
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let inner = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        (1..=MAX_LABEL).contains(&label.len()) && inner && !label.starts_with('-') && !label.ends_with('-')
    };
    text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_normalized_or_refused() {
        let check = |text: &str, expected: Option<&str>| {
            let read = text.parse::<Email>();
            assert_eq!(read.as_ref().ok().map(Email::as_str), expected, "{text:?}");
        };
        check("ann@example.com", Some("ann@example.com"));
        check(" Ann.B+x@EXAMPLE.com ", Some("ann.b+x@example.com"));
        check("o'hara@a-b.example", Some("o'hara@a-b.example"));
        check("admin@localhost", Some("admin@localhost"));
        let long = format!("{}@example.com", "a".repeat(MAX_LOCAL));
        check(&long, Some(&long));
        for wrong in [
            "",
            "ann",
            "@",
            "ann@",
            "@example.com",
            "a@b@c",
            ".a@b",
            "a.@b",
            "a..b@c",
            "a@.b",
            "a@b.",
            "a@b..c",
            "a@-b",
            "a@b-",
            "a b@c",
            "a/b@c",
            "../x@c",
            "a\\b@c",
            "a@b/c",
            "a\0@b",
            "a@b\n",
            "\ta@b",
            "<a@b>",
            "\u{e4}@b.c",
            "a@\u{43e}.c",
            "a\u{200b}@b.c",
            "\u{212a}@b.c",
            "a@[127.0.0.1]",
            &format!("{}@b", "a".repeat(MAX_LOCAL + 1)),
            &format!("a@{}", "b".repeat(MAX_LABEL + 1)),
            &format!("a@{}", ["b"; 200].join(".")),
            &"a".repeat(1_000_000),
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_user_has_a_tenant_and_an_address() {
        let check = |tenant: &str, email: &str, expected: &str| {
            let read = user(&TenantId::new(tenant), email);
            let read = read.map_or_else(|error| error.to_string(), |user| user.to_string());
            assert_eq!(read, expected);
        };
        check("acme", "Ann@Example.com", "acme/ann@example.com");
        check("local", "ann@example.com", "ann@example.com");
        let allowed = "a tenant is 1 to 48 of the characters A-Z a-z 0-9 _ . -, not";
        check("a b", "ann@example.com", &format!("tenant: {allowed} 'a b'"));
        check("", "ann@example.com", &format!("tenant: {allowed} ''"));
        let expected =
            "expected an address such as ann@example.com, of ASCII letters, digits and . _ % + - ', got";
        check(
            "acme",
            "ann\u{202e}",
            &format!("user: {expected} 'ann\\u{{202e}}'"),
        );
        let shown = "a".repeat(MAX_LOCAL);
        check("acme", &"a".repeat(500), &format!("user: {expected} '{shown}'"));
    }

    proptest! {
        #[test]
        fn reading_twice_changes_nothing(text in "[ -~]{0,12}@?[ -~]{0,12}|\\PC{0,20}") {
            if let Ok(email) = text.parse::<Email>() {
                prop_assert_eq!(email.as_str().parse::<Email>(), Ok(email.clone()));
                prop_assert_eq!(text.to_ascii_uppercase().parse::<Email>(), Ok(email));
            }
        }
    }
}

//! The address of a codeyard that a client uses over HTTP.

use upstream_wire::{AddressError, check_url, names_this_machine};

const PATH: &str = "/mcp";

/// An address that [`ServedAddress::new`] accepted.
#[derive(Debug, Clone)]
pub struct ServedAddress {
    /// The person's spelling.
    pub url: String,
    /// Whether the address names this machine.
    pub is_local: bool,
    /// The command that answers at the address.
    pub serves: ServedBy,
}

/// The command that serves an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServedBy {
    /// `codeyard mcp --listen`, at `/mcp`.
    Mcp,
    /// A virtual server of `codeyard serve`, at `/servers/{id}/mcp` or `/servers/{id}/sse`.
    Gateway,
}

/// A refused address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefused {
    /// The address holds credentials.
    #[error("--url holds a user name or a password; give codeyard a token instead: --token-file FILE")]
    Credentials,
    /// The path is missing.
    #[error("--url {0} names no path; codeyard serves clients at {PATH}: --url {1}")]
    NoPath(String, String),
    /// The text is not a server's URL.
    #[error("--url {0}: {1}")]
    Wrong(String, AddressError),
}

impl ServedAddress {
    /// Accepts `https:`, and `http:` to this machine or to a private numeric address.
    ///
    /// # Errors
    /// If the address has another form, holds credentials, or is on this machine and has no path.
    pub fn new(url: &str) -> Result<ServedAddress, AddressRefused> {
        match check_url(url) {
            Ok(()) => {}
            Err(AddressError::Credentials) => return Err(AddressRefused::Credentials),
            Err(error) => return Err(AddressRefused::Wrong(url.to_owned(), error)),
        }
        let is_local = names_this_machine(url);
        let after_scheme = url
            .split_once("//")
            .map_or("", |(_, rest)| rest)
            .trim_end_matches('/');
        if is_local && !after_scheme.contains(['/', '?', '#']) {
            let whole = format!("{}{PATH}", url.trim_end_matches('/'));
            return Err(AddressRefused::NoPath(url.to_owned(), whole));
        }
        Ok(ServedAddress {
            url: url.to_owned(),
            is_local,
            serves: ServedBy::path(after_scheme),
        })
    }

    /// A warning if other machines on the network can read the token.
    pub fn exposed_token(&self) -> Option<&'static str> {
        let is_plain = !self.is_local && self.url.to_ascii_lowercase().starts_with("http:");
        is_plain.then_some(
            "the token is sent without encryption, so others on the network can read it; put a proxy with TLS \
            before codeyard, and give its https address",
        )
    }
}

// === impl ServedBy ===

impl ServedBy {
    /// The command, from the path of an address without its scheme.
    fn path(address: &str) -> ServedBy {
        let path = address.split(['?', '#']).next().unwrap_or_default();
        let mut parts = path.rsplit('/');
        let is_gateway = matches!(parts.next(), Some("mcp" | "sse"))
            && parts.next().is_some_and(|id| !id.is_empty())
            && parts.next() == Some("servers");
        match is_gateway {
            true => ServedBy::Gateway,
            false => ServedBy::Mcp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(url: &str, told: &str) {
        let error = ServedAddress::new(url).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }

    #[test]
    fn addresses_must_protect_the_token() {
        for (url, is_local, is_exposed) in [
            ("http://127.0.0.1:8700/mcp", true, false),
            ("http://localhost:8700/mcp/", true, false),
            ("http://[::1]:8700/mcp", true, false),
            ("https://example.com", false, false),
            ("http 10.0.0.7:8700/mcp", false, true),
        ] {
            let address = ServedAddress::new(&url.replacen(' ', "://", 1)).unwrap();
            assert_eq!(address.is_local, is_local, "{url}");
            assert_eq!(address.exposed_token().is_some(), is_exposed, "{url}");
        }
    }

    #[test]
    fn the_path_identifies_a_virtual_server() {
        for (url, serves) in [
            ("http://127.0.0.1:4444/servers/lab/mcp", ServedBy::Gateway),
            ("https://example.com/yard/servers/lab/mcp/", ServedBy::Gateway),
            ("http://localhost:4444/servers/lab/sse?x=/mcp", ServedBy::Gateway),
            ("http://127.0.0.1:8700/mcp", ServedBy::Mcp),
            ("https://example.com/servers/mcp", ServedBy::Mcp),
            ("https://example.com/servers//mcp", ServedBy::Mcp),
        ] {
            assert_eq!(ServedAddress::new(url).unwrap().serves, serves, "{url}");
        }
    }

    #[test]
    fn others_are_refused_with_the_remedy() {
        check_refused("http://example.com/mcp", "use https");
        check_refused("example.com/mcp", "write one as in https://example.com/mcp");
        check_refused("ftp://example.com/mcp", "reached by `https:`");
        check_refused("http://127.0.0.1:8700", "--url http://127.0.0.1:8700/mcp");
        check_refused("http://localhost:8700/", "--url http://localhost:8700/mcp");
        let error = ServedAddress::new("https://me:hush@example.com/mcp").unwrap_err();
        assert_eq!(error, AddressRefused::Credentials);
        assert!(error.to_string().contains("--token-file FILE") && !error.to_string().contains("hush"));
    }
}

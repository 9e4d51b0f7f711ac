//! Checks host, origin and token before the body of a request is read.

use std::fmt;
use std::net::SocketAddr;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, StatusCode};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Minimum length of a token in characters; a shorter token can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// A secret that clients send as `Authorization: Bearer`.
#[derive(Clone)]
pub struct Token([u8; 32]);

/// A text that cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a token has at least {SHORTEST_TOKEN} characters, none of them blank")]
pub struct BadToken;

/// The checks of every request.
#[derive(Debug, Clone)]
pub(super) struct EntryGuard {
    token: Option<Token>,
    /// Whether only this machine can reach the address.
    is_loopback: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("`Host` is not an address of this server")]
    Host,
    #[error("`Origin` is not an address of this server")]
    Origin,
    #[error("send the token of --token-file as `Authorization: Bearer TOKEN`")]
    Token,
}

// === impl Token ===

impl Token {
    /// The token in a text, such as a file with a line end.
    ///
    /// # Errors
    /// The text is short or contains blanks.
    pub fn new(text: &str) -> Result<Token, BadToken> {
        let text = text.trim();
        let is_usable = text.len() >= SHORTEST_TOKEN && text.chars().all(|c| c.is_ascii_graphic());
        is_usable.then(|| Token(hash(text))).ok_or(BadToken)
    }

    /// Compares in constant time for texts of equal length.
    fn matches(&self, given: &str) -> bool {
        self.0.ct_eq(&hash(given)).into()
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

// === impl EntryGuard ===

impl EntryGuard {
    pub(super) fn new(address: SocketAddr, token: Option<Token>) -> EntryGuard {
        EntryGuard {
            token,
            is_loopback: address.ip().is_loopback(),
        }
    }

    /// Whether a request may be read.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = text(headers, HOST).ok_or(Refusal::Host)?;
        // DNS rebinding: a page of another site can map its own name to this address, and the request carries that
        // name.
        if self.is_loopback && !is_local(host) {
            return Err(Refusal::Host);
        }
        if headers.contains_key(ORIGIN) {
            let origin = text(headers, ORIGIN).and_then(|origin| origin.split_once("://"));
            let is_own = origin.is_some_and(|(_, origin)| match self.is_loopback {
                true => is_local(origin),
                false => origin.eq_ignore_ascii_case(host),
            });
            if !is_own {
                return Err(Refusal::Origin);
            }
        }
        match &self.token {
            Some(token) if !bearer(headers).is_some_and(|given| token.matches(given)) => Err(Refusal::Token),
            _ => Ok(()),
        }
    }
}

// === impl Refusal ===

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Refusal::Host | Refusal::Origin => StatusCode::FORBIDDEN,
            Refusal::Token => StatusCode::UNAUTHORIZED,
        }
    }
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next()?;
    // Refuse repeated headers: a proxy in front of codeyard may read the other value.
    values.next().is_none().then_some(only)?.to_str().ok()
}

/// The token of `Authorization: Bearer`.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = text(headers, AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "::1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn check(address: &str, token: Option<&str>, headers: &[(&str, &str)], expected: Result<(), Refusal>) {
        let token = token.map(|token| Token::new(token).expect("a token"));
        let guard = EntryGuard::new(address.parse().expect("an address"), token);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: http::HeaderName = name.parse().expect("a name");
            map.append(name, value.parse().expect("a value"));
        }
        assert_eq!(guard.check(&map), expected, "{headers:?}");
    }

    #[test]
    fn on_the_loopback_only_this_machine_speaks() {
        let check = |headers: &[(&str, &str)], expected| check("127.0.0.1:1", None, headers, expected);
        for host in ["localhost:1", "LOCALHOST", "127.0.0.1:1", "[::1]:1"] {
            check(&[("host", host)], Ok(()));
            check(&[("host", host), ("origin", "http://localhost:3000")], Ok(()));
        }
        check(&[], Err(Refusal::Host));
        check(&[("host", "evil.example.com")], Err(Refusal::Host));
        check(&[("host", "localhost.example.com")], Err(Refusal::Host));
        check(
            &[("host", "localhost"), ("host", "example.com")],
            Err(Refusal::Host),
        );
        for origin in ["http://example.com", "null", "", "http://localhost.example.com"] {
            check(&[("host", "localhost"), ("origin", origin)], Err(Refusal::Origin));
        }
    }

    #[test]
    fn elsewhere_the_origin_is_the_host_and_the_token_is_asked_for() {
        let check = |headers: &[(&str, &str)], expected| check("192.0.2.1:1", Some(TOKEN), headers, expected);
        let host = ("host", "yard.example.com");
        let bearer = format!("Bearer {TOKEN}");
        let right = ("authorization", bearer.as_str());
        check(&[host, right], Ok(()));
        check(&[host, right, ("origin", "https://yard.example.com")], Ok(()));
        check(
            &[host, right, ("origin", "https://example.com")],
            Err(Refusal::Origin),
        );
        check(&[host], Err(Refusal::Token));
        for wrong in [
            "Bearer",
            "Bearer x",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcdeF",
        ] {
            check(&[host, ("authorization", wrong)], Err(Refusal::Token));
        }
        check(&[host, right, right], Err(Refusal::Token));
    }

    #[test]
    fn a_token_is_long_and_plain() {
        assert!(Token::new(" 0123456789abcdef\n").is_ok());
        for wrong in ["", "short", "0123456789 abcdef", "0123456789abcde\u{e9}"] {
            assert_eq!(Token::new(wrong).map(|_| ()), Err(BadToken), "{wrong}");
        }
        assert_eq!(format!("{:?}", Token::new(TOKEN).expect("a token")), "Token");
    }
}

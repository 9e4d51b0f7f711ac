//! Checks host, origin and token before the body of a request is read.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::header::{AUTHORIZATION, ORIGIN};
use http::{HeaderMap, Request, StatusCode};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::forwarded::{RequestSource, TrustedProxies, only};

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
    proxies: TrustedProxies,
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
    pub(super) fn new(address: SocketAddr, token: Option<Token>, proxies: TrustedProxies) -> EntryGuard {
        EntryGuard {
            token,
            is_loopback: address.ip().is_loopback(),
            proxies,
        }
    }

    /// The address of a request's client.
    pub(super) fn client<B>(&self, request: &Request<B>) -> Option<IpAddr> {
        self.proxies.source(request).client
    }

    /// Where a request comes from, as far as trusted peers say.
    pub(super) fn source<'a, B>(&self, request: &'a Request<B>) -> RequestSource<'a> {
        self.proxies.source(request)
    }

    /// Whether a request may be read.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), Refusal> {
        let headers = request.headers();
        let source = self.proxies.source(request);
        let host = source.host.ok_or(Refusal::Host)?;
        // DNS rebinding: another site's page can map its own name to this address, and its requests carry that name.
        // Behind a proxy, a token is required, which no such page has.
        let is_loopback = self.is_loopback && !source.is_forwarded;
        if is_loopback && !is_local(host) {
            return Err(Refusal::Host);
        }
        if headers.contains_key(ORIGIN) {
            let origin = only(headers, &ORIGIN).and_then(|origin| origin.split_once("://"));
            let is_own = origin.is_some_and(|(scheme, origin)| match is_loopback {
                true => is_local(origin),
                false => origin.eq_ignore_ascii_case(host) && is_scheme_of(&source, scheme),
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

/// An unencrypted page may come from an attacker on the network, so it does not count as the encrypted site.
fn is_scheme_of(source: &RequestSource<'_>, scheme: &str) -> bool {
    source.is_encrypted != Some(true) || scheme.eq_ignore_ascii_case("https")
}

/// The token of `Authorization: Bearer`.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Logs the address of a client without a valid token, so that operators can find clients that guess tokens.
pub(super) fn note_refused_token(client: Option<IpAddr>) {
    match client {
        Some(client) => tracing::info!(%client, "a request without a valid token was refused"),
        None => tracing::info!("a request without a valid token was refused"),
    }
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
    use crate::http::forwarded::Peer;

    const TOKEN: &str = "0123456789abcdef";

    /// A peer's address, and whether its connection is encrypted.
    type PeerCase = (&'static str, bool);

    const ANY: &[PeerCase] = &[("127.0.0.1", false), ("192.0.2.7", false), ("10.0.0.1", false)];
    const PROXY: &[PeerCase] = &[("10.0.0.1", false)];
    const OTHERS: &[PeerCase] = &[("127.0.0.1", false), ("192.0.2.7", false)];
    const ENCRYPTED: &[PeerCase] = &[("192.0.2.7", true)];

    fn check(
        address: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
        expected: Result<(), Refusal>,
        peers: &[PeerCase],
    ) {
        let token = token.map(|token| Token::new(token).expect("a token"));
        let proxies = TrustedProxies::new(vec!["10.0.0.0/8".parse().expect("a range")]);
        let guard = EntryGuard::new(address.parse().expect("an address"), token, proxies);
        for (peer, is_encrypted) in peers {
            let mut builder = Request::builder().extension(Peer {
                address: peer.parse().expect("an address"),
                is_encrypted: *is_encrypted,
            });
            for (name, value) in headers {
                builder = builder.header(*name, *value);
            }
            let request = builder.body(()).expect("a request");
            assert_eq!(guard.check(&request), expected, "{peer} {headers:?}");
        }
    }

    #[test]
    fn the_loopback_serves_only_this_machine() {
        let check = |headers: &[(&str, &str)], expected| check("127.0.0.1:1", None, headers, expected, ANY);
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
    fn other_addresses_require_the_own_origin_and_a_token() {
        let check =
            |headers: &[(&str, &str)], expected| check("192.0.2.1:1", Some(TOKEN), headers, expected, ANY);
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
    fn behind_a_trusted_proxy_the_host_is_the_one_that_it_names() {
        let bearer = format!("Bearer {TOKEN}");
        let check = |headers: &[(&str, &str)], expected, peers| {
            let headers = [headers, &[("authorization", &bearer)]].concat();
            check("127.0.0.1:1", Some(TOKEN), &headers, expected, peers);
        };
        let named = [("host", "localhost"), ("x-forwarded-host", "yard.example.com")];
        let origin = ("origin", "https://yard.example.com");
        let passed_on = [named[0], named[1], ("x-forwarded-proto", "https"), origin];
        check(&passed_on, Ok(()), PROXY);
        check(&passed_on, Err(Refusal::Origin), OTHERS);
        check(
            &[named[0], named[1], ("origin", "https://evil.example")],
            Err(Refusal::Origin),
            ANY,
        );
        let plain = ("origin", "http://yard.example.com");
        check(&[named[0], named[1], plain], Ok(()), PROXY);
        check(
            &[named[0], named[1], ("x-forwarded-proto", "https"), plain],
            Err(Refusal::Origin),
            PROXY,
        );
        let kept = [("host", "yard.example.com"), ("x-forwarded-for", "192.0.2.9")];
        check(&kept, Ok(()), PROXY);
        check(&kept, Err(Refusal::Host), OTHERS);
        check(&kept[..1], Err(Refusal::Host), PROXY);
    }

    #[test]
    fn an_encrypted_site_is_not_the_plain_one() {
        let bearer = format!("Bearer {TOKEN}");
        for (origin, expected) in [
            ("https://yard.example.com", Ok(())),
            ("http://yard.example.com", Err(Refusal::Origin)),
        ] {
            let headers = [
                ("host", "yard.example.com"),
                ("origin", origin),
                ("authorization", &bearer),
            ];
            check("192.0.2.1:1", Some(TOKEN), &headers, expected, ENCRYPTED);
        }
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

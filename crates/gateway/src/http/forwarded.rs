//! A request's client, from the connection and from the headers of trusted proxies.
//!
//! A proxy adds `X-Forwarded-*` headers. Anyone can send such headers, so only a trusted peer's count.

use std::net::{IpAddr, SocketAddr};

use http::header::HOST;
use http::{HeaderMap, HeaderName, Request};
use types::AddressRange;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The other end of a connection; part of each of its requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) address: IpAddr,
    pub(super) is_encrypted: bool,
}

/// Peers whose `X-Forwarded-*` headers are trusted.
#[derive(Debug, Clone, Default)]
pub(super) struct TrustedProxies(Vec<AddressRange>);

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestSource<'a> {
    /// `None` on a stream without addresses.
    pub(super) client: Option<IpAddr>,
    /// The host that the client named; `None` if it is missing or repeated.
    pub(super) host: Option<&'a str>,
    /// Whether the client's connection is encrypted; `None` if a proxy does not say.
    pub(super) is_encrypted: Option<bool>,
    /// Whether a trusted proxy passed the request on.
    pub(super) is_forwarded: bool,
}

// === impl TrustedProxies ===

impl TrustedProxies {
    pub(super) fn new(ranges: Vec<AddressRange>) -> TrustedProxies {
        TrustedProxies(ranges)
    }

    fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.contains(address))
    }

    pub(super) fn source<'a, B>(&self, request: &'a Request<B>) -> RequestSource<'a> {
        let headers = request.headers();
        let peer = request.extensions().get::<Peer>();
        let direct = RequestSource {
            client: peer.map(|peer| peer.address),
            host: only(headers, &HOST),
            is_encrypted: Some(peer.is_some_and(|peer| peer.is_encrypted)),
            is_forwarded: false,
        };
        let has_proxy = peer.is_some_and(|peer| self.contain(peer.address));
        let all = [FORWARDED_FOR, FORWARDED_HOST, FORWARDED_PROTO];
        if !has_proxy || !all.iter().any(|name| headers.contains_key(name)) {
            return direct;
        }
        RequestSource {
            client: peer.map(|peer| self.client(peer.address, headers)),
            host: last(headers, &FORWARDED_HOST).or(direct.host),
            is_encrypted: last(headers, &FORWARDED_PROTO).map(|scheme| scheme.eq_ignore_ascii_case("https")),
            is_forwarded: true,
        }
    }

    /// The right-most address that is not a trusted proxy's. Each proxy appends its peer's address, so a client may
    /// forge all addresses further left.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        for text in items(headers, &FORWARDED_FOR).into_iter().rev() {
            let Some(address) = text.and_then(address) else {
                break;
            };
            client = address;
            if !self.contain(address) {
                break;
            }
        }
        client
    }
}

/// The value of a header that occurs once. Of repeated headers, a proxy may have read another one.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next()?;
    values.next().is_none().then_some(only)?.to_str().ok()
}

/// The items of a list over all headers of a name; `None` for a header that is not text.
fn items<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<Option<&'a str>> {
    let mut items = Vec::new();
    for value in headers.get_all(name) {
        match value.to_str() {
            Ok(text) => items.extend(text.split(',').map(|item| Some(item.trim()))),
            Err(_) => items.push(None),
        }
    }
    items
}

/// The nearest proxy's value.
fn last<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    items(headers, name).pop()?.filter(|item| !item.is_empty())
}

/// Parses an address; some proxies append a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let with_port = || text.parse().ok().map(|address: SocketAddr| address.ip());
    let address = bare.unwrap_or(text).parse().ok().or_else(with_port)?;
    Some(IpAddr::to_canonical(&address))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proxies() -> TrustedProxies {
        let ranges = ["127.0.0.1", "10.0.0.0/8"].map(|range| range.parse().expect("a range"));
        TrustedProxies::new(ranges.to_vec())
    }

    fn request(peer: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut builder = Request::builder().extension(Peer {
            address: peer.parse().expect("an address"),
            is_encrypted: false,
        });
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(()).expect("a request")
    }

    #[track_caller]
    fn check_client(peer: &str, forwarded_for: &[&str], expected: &str) {
        let headers: Vec<_> = forwarded_for
            .iter()
            .map(|value| ("x-forwarded-for", *value))
            .collect();
        let request = request(peer, &headers);
        let client = proxies().source(&request).client.map(|client| client.to_string());
        assert_eq!(client.as_deref(), Some(expected), "{forwarded_for:?}");
    }

    #[test]
    fn the_client_is_the_rightmost_address_that_is_not_a_proxys() {
        check_client("127.0.0.1", &["192.0.2.7"], "192.0.2.7");
        check_client("127.0.0.1", &["1.1.1.1, 192.0.2.7"], "192.0.2.7");
        check_client("127.0.0.1", &["1.1.1.1", "192.0.2.7, 10.1.1.1"], "192.0.2.7");
        check_client("::ffff:10.0.0.9", &["[2001:db8::1]:4711"], "2001:db8::1");
        check_client("127.0.0.1", &["192.0.2.7:80"], "192.0.2.7");
        check_client("127.0.0.1", &["10.1.1.1, 10.1.1.2"], "10.1.1.1");
        // Behind what is no address nothing is believed.
        check_client("127.0.0.1", &["192.0.2.7, unknown, 10.1.1.1"], "10.1.1.1");
        check_client("127.0.0.1", &["192.0.2.7,"], "127.0.0.1");
        check_client("127.0.0.1", &[], "127.0.0.1");
    }

    #[test]
    fn headers_of_untrusted_peers_are_ignored() {
        let forged = [
            ("host", "yard.example.com"),
            ("x-forwarded-for", "127.0.0.1"),
            ("x-forwarded-host", "evil.example.com"),
            ("x-forwarded-proto", "https"),
        ];
        let request = request("192.0.2.1", &forged);
        let expected = RequestSource {
            client: Some("192.0.2.1".parse().expect("an address")),
            host: Some("yard.example.com"),
            is_encrypted: Some(false),
            is_forwarded: false,
        };
        assert_eq!(proxies().source(&request), expected);
        assert_eq!(TrustedProxies::default().source(&request), expected);
    }

    #[test]
    fn a_proxy_says_host_and_scheme() {
        let headers = [
            ("host", "localhost"),
            ("x-forwarded-host", "first.example, yard.example.com"),
            ("x-forwarded-proto", "HTTPS"),
        ];
        let request = request("127.0.0.1", &headers);
        let source = proxies().source(&request);
        assert_eq!(source.host, Some("yard.example.com"));
        assert_eq!((source.is_encrypted, source.is_forwarded), (Some(true), true));
    }

    proptest! {
        #[test]
        fn what_a_client_sends_never_hides_its_address(sent in "[0-9a-f:., \\[\\]]{0,40}") {
            let appended = format!("{sent}, 192.0.2.7");
            check_client("127.0.0.1", &[&appended], "192.0.2.7");
            check_client("127.0.0.1", &[&sent, "192.0.2.7"], "192.0.2.7");
            check_client("192.0.2.7", &[&sent], "192.0.2.7");
        }
    }
}

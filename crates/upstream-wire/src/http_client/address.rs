//! Which addresses a remote server may have, checked in the definition and at every connection.
//!
//! A public DNS name can resolve to any address, even inside Codeyard's own network. So names must resolve to
//! public addresses, and `localhost` to this machine. Private addresses are allowed only as IP literals in
//! the definition.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Why a URL is not allowed for a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// The text is not a URL.
    #[error("is not a URL: {0}; write one as in https://example.com/mcp")]
    NotUrl(String),
    /// The scheme is neither `https` nor `http`.
    #[error("begins with `{0}:`; a server is reached by `https:`, or by `http:` on this machine")]
    Scheme(String),
    /// The URL holds credentials.
    #[error("holds a user name or a password; put credentials in `headers` or `bearerTokenFile`")]
    Credentials,
    /// Plain HTTP to a public address.
    #[error(
        "is plain HTTP, which anyone on the network can read and change; use https (http is for localhost and for private \
         addresses that are written as numbers)"
    )]
    PlainHttp,
    /// An unspecified, multicast or broadcast address.
    #[error("names {0}, an unspecified, multicast or broadcast address; write the address of one server")]
    NotUnicast(IpAddr),
    /// An address inside this machine's network, in a definition that must be public.
    #[error("is inside the gateway's own network; only an unrestricted platform admin names such an address")]
    NotPublic,
    /// A public server names an address inside this machine's network.
    #[error("is inside this machine's own network, where {0} is not; a server may not send codeyard there")]
    InternalNetwork(String),
}

/// Checks a server's address in a definition.
pub fn check_url(url: &str) -> Result<(), AddressError> {
    parse(url).map(drop)
}

/// Checks a server's address that a user wrote, not the operator: it must not be inside this machine's network. A
/// name may still resolve to an address inside; each connection checks that.
pub fn check_public_url(url: &str) -> Result<(), AddressError> {
    let url = parse(url)?;
    let is_inside = match ip_literal(&url) {
        Some(address) => is_inside(address),
        None => url.host_str().is_none_or(is_localhost),
    };
    match is_inside {
        true => Err(AddressError::NotPublic),
        false => Ok(()),
    }
}

/// Whether the address names this machine, without name resolution.
pub fn names_this_machine(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| is_this_machine(&url))
}

pub(crate) fn parse(text: &str) -> Result<Url, AddressError> {
    let url = Url::parse(text).map_err(|error| AddressError::NotUrl(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(AddressError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressError::Credentials);
    }
    let number = ip_literal(&url);
    if let Some(address) = number.filter(|address| is_no_host(*address)) {
        return Err(AddressError::NotUnicast(address));
    }
    let is_near = match number {
        Some(address) => allows_plain_http(address),
        None => url.host_str().is_some_and(is_localhost),
    };
    if url.scheme() == "http" && !is_near {
        return Err(AddressError::PlainHttp);
    }
    Ok(url)
}

/// Checks an address that the server at the first address names.
///
/// # Errors
/// If one of the addresses is wrong, or the second one leads into this machine's network and the first one does not.
pub fn check_discovered_url(server: &str, discovered: &str) -> Result<(), AddressError> {
    check_discovered(&parse(server)?, &parse(discovered)?)
}

/// Checks an address that a server names. It must be public, on the server's own host, or on this machine if
/// the server is. For an `https` server, the address must be `https`.
pub(crate) fn check_discovered(server: &Url, discovered: &Url) -> Result<(), AddressError> {
    parse(discovered.as_str())?;
    if server.scheme() == "https" && discovered.scheme() != "https" {
        return Err(AddressError::PlainHttp);
    }
    let number = ip_literal(discovered);
    let is_outside = match number {
        Some(address) => !is_inside(address),
        None => !discovered.host_str().is_some_and(is_localhost),
    };
    let is_near = is_this_machine(server) && is_this_machine(discovered);
    if is_outside || is_near || discovered.host() == server.host() {
        return Ok(());
    }
    let server = server.host_str().unwrap_or_default();
    Err(AddressError::InternalNetwork(server.to_owned()))
}

/// Decides without name resolution.
fn is_this_machine(url: &Url) -> bool {
    match ip_literal(url) {
        Some(address) => address.is_loopback(),
        None => url.host_str().is_some_and(is_localhost),
    }
}

fn ip_literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

fn is_localhost(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host == "localhost" || host.ends_with(".localhost")
}

fn is_no_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_unspecified() || v4.is_multicast() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unspecified() || v6.is_multicast(),
    }
}

/// Allows plain HTTP to loopback, private and link-local addresses.
fn allows_plain_http(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback() || v4.is_private() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unique_local() || v6.is_unicast_link_local(),
    }
}

/// Whether the address belongs to this machine, its network, or a reserved range.
fn is_inside(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_inside_v4(v4),
        IpAddr::V6(v6) => is_inside_v6(v6),
    }
}

fn is_inside_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || first == 0
        // Carrier-grade NAT, protocol assignments, and benchmarking.
        || (first == 100 && second & 0xc0 == 64)
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && second & 0xfe == 18)
        || first >= 224
}

fn is_inside_v6(address: Ipv6Addr) -> bool {
    let [first, second, .., seventh, eighth] = address.segments();
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_inside_v4(Ipv4Addr::new(a, b, c, d))
    };
    let [_, _, third, ..] = address.segments();
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || first & 0xfe00 == 0xfc00
        || first & 0xff80 == 0xfe80
        // IPv4 addresses embedded in IPv6: NAT64, 6to4, and IPv4-compatible addresses.
        || (first == 0x64 && second == 0xff9b && embedded(seventh, eighth))
        || (first == 0x2002 && embedded(second, third))
        || (address.segments()[..6] == [0; 6] && embedded(seventh, eighth))
}

fn may_resolve_to(host: &str, address: IpAddr) -> bool {
    if is_localhost(host) {
        return address.to_canonical().is_loopback();
    }
    !is_inside(address) && !is_no_host(address)
}

/// Resolves names and drops forbidden addresses. Each new connection resolves the name again, which defeats
/// DNS rebinding.
pub(super) struct Resolver;

/// A name resolves only to forbidden addresses.
#[derive(Debug, thiserror::Error)]
#[error(
    "the name {host} leads to {address}, inside this machine's own network; if that is meant, write the number in `url`"
)]
struct Inside {
    host: String,
    address: IpAddr,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_ascii_lowercase();
            let found = tokio::net::lookup_host((host.as_str(), 0))
                .await
                .map_err(|error| std::io::Error::other(format!("the name {host} was not found: {error}")))?;
            Ok(Box::new(allowed(&host, found.collect())?.into_iter()) as Addrs)
        })
    }
}

fn allowed(host: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Inside> {
    let refused = found
        .iter()
        .find(|address| !may_resolve_to(host, address.ip()))
        .map(SocketAddr::ip);
    let good: Vec<SocketAddr> = found
        .into_iter()
        .filter(|address| may_resolve_to(host, address.ip()))
        .collect();
    match refused {
        Some(address) if good.is_empty() => Err(Inside {
            host: host.to_owned(),
            address,
        }),
        _ => Ok(good),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first argument is scheme and rest.
    fn check(url: &str, expected: &str) {
        let found = match check_url(&url.replacen(' ', "://", 1)) {
            Ok(()) => "good",
            Err(AddressError::NotUrl(_)) => "no url",
            Err(AddressError::Scheme(_)) => "scheme",
            Err(AddressError::Credentials) => "credentials",
            Err(AddressError::PlainHttp) => "plain",
            Err(AddressError::NotUnicast(_)) => "nowhere",
            Err(AddressError::InternalNetwork(_) | AddressError::NotPublic) => "inside",
        };
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn definitions_name_addresses_that_can_be_reached_safely() {
        for good in [
            "https example.com/mcp",
            "https 10.0.0.7/mcp",
            "http localhost:8000/mcp",
            "http 127.0.0.1:8000/mcp",
            "http [::1]:8000/mcp",
            "http 192.168.1.5/mcp",
            "http 169.254.169.254/mcp",
            "http [fd00::1]/mcp",
            "http [fe80::1]/mcp",
            "http [::ffff:10.0.0.1]/mcp",
            "http api.localhost/",
            // Other spellings of the same number.
            "http 0x7f000001/",
            "http 2130706433/",
        ] {
            check(good, "good");
        }
        for plain in [
            "http example.com/mcp",
            "http 8.8.8.8/mcp",
            "http localhost.example.com/",
            "http [2606:4700::1111]/",
            "http [::ffff:8.8.8.8]/",
            // Carrier-grade NAT, benchmarking, protocols, reserved ranges, and IPv4 embedded in IPv6.
            "http 100.64.0.1/",
            "http 198.18.0.1/",
            "http 192.0.0.8/",
            "http 0.0.0.1/",
            "http 240.0.0.1/",
            "http [64:ff9b::7f00:1]/",
            "http [2002:a00:1::]/",
            "http [fec0::1]/",
        ] {
            check(plain, "plain");
        }
        check("https user:secret@example.com/", "credentials");
        check("https user@example.com/", "credentials");
        check("ftp example.com/", "scheme");
        check("file /etc/passwd", "scheme");
        check("https ", "no url");
        check("https 0.0.0.0/", "nowhere");
        check("https 224.0.0.1/", "nowhere");
        check("https [::]/", "nowhere");
        check("http 0/", "nowhere");
        for no_url in ["example.com/mcp", ""] {
            let error = check_url(no_url).expect_err("no scheme");
            assert!(matches!(error, AddressError::NotUrl(_)), "{error}");
        }
    }

    #[test]
    fn users_may_name_only_public_addresses() {
        for (url, is_public) in [
            ("https example.com/mcp", true),
            ("https 8.8.8.8/mcp", true),
            ("https [2606:4700::1111]/", true),
            ("http example.com/", false),
            ("https localhost/", false),
            ("https LOCALHOST./", false),
            ("https api.localhost/", false),
            ("http 127.0.0.1:8000/mcp", false),
            ("https 2130706433/", false),
            ("https 0x7f.1/", false),
            ("https 10.0.0.7/mcp", false),
            ("https 169.254.169.254/latest", false),
            ("https 100.64.0.1/", false),
            ("https [::1]/", false),
            ("https [::ffff:10.0.0.1]/", false),
            ("https [fd00::1]/", false),
            ("https [64:ff9b::a00:1]/", false),
        ] {
            let checked = check_public_url(&url.replacen(' ', "://", 1));
            assert_eq!(checked.is_ok(), is_public, "{url}");
        }
    }

    #[test]
    fn a_server_leads_nowhere_that_it_is_not() {
        let check = |server: &str, discovered: &str, expected: &str| {
            let url = |text: &str| Url::parse(&text.replacen(' ', "://", 1)).expect("a url");
            let found = match check_discovered(&url(server), &url(discovered)) {
                Ok(()) => "good",
                Err(AddressError::InternalNetwork(_)) => "inside",
                Err(AddressError::PlainHttp) => "plain",
                Err(_) => "other",
            };
            assert_eq!(found, expected, "{server} names {discovered}");
        };
        let public = "https mcp.example.com/mcp";
        check(public, "https as.example.org/token", "good");
        check(public, "http as.example.org/token", "plain");
        check(public, "http localhost:8080/token", "plain");
        check(public, "https localhost:8080/token", "inside");
        check(public, "https 127.0.0.1/token", "inside");
        check(public, "https 169.254.169.254/latest", "inside");
        check(public, "https 10.0.0.1/token", "inside");
        check(public, "https user@as.example.org/", "other");
        check(public, "ftp as.example.org/", "other");
        let local = "http localhost:9000/mcp";
        check(local, "http 127.0.0.1:8080/token", "good");
        check(local, "https as.example.org/token", "good");
        check(local, "http as.example.org/token", "plain");
        check(local, "http 10.0.0.1/token", "inside");
        check("http 10.0.0.1/mcp", "http 10.0.0.1:8080/token", "good");
        check("http 10.0.0.1/mcp", "http 10.0.0.2/token", "inside");
        check("http 10.0.0.1/mcp", "http 127.0.0.1/token", "inside");
    }

    #[test]
    fn names_lead_outside_and_localhost_to_this_machine() {
        let check = |host: &str, address: &str, expected: bool| {
            let address = address.parse().expect("an address");
            assert_eq!(may_resolve_to(host, address), expected, "{host} {address}");
        };
        for inside in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fd00::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:a00:1::",
            "::127.0.0.1",
        ] {
            check("example.com", inside, false);
        }
        for outside in [
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "64:ff9b::808:808",
        ] {
            check("example.com", outside, true);
        }
        check("localhost", "127.0.0.1", true);
        check("localhost", "::1", true);
        check("localhost", "8.8.8.8", false);
        check("localhost", "10.0.0.1", false);
    }

    #[test]
    fn only_allowed_addresses_are_used() {
        let address = |text: &str| SocketAddr::new(text.parse().expect("an address"), 0);
        let (good, bad) = (address("8.8.8.8"), address("10.0.0.1"));
        assert_eq!(allowed("example.com", vec![bad, good]).expect("one"), [good]);
        let error = allowed("example.com", vec![bad]).expect_err("none");
        assert!(error.to_string().contains("leads to 10.0.0.1"), "{error}");
    }
}

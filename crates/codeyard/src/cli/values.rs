//! Readers of option values that several commands share.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use types::{CheckMode, Format, Language};

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    types::units::duration(text)
}

/// Reads an address; a port alone means 127.0.0.1.
pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let text = text.replacen("localhost", "127.0.0.1", 1);
    text.parse()
        .map_err(|_| "write IP:PORT, such as 127.0.0.1:8700, or a port".to_owned())
}

pub(super) fn parse_check(text: &str) -> Result<CheckMode, String> {
    CheckMode::from_name(text).ok_or_else(|| "write enforce, warn or off".to_owned())
}

pub(super) fn parse_language(text: &str) -> Result<Language, String> {
    Language::from_name(text).map_err(|error| error.to_string())
}

pub(super) fn parse_format(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| "write text, toon or json".to_owned())
}

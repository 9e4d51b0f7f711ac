//! Readers of option values that several commands share.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use chrono::DateTime;
use identity::{Permission, Role};
use types::{CheckMode, Format, Language};

/// When something ends.
#[derive(Debug, Clone, Copy)]
pub enum Expiry {
    /// After this time from now.
    After(Duration),
    /// At this time, in milliseconds since 1970.
    At(i64),
}

/// Reads `30d` or `2027-01-31T00:00:00Z`.
pub(super) fn parse_expiry(text: &str) -> Result<Expiry, String> {
    if let Some(days) = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok()) {
        return Ok(Expiry::After(Duration::from_secs(u64::from(days) * 24 * 60 * 60)));
    }
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(Expiry::At(time.timestamp_millis()));
    }
    let duration = types::units::duration(text);
    duration
        .map(Expiry::After)
        .map_err(|_| "write a duration such as 30d or 12h, or a time such as 2027-01-31T00:00:00Z".to_owned())
}

pub(super) fn parse_role(text: &str) -> Result<Role, String> {
    text.parse()
        .map_err(|error: identity::UnknownWord| error.to_string())
}

pub(super) fn parse_permission(text: &str) -> Result<Permission, String> {
    text.parse()
        .map_err(|error: identity::UnknownWord| error.to_string())
}

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

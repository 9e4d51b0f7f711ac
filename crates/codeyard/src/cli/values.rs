//! Readers of option values that several commands share.

use std::time::Duration;

use types::{CheckMode, Format};

pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    types::units::duration(text)
}

pub(super) fn parse_check(text: &str) -> Result<CheckMode, String> {
    CheckMode::from_name(text).ok_or_else(|| "write enforce, warn or off".to_owned())
}

pub(super) fn parse_format(text: &str) -> Result<Format, String> {
    Format::from_name(text).ok_or_else(|| "write text, toon or json".to_owned())
}

//! `[http]`: encryption and trusted proxies.

use std::path::{Path, PathBuf};

use environment::Diagnostics;
use types::AddressRange;

use super::table::{Value, unknown};

/// `[http]`, for all addresses that serve clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Http {
    /// The certificate chain, in PEM; `None` disables encryption.
    pub tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM.
    pub tls_key: Option<PathBuf>,
    /// Peers whose `X-Forwarded-*` headers are trusted.
    pub trusted_proxies: Vec<AddressRange>,
}

pub(super) fn set(http: &mut Http, key: &str, value: &Value<'_>, directory: &Path) -> Result<(), String> {
    match key {
        "tls_cert" => http.tls_cert = Some(directory.join(value.string()?)),
        "tls_key" => http.tls_key = Some(directory.join(value.string()?)),
        "trusted_proxies" => {
            let (mut ranges, mut mistakes) = (Vec::new(), Vec::new());
            for text in value.strings()? {
                match text.parse::<AddressRange>() {
                    Ok(range) => ranges.push(range),
                    Err(bad) => mistakes.push(bad.to_string()),
                }
            }
            if !mistakes.is_empty() {
                return Err(mistakes.join("; "));
            }
            http.trusted_proxies = ranges;
        }
        _ => return Err(unknown("key", key, ["tls_cert", "tls_key", "trusted_proxies"])),
    }
    Ok(())
}

/// Certificate and key must come together.
pub(super) fn check(http: &Http, diagnostics: &mut Diagnostics) {
    let missing = match (&http.tls_cert, &http.tls_key) {
        (Some(_), None) => (
            "http.tls_cert",
            "`tls_key` is missing; name the file with the certificate's key",
        ),
        (None, Some(_)) => (
            "http.tls_key",
            "`tls_cert` is missing; name the file with the key's certificate",
        ),
        _ => return,
    };
    diagnostics.mistake(missing.0, missing.1);
}

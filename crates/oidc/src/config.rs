//! One issuer of the settings.

use std::time::Duration;

use identity::SignOnRules;
use upstream_wire::{AddressError, check_url, names_this_machine};
use url::Url;

use crate::Algorithm;

/// Largest `leeway` that the settings accept.
pub const MAX_LEEWAY: Duration = Duration::from_secs(300);

/// One issuer whose tokens admit users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerConfig {
    /// Its URL, exactly as in the claim `iss`.
    pub issuer: String,
    /// Values of `aud`, one of which a token must have. A URL also stands for those beneath it.
    pub audiences: Vec<String>,
    /// Values of `aud` of logout tokens: the client as which the issuer knows this gateway.
    pub logout_audiences: Vec<String>,
    /// Signature algorithms, at least one.
    pub algorithms: Vec<Algorithm>,
    /// Where its keys are; `None` to ask its discovery document.
    pub jwks_uri: Option<String>,
    /// Tolerated difference between the issuer's clock and ours.
    pub leeway: Duration,
    /// From claims to users.
    pub rules: SignOnRules,
}

/// Why a URL cannot be an issuer's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadIssuer {
    /// The text is not an HTTP or HTTPS URL.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// Plain HTTP to another machine: anyone on the network could replace the keys.
    #[error(
        "is plain HTTP, so that anyone on the network can replace its keys; write https:// (http:// is for this machine only)"
    )]
    PlainHttp,
    /// The URL has a query or a fragment, which RFC 8414 forbids.
    #[error("has a query or a fragment; leave both out")]
    Query,
}

/// Checks the URL of an issuer or of its keys.
///
/// # Errors
/// What is wrong with the URL.
pub fn check_issuer(url: &str) -> Result<(), BadIssuer> {
    let parsed = Url::parse(url);
    let is_plain = parsed.as_ref().is_ok_and(|url| url.scheme() == "http");
    if is_plain && !names_this_machine(url) {
        return Err(BadIssuer::PlainHttp);
    }
    check_url(url)?;
    match parsed.is_ok_and(|url| url.query().is_some() || url.fragment().is_some()) {
        true => Err(BadIssuer::Query),
        false => Ok(()),
    }
}

// === impl IssuerConfig ===

impl IssuerConfig {
    /// Where the discovery documents of OpenID Connect and of RFC 8414 are.
    pub(crate) fn discovery(&self) -> [String; 2] {
        let base = self.issuer.trim_end_matches('/');
        let openid = format!("{base}/.well-known/openid-configuration");
        let oauth = match Url::parse(base) {
            Ok(mut url) => {
                let path = url.path().trim_end_matches('/').to_owned();
                url.set_path(&format!("/.well-known/oauth-authorization-server{path}"));
                url.to_string()
            }
            Err(_) => format!("{base}/.well-known/oauth-authorization-server"),
        };
        [openid, oauth]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issuers_are_encrypted_or_on_this_machine() {
        for right in [
            "https://login.example.com",
            "https://login.example.com/realms/one",
            "https://10.0.0.7/",
            "http://127.0.0.1:8080/realms/one",
            "http://localhost:3000",
            "http://[::1]:3000",
            "HTTP://127.0.0.1:8080",
        ] {
            assert_eq!(check_issuer(right), Ok(()), "{right}");
        }
        for plain in ["http://login.example.com", "http://10.0.0.7", "HTTP://10.0.0.7"] {
            assert_eq!(check_issuer(plain), Err(BadIssuer::PlainHttp), "{plain}");
        }
        assert_eq!(check_issuer("https://a.example?b=c"), Err(BadIssuer::Query));
        for wrong in [
            "",
            "login.example.com",
            "ftp://a.example",
            "https://a:b@c.example",
        ] {
            assert!(
                matches!(check_issuer(wrong), Err(BadIssuer::Address(_))),
                "{wrong}"
            );
        }
    }
}

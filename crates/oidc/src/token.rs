//! The parts of a token's text (RFC 7515, compact form), before anything about it is proven.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::TokenError;

/// In bytes. Headers of a request have less room.
const MAX_TOKEN: usize = 16 * 1024;

/// A token whose signature is not checked yet.
#[derive(Debug)]
pub(crate) struct SignedToken<'a> {
    pub(crate) header: Header,
    pub(crate) claims: Map<String, Value>,
    /// What was signed.
    pub(crate) message: &'a [u8],
    pub(crate) signature: Vec<u8>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) alg: String,
    #[serde(default)]
    pub(crate) kid: Option<String>,
    #[serde(default)]
    pub(crate) typ: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

/// Whether a text has the form of a token, so that it is worth asking an issuer's keys.
pub fn looks_signed(text: &str) -> bool {
    text.len() <= MAX_TOKEN && text.matches('.').count() == 2
}

impl SignedToken<'_> {
    pub(crate) fn read(text: &str) -> Result<SignedToken<'_>, TokenError> {
        let (message, signature) = text.rsplit_once('.').ok_or(TokenError::Malformed)?;
        let (header, claims) = message.split_once('.').ok_or(TokenError::Malformed)?;
        if !looks_signed(text) {
            return Err(TokenError::Malformed);
        }
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| TokenError::Malformed);
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| TokenError::Malformed)?;
        if header.crit.is_some() {
            return Err(TokenError::Critical);
        }
        Ok(SignedToken {
            header,
            claims: serde_json::from_slice(&decode(claims)?).map_err(|_| TokenError::Malformed)?,
            message: message.as_bytes(),
            signature: decode(signature)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(header: &str, claims: &str) -> String {
        let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
        format!("{}.{}.{}", part(header), part(claims), part("signature"))
    }

    #[test]
    fn texts_that_are_no_tokens_are_refused() {
        let right = token(r#"{"alg":"RS256"}"#, r#"{"iss":"a"}"#);
        assert!(SignedToken::read(&right).is_ok());
        let long = format!("{right}{}", "A".repeat(MAX_TOKEN));
        for wrong in [
            "",
            "..",
            "a.b.c",
            "a.b.c.d.e",
            &right[1..],
            &format!("{right}="),
            &format!("{right}."),
            &token("{}", "{}"),
            &token(r#"{"alg":1}"#, "{}"),
            &token(r#"{"alg":"RS256"}"#, "[]"),
            &token(r#"{"alg":"RS256"}"#, "1"),
            &long,
        ] {
            let refused = SignedToken::read(wrong).map(drop);
            assert_eq!(refused, Err(TokenError::Malformed), "{:?}", wrong.get(..60));
        }
        let critical = token(r#"{"alg":"RS256","crit":["exp"]}"#, "{}");
        assert_eq!(SignedToken::read(&critical).map(drop), Err(TokenError::Critical));
    }
}

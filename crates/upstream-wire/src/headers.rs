//! The headers of a definition.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::definition::Http;

/// Only Codeyard sets these.
const RESERVED: [&str; 11] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
    "upgrade",
];
const PROTOCOL: &str = "mcp-";
/// Checks one header of a definition. The error message never shows its value.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    let lower = name.to_ascii_lowercase();
    if HeaderName::from_bytes(lower.as_bytes()).is_err() {
        return Err("is not a header name".to_owned());
    }
    if RESERVED.contains(&lower.as_str()) || lower.starts_with(PROTOCOL) {
        return Err("is set by codeyard itself; leave it out".to_owned());
    }
    if HeaderValue::from_str(value).is_err() {
        return Err("holds a line break or another character that no header may hold".to_owned());
    }
    Ok(())
}

pub(crate) fn definition_headers(http: &Http) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &http.headers {
        // `check_header` has accepted them.
        if let (Ok(name), Ok(mut value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_and_invalid_headers_are_refused() {
        assert_eq!(check_header("Authorization", "Bearer x"), Ok(()));
        assert_eq!(check_header("X-Api-Key", ""), Ok(()));
        for (name, value, expected) in [
            ("Host", "x", "codeyard itself"),
            ("Mcp-Session-Id", "x", "codeyard itself"),
            ("a b", "x", "not a header name"),
            ("", "x", "not a header name"),
            ("X", "s3cret\nY: z", "line break"),
        ] {
            let why = check_header(name, value).expect_err(name);
            assert!(why.contains(expected) && !why.contains("s3cret"), "{why}");
        }
    }
}

//! Tells clients how to get a token: the resource's metadata (RFC 9728), and `WWW-Authenticate` of RFC 6750.

use axum::response::Response;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, StatusCode};

use super::refusal::{NeededScopes, RefusedToken};
use crate::http::api::Api;
use crate::http::forwarded::RequestSource;

/// Begins the paths of all metadata; the resource's own path follows.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Bytes of an error's description.
const MAX_DESCRIPTION: usize = 300;

/// What a refusal of one request tells its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    metadata: String,
    has_token: bool,
}

/// The gateway's address as the client wrote it, and the path behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestedUrl {
    origin: String,
    path: String,
}

// === impl RequestedUrl ===

impl RequestedUrl {
    /// `None` without a host. A proxy that does not say otherwise has encrypted the way to it.
    pub(super) fn of<B>(request: &Request<B>, source: &RequestSource<'_>) -> Option<RequestedUrl> {
        let host = source.host?;
        let scheme = match source.is_encrypted {
            Some(false) => "http",
            Some(true) | None => "https",
        };
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::path);
        Some(RequestedUrl {
            origin: format!("{scheme}://{host}"),
            path: path.to_owned(),
        })
    }

    /// The resource whose metadata is at this URL.
    pub(super) fn described(&self) -> String {
        let path = self.path.strip_prefix(WELL_KNOWN).unwrap_or_default();
        format!("{}{path}", self.origin)
    }

    /// The metadata of the resource at this URL: of a virtual server, else of the gateway.
    fn metadata(&self) -> String {
        let is_surface = |rest: &str| {
            let (id, way) = rest.split_once('/').unwrap_or_default();
            !id.is_empty() && matches!(way, "mcp" | "sse" | "message")
        };
        let own = self
            .path
            .strip_prefix("/servers/")
            .filter(|rest| is_surface(rest));
        match own {
            Some(rest) => {
                let rest = rest
                    .strip_suffix("/message")
                    .map_or_else(|| rest.to_owned(), |id| format!("{id}/sse"));
                format!("{}{WELL_KNOWN}/servers/{rest}", self.origin)
            }
            None => format!("{}{WELL_KNOWN}", self.origin),
        }
    }
}

// === impl Challenge ===

impl Challenge {
    /// `None` if no issuer is set, so that clients have nowhere to go.
    pub(super) fn of<B>(
        api: &dyn Api,
        request: &Request<B>,
        url: Option<&RequestedUrl>,
    ) -> Option<Challenge> {
        let url = url?;
        api.resource_metadata(&url.origin)?;
        Some(Challenge {
            metadata: url.metadata(),
            has_token: request.headers().contains_key(AUTHORIZATION),
        })
    }

    /// Completes a refusal. Other answers pass unchanged.
    pub(super) fn complete(self, response: &mut Response) {
        let mut parts = Vec::new();
        if is_quotable(&self.metadata) {
            parts.push(format!("resource_metadata=\"{}\"", self.metadata));
        }
        match response.status() {
            StatusCode::UNAUTHORIZED => {
                if self.has_token {
                    parts.push("error=\"invalid_token\"".to_owned());
                }
                if let Some(RefusedToken(why)) = response.extensions_mut().remove() {
                    parts.push(format!("error_description=\"{}\"", plain(&why)));
                }
            }
            StatusCode::FORBIDDEN => match response.extensions_mut().remove() {
                Some(NeededScopes(scopes)) => {
                    parts.push("error=\"insufficient_scope\"".to_owned());
                    parts.push(format!("scope=\"{scopes}\""));
                }
                None => return,
            },
            _ => return,
        }
        let written = format!("Bearer {}", parts.join(", "));
        if let Ok(value) = HeaderValue::from_str(written.trim_end()) {
            response.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
}

/// Whether a text between quotes stays between them. The client wrote the address.
fn is_quotable(text: &str) -> bool {
    !text.contains(|c: char| matches!(c, '"' | '\\') || c.is_control())
}

/// The characters that RFC 6750 allows in a description.
fn plain(text: &str) -> String {
    let allowed = text.chars().map(|c| match c {
        '"' | '\\' => '\'',
        ' '..='~' => c,
        _ => '?',
    });
    allowed.take(MAX_DESCRIPTION).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_in_has_its_metadata() {
        let check = |path: &str, expected: &str| {
            let url = RequestedUrl {
                origin: "https://yard.example".to_owned(),
                path: path.to_owned(),
            };
            assert_eq!(
                url.metadata(),
                format!("https://yard.example{WELL_KNOWN}{expected}"),
                "{path}"
            );
        };
        check("/servers/a/mcp", "/servers/a/mcp");
        check("/servers/a/sse", "/servers/a/sse");
        check("/servers/a/message", "/servers/a/sse");
        for other in [
            "/",
            "/servers",
            "/servers/",
            "/servers/a",
            "/servers/a/tools",
            "/servers//mcp",
            "/rpc",
        ] {
            check(other, "");
        }
    }

    #[test]
    fn an_address_that_would_end_its_quotes_is_left_out() {
        let check = |metadata: &str, has_token: bool, expected: &str| {
            let challenge = Challenge {
                metadata: metadata.to_owned(),
                has_token,
            };
            let mut response = Response::default();
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            challenge.complete(&mut response);
            assert_eq!(response.headers()[WWW_AUTHENTICATE], expected, "{metadata}");
        };
        let right = "https://yard.example/a";
        check(right, false, &format!("Bearer resource_metadata=\"{right}\""));
        for wrong in ["https://a\"b", "https://a\\b", "https://a\tb", "https://a\u{7f}b"] {
            check(wrong, false, "Bearer");
            check(wrong, true, "Bearer error=\"invalid_token\"");
        }
    }

    #[test]
    fn descriptions_end_no_header() {
        assert_eq!(plain("a \"b\" \\ \r\n \u{e4}"), "a 'b' ' ?? ?");
        assert_eq!(plain(&"a".repeat(1000)).len(), MAX_DESCRIPTION);
    }
}

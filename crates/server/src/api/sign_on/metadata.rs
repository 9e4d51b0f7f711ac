//! Protected-resource metadata (RFC 9728).

use oidc::Issuers;
use serde::Serialize;

#[derive(Serialize)]
struct ResourceMetadata<'a> {
    resource: &'a str,
    authorization_servers: Vec<&'a str>,
    bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<&'a str>,
    resource_name: &'static str,
}

/// The document of a resource; `None` if no issuer is set.
pub(super) fn of(issuers: &Issuers, resource: &str) -> Option<Vec<u8>> {
    if issuers.is_empty() {
        return None;
    }
    let metadata = ResourceMetadata {
        resource,
        authorization_servers: issuers.urls(),
        bearer_methods_supported: ["header"],
        scopes_supported: issuers.scopes(),
        resource_name: "Codeyard",
    };
    serde_json::to_vec(&metadata).ok()
}

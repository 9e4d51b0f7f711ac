//! The OpenAPI document: every route of this crate, with closed and named schemas.

mod paths;
pub(crate) mod schemas;

#[cfg(test)]
mod tests;

use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, InfoBuilder, OpenApiBuilder};

/// The document of `GET /openapi.json`.
pub fn openapi() -> String {
    let info = InfoBuilder::new()
        .title("Codeyard")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("Virtual servers, their tools and records, and JSON-RPC."));
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token of `codeyard token create`."));
    let mut components = Components::new();
    components.schemas = schemas::all();
    components.add_security_scheme(paths::TOKEN, SecurityScheme::Http(token.build()));
    let document = OpenApiBuilder::new()
        .info(info.build())
        .paths(paths::all())
        .components(Some(components))
        .build();
    // Serialising plain data to memory does not fail.
    document.to_pretty_json().unwrap_or_default()
}

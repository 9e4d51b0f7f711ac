//! The description of the routes, for programs and for people.

use std::sync::LazyLock;

use gateway::ApiReply;
use identity::Route;
use rest::RestError;

/// The page for people.
const PAGE: &str = include_str!("documents/page.html");

/// Answers a route that admits anyone.
pub(super) fn open(route: Route) -> Result<ApiReply, RestError> {
    match route {
        Route::Docs => Ok(ApiReply::html(200, PAGE)),
        other => Err(RestError::NotFound(format!("{other} is not served"))),
    }
}

/// The OpenAPI document. It never changes, and to build it for each request would give a flood of requests the processors.
pub(super) fn openapi() -> Result<ApiReply, RestError> {
    static DOCUMENT: LazyLock<String> = LazyLock::new(rest::openapi);
    Ok(ApiReply::json(200, DOCUMENT.as_str()))
}

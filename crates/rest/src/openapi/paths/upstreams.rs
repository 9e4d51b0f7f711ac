//! The routes of upstream servers.

use utoipa::openapi::HttpMethod;

use super::route::Success::{One, Page};
use super::route::{Route, get};
use crate::page;

pub(super) fn routes() -> [Route; 6] {
    [
        Route {
            query: &page::NAMES,
            refusals: &[422],
            ..get(
                "/upstreams",
                "list_upstreams",
                "Lists the upstream servers that the caller sees, with their health.",
                Page("UpstreamPage"),
            )
        },
        Route {
            method: HttpMethod::Post,
            body: Some("CreateUpstream"),
            answer: (201, One("UpstreamView")),
            refusals: &[400, 404, 409, 422],
            ..get(
                "/upstreams",
                "create_upstream",
                "Defines an upstream server.",
                One("UpstreamView"),
            )
        },
        get(
            "/upstreams/{name}",
            "read_upstream",
            "Reads an upstream server with its health.",
            One("UpstreamView"),
        ),
        Route {
            method: HttpMethod::Put,
            body: Some("UpdateUpstream"),
            refusals: &[400, 404, 409, 422],
            ..get(
                "/upstreams/{name}",
                "update_upstream",
                "Changes an upstream server.",
                One("UpstreamView"),
            )
        },
        Route {
            method: HttpMethod::Delete,
            refusals: &[404, 409],
            ..get(
                "/upstreams/{name}",
                "delete_upstream",
                "Removes an upstream server.",
                One("Deleted"),
            )
        },
        Route {
            method: HttpMethod::Post,
            refusals: &[404, 409],
            ..get(
                "/upstreams/{name}/test",
                "test_upstream",
                "Connects to an upstream server and lists its tools.",
                One("UpstreamTest"),
            )
        },
    ]
}

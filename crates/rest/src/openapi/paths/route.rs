//! One row of the table of routes.

use utoipa::openapi::HttpMethod;

use crate::page::{self, LimitOf};

/// One route and method.
pub(super) struct Route {
    pub(super) method: HttpMethod,
    pub(super) path: &'static str,
    pub(super) operation: &'static str,
    pub(super) summary: &'static str,
    pub(super) query: &'static [&'static str],
    pub(super) limit: LimitOf,
    /// The schema of the body.
    pub(super) body: Option<&'static str>,
    pub(super) answer: (u16, Success),
    /// Refusal statuses in addition to those of every route.
    pub(super) refusals: &'static [u16],
}

#[derive(Clone, Copy)]
pub(super) enum Success {
    One(&'static str),
    List(&'static str),
    /// An object with the entries and the cursor of the next page.
    Page(&'static str),
}

/// A route that reads one object.
pub(super) fn get(
    path: &'static str,
    operation: &'static str,
    summary: &'static str,
    answer: Success,
) -> Route {
    Route {
        method: HttpMethod::Get,
        path,
        operation,
        summary,
        query: &[],
        limit: page::LIMIT,
        body: None,
        answer: (200, answer),
        refusals: &[404],
    }
}

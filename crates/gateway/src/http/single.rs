//! `/mcp` of one surface, for every client with the address and its token.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, delete, get, post};
use http::header::{ALLOW, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::body::BodyReader;
use super::connections::under_way;
use super::endpoint::Endpoint;
use super::era::SESSION;
use super::guard::{self, EntryGuard};

/// State for every request of the address.
#[derive(Debug)]
pub(super) struct SingleSurface {
    guard: EntryGuard,
    pub(super) endpoint: Endpoint,
    bodies: BodyReader,
}

impl SingleSurface {
    pub(super) fn new(guard: EntryGuard, endpoint: Endpoint) -> Arc<SingleSurface> {
        Arc::new(SingleSurface {
            guard,
            endpoint,
            bodies: BodyReader::new(),
        })
    }
}

pub(super) fn router(surface: Arc<SingleSurface>) -> Router {
    Router::new()
        .route(
            "/mcp",
            post(answer)
                .merge(get(listen))
                .merge(delete(end))
                .fallback(no_method),
        )
        .fallback(any(no_page))
        .layer(middleware::from_fn_with_state(Arc::clone(&surface), guarded))
        .with_state(surface)
}

/// Refuses a request by its head, before the body is read.
async fn guarded(State(surface): State<Arc<SingleSurface>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = surface.guard.check(&request) {
        let mut response = (refusal.status(), refusal.to_string()).into_response();
        if refusal.status() == StatusCode::UNAUTHORIZED {
            guard::note_refused_token(surface.guard.client(&request));
            let bearer = HeaderValue::from_static("Bearer realm=\"codeyard\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        return response;
    }
    next.run(request).await
}

async fn no_page() -> Response {
    (StatusCode::NOT_FOUND, "the only page is /mcp").into_response()
}

async fn no_method() -> Response {
    let allowed = [(ALLOW, "POST, GET, DELETE")];
    (
        StatusCode::METHOD_NOT_ALLOWED,
        allowed,
        "/mcp takes POST, GET and DELETE",
    )
        .into_response()
}

async fn answer(State(surface): State<Arc<SingleSurface>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match surface.bodies.read(&head.headers, body).await {
        Ok(bytes) => {
            under_way(
                &head.extensions,
                None,
                surface.endpoint.answer(&head.headers, &bytes),
            )
            .await
        }
        Err(error) => (error.status(), error.to_string()).into_response(),
    }
}

async fn listen(State(surface): State<Arc<SingleSurface>>, request: Request) -> Response {
    let headers = request.headers();
    if !headers.contains_key(SESSION) {
        return no_method().await;
    }
    let listening = async { surface.endpoint.stream(headers) };
    under_way(request.extensions(), None, listening).await
}

async fn end(State(surface): State<Arc<SingleSurface>>, headers: HeaderMap) -> Response {
    surface.endpoint.end(&headers)
}

//! OpenID Connect Back-Channel Logout: reads the token that an issuer posts as a form.

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::StreamExt as _;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use rest::RestError;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::refusal::{self, ApiRefusal};
use super::serving::ApiService;
use crate::http::api::ApiReply;
use crate::http::era;

/// In bytes. Anyone may post here.
const MAX_FORM: usize = 32 * 1024;

/// For the body to arrive, and again for a permit.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// `Retry-After` while no permit is free.
const BUSY: Duration = Duration::from_secs(5);

const SENT_AGAIN: &str = "too many sign-outs arrive at once; send the report again";

const FORM: &str = "application/x-www-form-urlencoded";

impl ApiService {
    /// Few are carried out at a time, because each costs a signature and everyone may send one. A slow body
    /// delays nobody else.
    pub(super) async fn sign_out(&self, headers: &HeaderMap, body: Body) -> Result<Response, ApiRefusal> {
        let form = read_form(headers, body).await?;
        let mut fields = url::form_urlencoded::parse(&form);
        let token = fields.find(|(name, _)| name == "logout_token");
        let (_, token) = token.ok_or_else(|| wrong("the form has no field `logout_token`"))?;
        let permit = permit(&self.sign_outs, TIMEOUT, SENT_AGAIN).await?;
        let ended = self.api.sign_out(&token).await;
        drop(permit);
        ended?;
        Ok(refusal::reply(ApiReply::text(200, "")))
    }
}

/// The bytes of a small form, which arrive in time.
pub(super) async fn read_form(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, RestError> {
    let form = tokio::time::timeout(TIMEOUT, read(headers, body)).await;
    form.unwrap_or_else(|_| Err(wrong("the body took too long to arrive")))
}

async fn read(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, RestError> {
    let kind = era::header(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(FORM) {
        return Err(wrong(&format!("`Content-Type` must be {FORM}")));
    }
    let mut bytes = Vec::new();
    let mut body = body.into_data_stream();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|_| wrong("the body is incomplete"))?;
        if bytes.len() + piece.len() > MAX_FORM {
            return Err(wrong(&format!("the body has more than {MAX_FORM} bytes")));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// Waits for a permit. After the time limit, returns a 503 with the message `busy`.
pub(super) async fn permit<'p>(
    permits: &'p Semaphore,
    wait: Duration,
    busy: &str,
) -> Result<SemaphorePermit<'p>, RestError> {
    match tokio::time::timeout(wait, permits.acquire()).await {
        Ok(Ok(permit)) => Ok(permit),
        // The semaphore is never closed.
        Ok(Err(_)) | Err(_) => Err(RestError::Unavailable {
            message: busy.to_owned(),
            retry_after: BUSY,
        }),
    }
}

fn wrong(why: &str) -> RestError {
    RestError::BadRequest(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_a_free_permit_the_issuer_is_asked_to_try_again() {
        let permits = Semaphore::new(1);
        let wait = Duration::from_millis(10);
        let held = permit(&permits, wait, SENT_AGAIN).await.expect("a free permit");
        let refused = permit(&permits, wait, SENT_AGAIN).await.map(drop);
        let refused = refused.expect_err("no free permit");
        assert_eq!(refused.to_string(), SENT_AGAIN);
        let response = ApiRefusal::from(refused).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "5");
        drop(held);
        assert!(permit(&permits, wait, SENT_AGAIN).await.is_ok());
    }
}

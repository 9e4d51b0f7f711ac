//! Reads the responses of a remote server: content type, body, and the meaning of error statuses.

use std::time::{Duration, SystemTime};

use chrono::DateTime;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::endpoint::Endpoint;
use super::error::RemoteError;
use crate::http_client;
use crate::secrets::Secrets;
use crate::text::one_line;
use crate::transport::MAX_LINE;

/// Characters of a body that a message shows.
const MAX_SHOWN: usize = 200;
/// Bytes read of an error response's body.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Pause after HTTP 429 without `Retry-After`.
const USUAL_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentType {
    Json,
    EventStream,
    Other,
}

pub(super) fn content_type(response: &Response) -> ContentType {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        ContentType::Json
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        ContentType::EventStream
    } else {
        ContentType::Other
    }
}

/// The whole body, up to [`MAX_LINE`] bytes.
pub(super) async fn body(mut response: Response) -> Result<Vec<u8>, RemoteError> {
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    if let Some(announced) = response.content_length().filter(|length| *length > limit) {
        return Err(RemoteError::TooLarge(announced));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| body_error(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_LINE {
            return Err(RemoteError::TooLarge(body.len().try_into().unwrap_or(u64::MAX)));
        }
    }
    Ok(body)
}

/// The connection broke while a body was read.
pub(super) fn body_error(error: &reqwest::Error) -> RemoteError {
    let cause = http_client::describe(error);
    RemoteError::Transient(format!(
        "the connection broke in the middle of the answer: {cause}"
    ))
}

pub(super) fn is_answer_to(message: &[u8], id: i64) -> bool {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Envelope<'_>>(message).is_ok_and(|head| {
        let found = head
            .id
            .and_then(|id| id.get().trim_matches('"').parse::<i64>().ok());
        head.method.is_none() && found == Some(id)
    })
}

/// What a response without a success status means.
pub(super) async fn error_of(endpoint: &Endpoint, response: Response) -> RemoteError {
    let status = response.status();
    // Some servers echo what they receive.
    let secrets = &endpoint.notifications.secrets;
    let headers = without_secrets(response.headers(), secrets);
    let text = secrets.hide(&error_body(response).await);
    let pause = retry_after(&headers);
    if status == StatusCode::TOO_MANY_REQUESTS || (pause.is_some() && is_transient(status)) {
        endpoint.pause.begin(pause.unwrap_or(USUAL_PAUSE));
    }
    match status {
        StatusCode::UNAUTHORIZED => return unauthorized(endpoint, &headers),
        StatusCode::FORBIDDEN => return RemoteError::Rejected(forbidden(endpoint, &headers, &text)),
        StatusCode::NOT_FOUND if endpoint.has_session() => return RemoteError::SessionExpired,
        // Many servers say so only in their message, such as those built from the TypeScript SDK's examples.
        StatusCode::BAD_REQUEST if endpoint.has_session() && denies_session(&text) => {
            return RemoteError::SessionExpired;
        }
        _ => {}
    }
    // Prefer a JSON-RPC error in the body.
    let error = serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|mut message| message.get_mut("error").map(Value::take))
        .filter(|error| error["code"].is_i64() && error["message"].is_string());
    if let Some(error) = error {
        return RemoteError::JsonRpc(error);
    }
    let mut cause = format!("it answered HTTP {status}");
    if let Some(pause) = pause {
        cause.push_str(&format!(" and asks to wait {} s", pause.as_secs()));
    }
    cause.push_str(&excerpt(&text));
    if is_transient(status) {
        pause.map_or_else(
            || RemoteError::Transient(cause.clone()),
            |pause| RemoteError::RetryAfter(cause.clone(), pause),
        )
    } else if status.is_client_error() {
        RemoteError::WrongTransport(cause)
    } else {
        RemoteError::InvalidResponse(cause)
    }
}

pub(super) fn is_transient(status: StatusCode) -> bool {
    let is_early = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
    );
    is_early || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// `Retry-After` holds seconds or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date: SystemTime = DateTime::parse_from_rfc2822(text).ok()?.into();
    let pause = date.duration_since(SystemTime::now()).unwrap_or_default();
    Some(Duration::from_secs(pause.as_secs() + 1))
}

/// Whether an error message says that the session does not exist.
fn denies_session(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let denials = [
        "no valid",
        "invalid",
        "not found",
        "unknown",
        "expired",
        "no such",
        "missing",
    ];
    text.contains("session") && denials.iter().any(|denial| text.contains(denial))
}

fn unauthorized(endpoint: &Endpoint, headers: &HeaderMap) -> RemoteError {
    let why =
        challenge_parameter(headers, "error_description").or_else(|| challenge_parameter(headers, "error"));
    let why = why
        .map(|why| format!(": {}", one_line(&why, MAX_SHOWN)))
        .unwrap_or_default();
    if endpoint.credentials.are_of_user() {
        return RemoteError::LoginRequired(format!("it does not accept its user's login (HTTP 401{why})"));
    }
    let login = endpoint.login_command(None);
    if endpoint.credentials.has_login() {
        let cause = format!("it does not accept the login (HTTP 401{why}); log in again with `{login}`");
        return RemoteError::LoginRequired(cause);
    }
    if endpoint.credentials.is_empty() {
        let cause = format!(
            "it asks for credentials (HTTP 401); log in with `{login}`, or give a token in `bearerTokenFile` or in `headers`"
        );
        return RemoteError::LoginRequired(cause);
    }
    let cause = format!("it does not accept the credentials of the definition (HTTP 401{why})");
    RemoteError::Rejected(cause)
}

fn forbidden(endpoint: &Endpoint, headers: &HeaderMap, text: &str) -> String {
    match challenge_parameter(headers, "scope").map(|scope| one_line(&scope, MAX_SHOWN)) {
        Some(scope) if endpoint.credentials.are_of_user() => {
            format!("its user's login does not allow this (HTTP 403); it needs the scope '{scope}'")
        }
        Some(scope) if endpoint.credentials.has_login() => format!(
            "the login does not allow this (HTTP 403): it needs the scope '{scope}'; `{}` asks for it",
            endpoint.login_command(Some(&scope))
        ),
        Some(scope) => {
            format!("the credentials do not allow this (HTTP 403); it needs the scope '{scope}'")
        }
        None => format!("it forbids this (HTTP 403){}", excerpt(text)),
    }
}

fn challenge_parameter(headers: &HeaderMap, name: &str) -> Option<String> {
    let challenge = headers.get(WWW_AUTHENTICATE)?.to_str().ok()?;
    let start = challenge.find(&format!("{name}=\""))? + name.len() + 2;
    let rest = &challenge[start..];
    Some(rest[..rest.find('"')?].to_owned())
}

fn without_secrets(headers: &HeaderMap, secrets: &Secrets) -> HeaderMap {
    let hide = |value: &HeaderValue| HeaderValue::from_str(&secrets.hide(value.to_str().ok()?)).ok();
    let headers = headers
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), hide(value)?)));
    headers.collect()
}

async fn error_body(mut response: Response) -> String {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR_BODY {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

/// The first characters, as a suffix for a message; empty for an HTML page.
fn excerpt(text: &str) -> String {
    let text = one_line(text, MAX_SHOWN);
    if text.is_empty() || text.starts_with('<') {
        return String::new();
    }
    format!(": {text}")
}

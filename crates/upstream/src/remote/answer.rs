//! What a remote server answered instead of what was asked for: its status and its body in words.

use std::time::{Duration, SystemTime};

use chrono::DateTime;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client;
use super::endpoint::Endpoint;
use super::trouble::Trouble;
use crate::secrets::Secrets;
use crate::transport::MAX_LINE;

/// Characters of a body that a message shows.
const SHOWN: usize = 200;
/// Bytes of a body that is no answer.
const MAX_REFUSAL: usize = 64 * 1024;

/// How an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Events,
    Other,
}

/// How the answer comes.
pub(super) fn form(response: &Response) -> Form {
    let kind = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Form::Json
    } else if essence.eq_ignore_ascii_case("text/event-stream") {
        Form::Events
    } else {
        Form::Other
    }
}

/// The whole body, if it is no longer than a line may be.
pub(super) async fn body(mut response: Response) -> Result<Vec<u8>, Trouble> {
    let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    if let Some(announced) = response.content_length().filter(|length| *length > limit) {
        return Err(Trouble::TooLong(announced));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_LINE {
            return Err(Trouble::TooLong(body.len().try_into().unwrap_or(u64::MAX)));
        }
    }
    Ok(body)
}

/// The connection broke while an answer came.
pub(super) fn broken(error: &reqwest::Error) -> Trouble {
    let cause = client::describe(error);
    Trouble::Transient(format!(
        "the connection broke in the middle of the answer: {cause}"
    ))
}

/// Whether the text is the answer to this request.
pub(super) fn answers(message: &[u8], id: i64) -> bool {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Head<'_>>(message).is_ok_and(|head| {
        let found = head
            .id
            .and_then(|id| id.get().trim_matches('"').parse::<i64>().ok());
        head.method.is_none() && found == Some(id)
    })
}

/// What an answer with another status than success means.
pub(super) async fn refusal(endpoint: &Endpoint, response: Response) -> Trouble {
    let status = response.status();
    // Some servers say back what they were sent.
    let secrets = &endpoint.traffic.secrets;
    let headers = hidden(response.headers(), secrets);
    let text = secrets.hide(&beginning(response).await);
    match status {
        StatusCode::UNAUTHORIZED => return unauthorized(endpoint, &headers),
        StatusCode::FORBIDDEN => return Trouble::Barred(forbidden(endpoint, &headers, &text)),
        StatusCode::NOT_FOUND if endpoint.has_session() => return Trouble::Forgotten,
        // Many say it in words only, among them all that follow the examples of the protocol's TypeScript library.
        StatusCode::BAD_REQUEST if endpoint.has_session() && is_about_the_session(&text) => {
            return Trouble::Forgotten;
        }
        _ => {}
    }
    // In words of the protocol, if it has any.
    let error = serde_json::from_str::<Value>(&text)
        .ok()
        .and_then(|mut message| message.get_mut("error").map(Value::take))
        .filter(|error| error["code"].is_i64() && error["message"].is_string());
    if let Some(error) = error {
        return Trouble::Refused(error);
    }
    let mut cause = format!("it answered HTTP {status}");
    let pause = pause(&headers);
    if let Some(pause) = pause {
        cause.push_str(&format!(" and asks to wait {} s", pause.as_secs()));
    }
    cause.push_str(&excerpt(&text));
    if is_transient(status) {
        pause.map_or_else(
            || Trouble::Transient(cause.clone()),
            |pause| Trouble::Later(cause.clone(), pause),
        )
    } else if status.is_client_error() {
        Trouble::NotHere(cause)
    } else {
        Trouble::Nonsense(cause)
    }
}

/// Whether the same request may be answered otherwise later.
pub(super) fn is_transient(status: StatusCode) -> bool {
    let is_early = matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT
    );
    is_early || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// The pause that the server asks for, in seconds or up to a date.
fn pause(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date: SystemTime = DateTime::parse_from_rfc2822(text).ok()?.into();
    let pause = date.duration_since(SystemTime::now()).unwrap_or_default();
    Some(Duration::from_secs(pause.as_secs() + 1))
}

/// Whether a refusal says that there is no such session, and not what is wrong with the request.
fn is_about_the_session(text: &str) -> bool {
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

fn unauthorized(endpoint: &Endpoint, headers: &HeaderMap) -> Trouble {
    let why = parameter(headers, "error_description").or_else(|| parameter(headers, "error"));
    let why = why.map(|why| format!(": {}", clean(&why))).unwrap_or_default();
    let login = endpoint.login_command(None);
    if endpoint.credentials.has_login() {
        let cause = format!("it does not accept the login (HTTP 401{why}); log in again with `{login}`");
        return Trouble::Login(cause);
    }
    if endpoint.credentials.is_empty() {
        let cause = format!(
            "it asks for credentials (HTTP 401); log in with `{login}`, or give a token in `bearerTokenFile` or in `headers`"
        );
        return Trouble::Login(cause);
    }
    let cause = format!("it does not accept the credentials of the definition (HTTP 401{why})");
    Trouble::Barred(cause)
}

fn forbidden(endpoint: &Endpoint, headers: &HeaderMap, text: &str) -> String {
    match parameter(headers, "scope").map(|scope| clean(&scope)) {
        Some(scope) if endpoint.credentials.has_login() => format!(
            "the login does not allow this (HTTP 403): it takes the scope '{scope}'; `{}` asks for it",
            endpoint.login_command(Some(&scope))
        ),
        Some(scope) => {
            format!("the credentials do not allow this (HTTP 403); it takes the scope '{scope}'")
        }
        None => format!("it forbids this (HTTP 403){}", excerpt(text)),
    }
}

/// A parameter of the server's challenge.
fn parameter(headers: &HeaderMap, name: &str) -> Option<String> {
    let challenge = headers.get(WWW_AUTHENTICATE)?.to_str().ok()?;
    let start = challenge.find(&format!("{name}=\""))? + name.len() + 2;
    let rest = &challenge[start..];
    Some(rest[..rest.find('"')?].to_owned())
}

/// The headers without what is secret.
fn hidden(headers: &HeaderMap, secrets: &Secrets) -> HeaderMap {
    let hide = |value: &HeaderValue| HeaderValue::from_str(&secrets.hide(value.to_str().ok()?)).ok();
    let headers = headers
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), hide(value)?)));
    headers.collect()
}

async fn beginning(mut response: Response) -> String {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_REFUSAL {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

/// The first words of a text, ready to be appended; nothing of a page for browsers.
fn excerpt(text: &str) -> String {
    let text = clean(text);
    if text.is_empty() || text.starts_with('<') {
        return String::new();
    }
    format!(": {text}")
}

fn clean(text: &str) -> String {
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .chars()
        .filter(|character| !character.is_control())
        .take(SHOWN)
        .collect()
}

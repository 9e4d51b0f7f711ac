//! OTLP: entries as logs of OpenTelemetry, in protobuf over HTTP.

mod message;
mod protobuf;
mod response;

use std::path::Path;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode};

use crate::Sender;
use crate::config::OtlpTarget;
use crate::error::SendError;
use crate::fields::SinkEntry;

const PROTOBUF: &str = "application/x-protobuf";

/// Maximum bytes of an answer.
const MAX_ANSWER: usize = 64 * 1024;

/// Longest accepted `Retry-After`.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// One collector, with an HTTP client from the first request on.
#[derive(Debug)]
pub(crate) struct Collector {
    target: OtlpTarget,
    sender: Sender,
    client: Option<Client>,
}

// === impl Collector ===

impl Collector {
    pub(crate) fn new(target: OtlpTarget, sender: Sender) -> Collector {
        Collector {
            target,
            sender,
            client: None,
        }
    }

    /// Posts all entries. Returns the number of entries that the collector refused.
    pub(crate) async fn send(&mut self, entries: &[SinkEntry]) -> Result<u64, SendError> {
        let headers = match &self.target.headers_file {
            // Read the file each time, so that a new token needs no restart.
            Some(file) => headers(file).await?,
            None => HeaderMap::new(),
        };
        let client = match &self.client {
            Some(client) => client.clone(),
            None => upstream_wire::gateway_client()
                .await
                .map_err(SendError::unavailable)?,
        };
        self.client = Some(client.clone());
        let request = client
            .post(self.target.url.clone())
            .headers(headers)
            .header(CONTENT_TYPE, PROTOBUF)
            .body(message::request(entries, &self.sender));
        let answered = request.send().await;
        let response =
            answered.map_err(|error| SendError::unavailable(upstream_wire::describe_http_error(&error)))?;
        let (status, retry_after) = (response.status(), retry_after(&response));
        let body = body(response).await;
        if status.is_success() {
            return Ok(response::rejected(&body.unwrap_or_default()));
        }
        Err(match is_refusal(status) {
            true => SendError::Refused(format!("the collector answers {status}")),
            false => SendError::Unavailable {
                why: format!("the collector answers {status}{}", remedy(status)),
                retry_after,
            },
        })
    }
}

/// Whether the records caused the refusal, not the address, the credentials or the collector's state.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 413 | 422)
}

fn remedy(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => "; check the token in `headers_file`",
        300..=399 | 404 | 405 | 415 => {
            "; check the path of `otlp`, which is /v1/logs for most and takes protobuf"
        }
        _ => "",
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// `None` if the answer is incomplete or too long.
async fn body(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        if body.len() + bytes.len() > MAX_ANSWER {
            return None;
        }
        body.extend_from_slice(&bytes);
    }
    Some(body)
}

/// Reads lines such as `Authorization: Bearer TOKEN`. Errors hide values.
async fn headers(file: &Path) -> Result<HeaderMap, SendError> {
    let wrong = |why: String| SendError::unavailable(format!("`headers_file` {}: {why}", file.display()));
    let text = upstream_wire::read_secret_file(file.to_owned())
        .await
        .map_err(wrong)?;
    let mut headers = HeaderMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let header = line.split_once(':').and_then(|(name, value)| {
            let mut value = HeaderValue::from_str(value.trim()).ok()?;
            value.set_sensitive(true);
            Some((name.trim().parse::<HeaderName>().ok()?, value))
        });
        let (name, value) =
            header.ok_or_else(|| wrong(format!("line {number} is not a header; write `NAME: VALUE`")))?;
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_permanent_errors_are_refusals() {
        for (status, refusal) in [
            (400, true),
            (413, true),
            (422, true),
            (401, false),
            (404, false),
            (429, false),
            (503, false),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(is_refusal(status), refusal, "{status}");
        }
    }
}

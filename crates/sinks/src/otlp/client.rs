//! Posts protobuf to one address of a collector.

use std::path::Path;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, StatusCode};

use super::response;
use crate::config::OtlpTarget;
use crate::error::SendError;
use crate::http_answer;

const PROTOBUF: &str = "application/x-protobuf";

/// One address, with the HTTP client once it was needed.
#[derive(Debug)]
pub(super) struct OtlpClient {
    target: OtlpTarget,
    client: Option<Client>,
}

// === impl OtlpClient ===

impl OtlpClient {
    pub(super) fn new(target: OtlpTarget) -> OtlpClient {
        OtlpClient { target, client: None }
    }

    /// Posts a request. Returns how many of its entries the collector refused.
    pub(super) async fn post(&mut self, body: Vec<u8>) -> Result<u64, SendError> {
        let headers = match &self.target.headers_file {
            // Read each time, so that a new token counts without a restart.
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
            .body(body);
        let answered = request.send().await;
        let response =
            answered.map_err(|error| SendError::unavailable(upstream_wire::describe_http_error(&error)))?;
        let (status, retry_after) = (response.status(), http_answer::retry_after(&response));
        let body = http_answer::body(response).await;
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

/// Whether the records themselves are at fault, not the address, the credentials or the collector's state.
fn is_refusal(status: StatusCode) -> bool {
    matches!(status.as_u16(), 400 | 413 | 422)
}

fn remedy(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => "; check the token in `headers_file`",
        300..=399 | 404 | 405 | 415 => {
            "; check the path of `otlp`, which is /v1/logs or /v1/traces for most and takes protobuf"
        }
        _ => "",
    }
}

/// Reads lines such as `Authorization: Bearer TOKEN`. Errors show no value.
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
    fn only_what_no_retry_helps_is_refused() {
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

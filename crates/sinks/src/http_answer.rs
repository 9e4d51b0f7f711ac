//! What collectors answer over HTTP, bounded.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::RETRY_AFTER;

/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// Longest wait that a collector may ask for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

pub(crate) fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

/// `None` if the answer breaks off or is too long.
pub(crate) async fn body(mut response: Response) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        if body.len() + bytes.len() > MAX_ANSWER {
            return None;
        }
        body.extend_from_slice(&bytes);
    }
    Some(body)
}

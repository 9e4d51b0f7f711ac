//! The events of one response, and the position from which a stream resumes.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;

use super::error::RemoteError;
use super::response::body_error;
use super::sse::{SseEvent, SseParser};
use crate::transport::MAX_LINE;

/// Pause before a stream is reopened. Each further pause doubles, up to `LAST_PAUSE`.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
pub(super) const LAST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct EventStream {
    response: Response,
    parser: SseParser,
    ready: VecDeque<SseEvent>,
}

impl EventStream {
    pub(super) fn new(response: Response) -> EventStream {
        EventStream {
            response,
            parser: SseParser::new(MAX_LINE),
            ready: VecDeque::new(),
        }
    }

    /// The next event; `None` at the end of the stream. Safe to cancel. While an event exceeds the limit,
    /// each call returns [`RemoteError::TooLarge`]; later calls reach the events after it.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, RemoteError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.response.chunk().await.map_err(|error| body_error(&error))? else {
                return Ok(None);
            };
            self.ready.extend(self.parser.push(&chunk));
            if let Some(bytes) = self.parser.skipped().filter(|_| self.ready.is_empty()) {
                return Err(RemoteError::TooLarge(bytes));
            }
        }
    }
}

/// The last event of a stream, across all responses that carried it.
#[derive(Debug, Default)]
pub(super) struct StreamPosition {
    pub(super) last_id: Option<String>,
    retry: Option<Duration>,
}

impl StreamPosition {
    /// Takes the position of this response; returns whether it brought a new event.
    pub(super) fn advance(&mut self, events: &EventStream) -> bool {
        self.retry = events.parser.retry().or(self.retry);
        match events.parser.last_id() {
            Some(id) if self.last_id.as_deref() != Some(id) => {
                self.last_id = Some(id.to_owned());
                true
            }
            _ => false,
        }
    }

    /// The server's pause, up to `LAST_PAUSE`; otherwise the default.
    pub(super) fn pause(&self, default: Duration) -> Duration {
        self.retry.unwrap_or(default).min(LAST_PAUSE)
    }
}

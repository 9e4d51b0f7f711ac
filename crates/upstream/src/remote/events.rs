//! The events of one response, and where a stream of them was left.

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::Response;

use super::answer::broken;
use super::listen::LAST_PAUSE;
use super::sse::{Event, Parser};
use super::trouble::Trouble;
use crate::transport::MAX_LINE;

/// The events of one response.
#[derive(Debug)]
pub(super) struct Events {
    response: Response,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Events {
    pub(super) fn new(response: Response) -> Events {
        Events {
            response,
            parser: Parser::new(MAX_LINE),
            ready: VecDeque::new(),
        }
    }

    /// The next event; `None` at the end of the stream. Safe to cancel. It says so while an event comes that is too long;
    /// who goes on then gets to its end, and what follows.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Trouble> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.response.chunk().await.map_err(|error| broken(&error))? else {
                return Ok(None);
            };
            self.ready.extend(self.parser.push(&chunk));
            if let Some(bytes) = self.parser.skipped().filter(|_| self.ready.is_empty()) {
                return Err(Trouble::TooLong(bytes));
            }
        }
    }
}

/// Where a stream was left, over all responses that carried it.
#[derive(Debug, Default)]
pub(super) struct Position {
    pub(super) last_id: Option<String>,
    retry: Option<Duration>,
}

impl Position {
    /// Takes over what this response brought; tells whether that was anything new.
    pub(super) fn advance(&mut self, events: &Events) -> bool {
        self.retry = events.parser.retry().or(self.retry);
        match events.parser.last_id() {
            Some(id) if self.last_id.as_deref() != Some(id) => {
                self.last_id = Some(id.to_owned());
                true
            }
            _ => false,
        }
    }

    /// The pause before the stream is taken up again: the server's own, within reason.
    pub(super) fn pause(&self, otherwise: Duration) -> Duration {
        self.retry.unwrap_or(otherwise).min(LAST_PAUSE)
    }
}

//! One request to a server from its callers' side, top to bottom: a place, the breaker, the server itself, and a second try.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::ClientRequest;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep, timeout_at};

use crate::breaker::{Admission, Refusal};
use crate::connection::{Connection, Patience, RequestError};
use crate::error::UpstreamError;
use crate::server::Server;

/// A silence that is held against a server; who waits for less time says little about it.
const SILENCE: Duration = Duration::from_secs(10);

/// What a request says of the server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It may stay.
    Fine,
    /// It has kept silent again and again: if nobody else waits for it, it is to be started anew.
    Deaf,
}

/// What is asked of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// For messages.
    pub(crate) name: &'a str,
    /// When the caller stops waiting.
    pub(crate) deadline: Instant,
    /// Whether it may be asked again after a failure on the way.
    pub(crate) may_repeat: bool,
}

impl Server {
    /// Sends a request to the server, started if it does not run, and reads the text of its result.
    pub(crate) async fn ask<T>(
        &self,
        asked: Asked<'_>,
        mut request: impl FnMut(&Connection) -> Result<ClientRequest, UpstreamError>,
        read: impl Fn(&Connection, String) -> Result<T, UpstreamError>,
    ) -> Result<T, UpstreamError> {
        let _under_way = self.calls.token();
        let busy = self.link.activity.begin();
        let start = Instant::now();
        let outcome: Result<_, UpstreamError> = async {
            let _place = self.place(asked, start).await?;
            let admission = self.admit()?;
            let answer = match self.answer(asked, &mut request).await {
                // Nothing is known of it then; starts have pauses of their own.
                Err(RequestError::Unasked(error)) => return Err(error),
                answer => answer.map_err(UpstreamError::from),
            };
            let outcome = answer.and_then(|(connection, raw)| {
                let read = read(&connection, raw)?;
                connection.has_served.store(true, Ordering::Relaxed);
                Ok(read)
            });
            Ok((self.judge(admission, &outcome), outcome))
        }
        .await;
        let (verdict, outcome) = outcome.unwrap_or_else(|error| (Verdict::Fine, Err(error)));
        drop(busy);
        if verdict == Verdict::Deaf {
            self.renew();
        }
        outcome
    }

    /// Waits for a place among the calls that the server may have at once.
    async fn place(&self, asked: Asked<'_>, start: Instant) -> Result<SemaphorePermit<'_>, UpstreamError> {
        match timeout_at(asked.deadline, self.link.places.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            // It is never closed: only the time can be over.
            Ok(Err(_)) | Err(_) => Err(UpstreamError::Busy {
                server: self.link.config.name.clone(),
                request: asked.name.to_owned(),
                limit: self.link.max_calls(),
                after: start.elapsed(),
            }),
        }
    }

    fn admit(&self) -> Result<Admission, UpstreamError> {
        self.link.breaker.admit().map_err(
            |Refusal {
                 failures,
                 cause,
                 retry_in,
             }| UpstreamError::Suspended {
                server: self.link.config.name.clone(),
                failures,
                cause,
                retry_in,
            },
        )
    }

    async fn answer(
        &self,
        asked: Asked<'_>,
        request: &mut impl FnMut(&Connection) -> Result<ClientRequest, UpstreamError>,
    ) -> Result<(Arc<Connection>, String), RequestError> {
        match self.once(asked, request).await {
            // It ended unnoticed since its last call; the next life of it is asked instead.
            Err(RequestError::Undelivered(_)) => {}
            Err(RequestError::Failed(error)) if asked.may_repeat => match pause(&error) {
                Some(pause) if Instant::now() + pause < asked.deadline => sleep(pause).await,
                _ => return Err(RequestError::Failed(error)),
            },
            answer => return answer,
        }
        self.once(asked, request).await
    }

    async fn once(
        &self,
        asked: Asked<'_>,
        request: &mut impl FnMut(&Connection) -> Result<ClientRequest, UpstreamError>,
    ) -> Result<(Arc<Connection>, String), RequestError> {
        let patience = Patience {
            idle: self.link.timeout(),
            deadline: asked.deadline,
        };
        let started_by = self.started_by().min(asked.deadline);
        let connection = self.connection(started_by).await.map_err(RequestError::Unasked)?;
        let request = request(&connection).map_err(RequestError::Unasked)?;
        let raw = connection.request(request, asked.name, patience).await?;
        Ok((connection, raw))
    }

    /// Tells the breaker how the request ended.
    fn judge<T>(&self, admission: Admission, outcome: &Result<T, UpstreamError>) -> Verdict {
        match outcome {
            Ok(_)
            | Err(
                UpstreamError::Refused { .. }
                | UpstreamError::TooLarge { .. }
                | UpstreamError::InputRequired { .. },
            ) => admission.answered(),
            Err(error) if self.is_to_blame(error) && admission.failed(error.clone()) => {
                tracing::warn!(server = %self.link.config.name, "left alone for a while: {error}");
                if matches!(error, UpstreamError::Timeout { .. }) {
                    return Verdict::Deaf;
                }
            }
            Err(_) => {}
        }
        Verdict::Fine
    }

    fn is_to_blame(&self, error: &UpstreamError) -> bool {
        match error {
            UpstreamError::BadAnswer { .. } => true,
            UpstreamError::Timeout { after, .. } => *after >= SILENCE.min(self.link.timeout()),
            // One that asks for a pause is well, and busy.
            error => pause(error) == Some(Duration::ZERO),
        }
    }
}

/// After which pause it may be asked again, if it may have been asked and was not heard of.
fn pause(error: &UpstreamError) -> Option<Duration> {
    match error {
        UpstreamError::Gone { .. } => Some(Duration::ZERO),
        UpstreamError::Unanswered { again_in, .. } => *again_in,
        _ => None,
    }
}

//! Sends one request to a server: waits for a permit, checks the circuit breaker, starts the server, and retries once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::ClientRequest;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep, timeout_at};

use crate::breaker::{Admission, Rejection};
use crate::bucket::Refusal;
use crate::connection::{Connection, RequestError, TimeLimits};
use crate::error::UpstreamError;
use crate::server::ManagedServer;

/// A timeout counts as a failure of the server only if the call had at least this long; a shorter timeout proves
/// little.
const MIN_TIMEOUT_FAILURE: Duration = Duration::from_secs(10);

/// What a request's outcome means for the server's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    /// Several requests got no answer. Replace the process, unless other callers wait for it.
    Restart,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestOptions<'a> {
    /// Name of the request in messages.
    pub(crate) name: &'a str,
    pub(crate) deadline: Instant,
    /// Whether to repeat the request after a failure of the connection.
    pub(crate) may_repeat: bool,
}

impl ManagedServer {
    /// Sends a request and reads the result's text. Starts the server if it is not running.
    pub(crate) async fn ask<T>(
        &self,
        options: RequestOptions<'_>,
        mut request: impl FnMut(&Connection) -> Result<ClientRequest, UpstreamError>,
        read: impl Fn(&Connection, String) -> Result<T, UpstreamError>,
    ) -> Result<T, UpstreamError> {
        let _under_way = self.calls.token();
        let busy = self.shared.activity.begin();
        let start = Instant::now();
        let outcome: Result<_, UpstreamError> = async {
            let _permit = self.acquire_call_permit(options, start).await?;
            let admission = self.admit()?;
            let answer = match self.send_with_retry(options, &mut request).await {
                // An unsent request says nothing about the server. Failed starts have their own backoff.
                Err(RequestError::NotSent(error)) => return Err(error),
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
        let (verdict, outcome) = outcome.unwrap_or_else(|error| (Verdict::Keep, Err(error)));
        drop(busy);
        if verdict == Verdict::Restart {
            self.request_restart();
        }
        outcome
    }

    /// Waits until the server has fewer concurrent calls than its limit.
    async fn acquire_call_permit(
        &self,
        options: RequestOptions<'_>,
        start: Instant,
    ) -> Result<SemaphorePermit<'_>, UpstreamError> {
        match timeout_at(options.deadline, self.shared.call_permits.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            // The semaphore is never closed, so this branch means that the deadline has passed.
            Ok(Err(_)) | Err(_) => Err(UpstreamError::Busy {
                server: self.shared.config.name.clone(),
                request: options.name.to_owned(),
                limit: self.shared.max_calls(),
                after: start.elapsed(),
            }),
        }
    }

    /// Waits until the server's credential has room for one more request.
    async fn take_from_bucket(&self, options: RequestOptions<'_>) -> Result<(), UpstreamError> {
        let shared = &self.shared;
        let (server, request) = (shared.config.name.clone(), options.name.to_owned());
        match shared.bucket.take(options.deadline).await {
            Ok(()) => Ok(()),
            Err(Refusal::Limit { limit, retry_in }) => Err(UpstreamError::RateLimited {
                server,
                request,
                limit,
                retry_in,
            }),
            Err(Refusal::Pause { retry_in }) => Err(UpstreamError::Paused {
                server,
                request,
                retry_in,
            }),
            Err(Refusal::NotCounted) => Err(UpstreamError::NotCounted { server, request }),
        }
    }

    fn admit(&self) -> Result<Admission, UpstreamError> {
        self.shared.breaker.admit().map_err(
            |Rejection {
                 failures,
                 cause,
                 retry_in,
             }| UpstreamError::Suspended {
                server: self.shared.config.name.clone(),
                failures,
                cause,
                retry_in,
            },
        )
    }

    async fn send_with_retry(
        &self,
        options: RequestOptions<'_>,
        request: &mut impl FnMut(&Connection) -> Result<ClientRequest, UpstreamError>,
    ) -> Result<(Arc<Connection>, String), RequestError> {
        match self.send(options, request).await {
            // The server had ended before the request: send the request to its next process.
            Err(RequestError::Undelivered(_)) => {}
            Err(RequestError::Failed(error)) if options.may_repeat => match retry_pause(&error) {
                Some(pause) if Instant::now() + pause < options.deadline => sleep(pause).await,
                _ => return Err(RequestError::Failed(error)),
            },
            answer => return answer,
        }
        self.send(options, request).await
    }

    async fn send(
        &self,
        options: RequestOptions<'_>,
        request: &mut impl FnMut(&Connection) -> Result<ClientRequest, UpstreamError>,
    ) -> Result<(Arc<Connection>, String), RequestError> {
        let limits = TimeLimits {
            idle: self.shared.timeout(),
            deadline: options.deadline,
        };
        let start_deadline = self.call_start_deadline().min(options.deadline);
        let connection = self
            .connection(start_deadline)
            .await
            .map_err(RequestError::NotSent)?;
        self.take_from_bucket(options)
            .await
            .map_err(RequestError::NotSent)?;
        let request = request(&connection).map_err(RequestError::NotSent)?;
        let raw = connection.request(request, options.name, limits).await?;
        Ok((connection, raw))
    }

    fn judge<T>(&self, admission: Admission, outcome: &Result<T, UpstreamError>) -> Verdict {
        match outcome {
            Ok(_)
            | Err(
                UpstreamError::Refused { .. }
                | UpstreamError::TooLarge { .. }
                | UpstreamError::InputRequired { .. },
            ) => admission.succeeded(),
            Err(error) if self.is_server_failure(error) && admission.failed(error.clone()) => {
                tracing::warn!(server = %self.shared.config.name, "suspended: {error}");
                if matches!(error, UpstreamError::Timeout { .. }) {
                    return Verdict::Restart;
                }
            }
            Err(_) => {}
        }
        Verdict::Keep
    }

    fn is_server_failure(&self, error: &UpstreamError) -> bool {
        match error {
            UpstreamError::BadAnswer { .. } => true,
            UpstreamError::Timeout { after, .. } => *after >= MIN_TIMEOUT_FAILURE.min(self.shared.timeout()),
            // A server that requests a pause is busy, not broken.
            error => retry_pause(error) == Some(Duration::ZERO),
        }
    }
}

/// Pause before an unanswered request may be repeated; `None` if repeating cannot help.
fn retry_pause(error: &UpstreamError) -> Option<Duration> {
    match error {
        UpstreamError::Gone { .. } => Some(Duration::ZERO),
        UpstreamError::Unanswered { again_in, .. } => *again_in,
        _ => None,
    }
}

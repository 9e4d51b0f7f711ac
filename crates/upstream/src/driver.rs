//! The task that owns one server: starts the server, refreshes its tool list, notices its end, and stops it.
//!
//! ```text
//!          Start                handshake
//!   Idle ─────────► Starting ─────────────► Running
//!    Failed ──────►    │                       │
//!    ▲ ▲  after        │ failed                │ exited
//!    │ │  retry_at     ▼                       ▼
//!    │ └──────────── Failed ◄──────────────────┤          Stop, from anywhere ──► Closed
//!    └─────────────────────────────────────────┘
//!         idle for too long, or unresponsive
//! ```

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenRequestParams,
};
use rmcp::service::PeerRequestOptions;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use upstream_wire::{ClientSlot, ConnectedServer, Era, ServerHello};

use crate::connection::Connection;
use crate::error::UpstreamError;
use crate::listing;
use crate::shared::{Phase, ServerShared};
use crate::start::start;

/// The first pause after a failure. Each further pause doubles, up to `LAST_PAUSE`.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LAST_PAUSE: Duration = Duration::from_secs(30);
/// Shortest time between two list requests to a server, so that a constantly changing list does not cause endless
/// work.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);
/// Lists up to this size use the shortest interval; larger lists lengthen the interval in proportion.
const BYTES_PER_LIST_INTERVAL: usize = 1024 * 1024;
/// Shortest validity of a list, even if the server states a shorter one.
const MIN_VALIDITY: Duration = Duration::from_secs(5);
/// Longest wait for an ended server's last answers and standard error.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

pub(crate) struct Driver {
    shared: Arc<ServerShared>,
    commands: mpsc::Receiver<Command>,
    /// Consecutive failures since the last answered call.
    failures: u32,
    awaits_login: bool,
}

#[derive(Debug)]
pub(crate) enum Command {
    Start,
    /// Stop the server, unless work is pending. The next call starts it again.
    Restart,
    /// Stop the server for good, and reply after the server has ended.
    Stop(oneshot::Sender<()>),
}

enum End {
    /// The server ended by itself, with this description.
    Exited(String),
    Idle,
    /// A command to stop the server. The sender of the command, if any, waits for the reply.
    StopRequested(Option<oneshot::Sender<()>>),
}

impl Driver {
    pub(crate) fn new(shared: Arc<ServerShared>, commands: mpsc::Receiver<Command>) -> Driver {
        Driver {
            shared,
            commands,
            failures: 0,
            awaits_login: false,
        }
    }

    pub(crate) async fn run(mut self) {
        let stop_reply = loop {
            match self.commands.recv().await {
                Some(Command::Start) if self.shared.is_backing_off() => continue,
                Some(Command::Start) => {}
                Some(Command::Restart) => continue,
                Some(Command::Stop(done)) => break Some(done),
                None => break None,
            }
            let starting = async {
                self.shared.set_phase(Phase::Starting);
                start(&self.shared).await
            };
            let started = tokio::select! {
                biased;
                reply = wait_for_stop(&mut self.commands) => break reply,
                started = self.shared.starts.run(starting) => started,
            };
            match started {
                Ok((server, connection)) => {
                    self.awaits_login = false;
                    if let End::StopRequested(done) = self.serve(server, connection).await {
                        break done;
                    }
                }
                Err(error) if error.awaits_login() => {
                    // Every search tries to start the server: log the missing login only once.
                    if !std::mem::replace(&mut self.awaits_login, true) {
                        tracing::warn!("{error}");
                    }
                    self.fail(error, Duration::ZERO);
                }
                Err(error) => {
                    tracing::warn!("{error}");
                    self.failures += 1;
                    self.fail(error, pause(self.failures));
                }
            }
        };
        self.shared.set_phase(Phase::Closed);
        if let Some(done) = stop_reply {
            let _ = done.send(());
        }
    }

    fn fail(&self, error: UpstreamError, pause: Duration) {
        self.shared.list_failed(error.clone());
        self.shared.set_phase(Phase::Failed {
            error,
            retry_at: Instant::now() + pause,
        });
    }

    /// Runs one process or connection from its handshake to its end.
    async fn serve(&mut self, server: ConnectedServer, connection: Arc<Connection>) -> End {
        let ConnectedServer {
            mut handle,
            service,
            hello,
            ..
        } = server;
        self.shared.set_era(hello.era);
        self.shared.set_phase(Phase::Running(Arc::clone(&connection)));
        let _subscription = subscribe(&connection, &hello, &self.shared.connector.client).await;
        connection.set_log_level(&self.shared.connector.client).await;
        let stop_service = service.cancellation_token();
        let mut closed = std::pin::pin!(service.waiting());
        let mut refreshing = Some(refresh(&self.shared, &connection, &hello, Instant::now()));
        let mut next_list = Instant::now();
        let (mut fresh_for, mut stale_at) = (None, None);
        self.shared.activity.touch();
        let end = loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(Command::Start) => {}
                    Some(Command::Restart) if !self.shared.try_set_idle() => {}
                    Some(Command::Restart) => break End::Idle,
                    Some(Command::Stop(done)) => break End::StopRequested(Some(done)),
                    None => break End::StopRequested(None),
                },
                () = idle(&self.shared), if refreshing.is_none() => {
                    if self.shared.try_set_idle() {
                        break End::Idle;
                    }
                }
                cause = handle.ended() => {
                    // Responses written before the server's end are still in the pipe.
                    let _ = timeout(DRAIN_TIMEOUT, &mut closed).await;
                    break End::Exited(cause);
                }
                _ = &mut closed => {
                    let cause = match timeout(DRAIN_TIMEOUT, handle.ended()).await {
                        Ok(cause) => cause,
                        Err(_elapsed) => {
                            handle.stop().await;
                            "closed its stdout".to_owned()
                        }
                    };
                    break End::Exited(cause);
                }
                refreshed = finished(&mut refreshing) => {
                    refreshing = None;
                    next_list = Instant::now() + refreshed.pause;
                    fresh_for = refreshed.fresh_for.or(fresh_for);
                    // A server that announces changes does not need to be polled.
                    let time = fresh_for.filter(|_| !hello.notifies_list_changes);
                    stale_at = time.map(|time| Instant::now() + time.max(MIN_VALIDITY));
                }
                () = sleep_until(stale_at.unwrap_or(next_list)), if stale_at.is_some() && refreshing.is_none() => {
                    refreshing = Some(refresh(&self.shared, &connection, &hello, next_list));
                }
                () = connection.notifications.list_changed.notified(), if refreshing.is_none() => {
                    refreshing = Some(refresh(&self.shared, &connection, &hello, next_list));
                }
            }
        };
        drop(refreshing);
        let end = match end {
            End::StopRequested(_) | End::Idle => {
                // Cancelling makes the library close the server's stdin.
                stop_service.cancel();
                let _ = timeout(DRAIN_TIMEOUT, &mut closed).await;
                let cause = handle.stop().await;
                let _ = timeout(DRAIN_TIMEOUT, connection.stderr.ended()).await;
                let why = match end {
                    End::Idle => "it was idle",
                    _ if self.shared.is_retired() => "its definition was changed or removed",
                    _ => "codeyard is shutting down",
                };
                tracing::debug!(server = %self.shared.config.name, %cause, "ended: {why}");
                self.shared.set_past_warnings(connection.notifications.warnings());
                connection.end.send_replace(Some(why.to_owned()));
                end
            }
            End::Exited(cause) => {
                let _ = timeout(DRAIN_TIMEOUT, connection.stderr.ended()).await;
                self.record_exit(&connection, cause.clone());
                End::Exited(cause)
            }
        };
        handle.release().await;
        end
    }

    /// Records the end of a server and reports it to all callers.
    fn record_exit(&mut self, connection: &Connection, cause: String) {
        let cause = connection.notifications.secrets.hide(&cause);
        let error = UpstreamError::Gone {
            server: connection.server.clone(),
            request: "the time between calls".to_owned(),
            cause: cause.clone(),
            stderr: connection.stderr.tail(),
        };
        tracing::warn!(server = %connection.server, "it {}", cause.strip_prefix("it ").unwrap_or(&cause));
        self.shared.set_past_warnings(connection.notifications.warnings());
        // A server that has answered calls, or that fails for the first time, is restarted at once.
        self.failures = if connection.has_served.load(Ordering::Relaxed) {
            0
        } else {
            self.failures + 1
        };
        self.fail(error, pause(self.failures.saturating_sub(1)));
        connection.end.send_replace(Some(cause));
    }
}

fn pause(failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => FIRST_PAUSE.saturating_mul(1 << doublings.min(10)).min(LAST_PAUSE),
    }
}

/// Waits for the command to stop, or until the channel closes.
async fn wait_for_stop(commands: &mut mpsc::Receiver<Command>) -> Option<oneshot::Sender<()>> {
    loop {
        match commands.recv().await {
            Some(Command::Start | Command::Restart) => {}
            Some(Command::Stop(done)) => return Some(done),
            None => return None,
        }
    }
}

/// Subscribes to list changes of a modern server: its tools, and with a client also its prompts and
/// resources. A legacy server announces changes without a subscription.
async fn subscribe(
    connection: &Connection,
    hello: &ServerHello,
    client: &ClientSlot,
) -> Option<impl Sized + use<>> {
    let has_client = client.get().is_some();
    if hello.era == Era::Legacy || !(hello.notifies_list_changes || has_client) {
        return None;
    }
    let mut filter = SubscriptionFilter::builder().tools_list_changed();
    if has_client {
        filter = filter.prompts_list_changed().resources_list_changed();
    }
    let filter = filter.build();
    let request = SubscriptionsListenRequest::new(SubscriptionsListenRequestParams::new(filter));
    let request = ClientRequest::SubscriptionsListenRequest(request);
    // The response arrives when the subscription ends. If the server refuses, list changes go unnoticed.
    connection
        .peer
        .send_request_with_option(request, PeerRequestOptions::no_options())
        .await
        .ok()
}

type ListRefresh = Pin<Box<dyn Future<Output = NextList> + Send>>;

/// When to request the list again.
struct NextList {
    /// Shortest time until the next list request.
    pause: Duration,
    /// How long the list is valid, if the server states it.
    fresh_for: Option<Duration>,
}

/// Requests the server's list at this time and publishes it.
fn refresh(
    shared: &Arc<ServerShared>,
    connection: &Arc<Connection>,
    hello: &ServerHello,
    at: Instant,
) -> ListRefresh {
    let (shared, connection, hello) = (Arc::clone(shared), Arc::clone(connection), hello.clone());
    Box::pin(async move {
        sleep_until(at).await;
        match listing::fetch(&connection, shared.timeout()).await {
            Ok(listing) => {
                for warning in listing.warnings {
                    connection.notifications.warn(warning);
                }
                shared.update_list(&hello, listing.tools).await;
                let times = u32::try_from(listing.bytes / BYTES_PER_LIST_INTERVAL).unwrap_or(u32::MAX);
                NextList {
                    pause: MIN_LIST_INTERVAL.saturating_mul(times.max(1)),
                    fresh_for: listing.fresh_for,
                }
            }
            Err(error) => {
                tracing::warn!("{error}");
                shared.list_failed(error);
                NextList {
                    pause: MIN_LIST_INTERVAL,
                    fresh_for: None,
                }
            }
        }
    })
}

/// Waits until the server's idle time reaches its limit.
async fn idle(shared: &ServerShared) {
    match shared.idle_stop() {
        Some(time) => shared.activity.idle(time).await,
        None => std::future::pending().await,
    }
}

async fn finished(refreshing: &mut Option<ListRefresh>) -> NextList {
    match refreshing {
        Some(refresh) => refresh.await,
        None => std::future::pending().await,
    }
}

//! The handle of one configured server: starts the server when a caller needs it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::task::TaskTracker;
use upstream_wire::START_TIMEOUT;

use crate::connection::Connection;
use crate::driver::{Command, Driver};
use crate::error::UpstreamError;
use crate::shared::{Lifecycle, ListOutcome, ListState, Phase, ServerShared};
use crate::state::{ServerState, Status};
use crate::user_servers::UserServers;

/// Longest wait of a call for the start of its server; the start continues afterwards. Shorter than a run's time
/// limit, so that the program's error names the server.
const MAX_START_WAIT: Duration = Duration::from_secs(45);
/// Longest backoff that a call waits for; with a longer backoff, the call fails at once.
const MAX_PAUSE_WAIT: Duration = Duration::from_secs(2);
/// Commands queued for the driver.
const COMMAND_QUEUE: usize = 8;

#[derive(Debug)]
pub(crate) struct ManagedServer {
    pub(crate) shared: Arc<ServerShared>,
    pub(crate) calls: TaskTracker,
    commands: mpsc::Sender<Command>,
    /// The servers of users, if the definition asks for their own logins.
    pub(crate) of_users: UserServers<ManagedServer>,
    /// The driver's receiver; the first command takes it and starts the driver.
    unstarted: Mutex<Option<mpsc::Receiver<Command>>>,
    /// Whether a search makes this server list its tools.
    pub(crate) discovering: watch::Sender<bool>,
    /// Whether a search has already waited for this server's list.
    pub(crate) was_awaited: AtomicBool,
    /// Whether a check of a program has already waited for this server's list without success.
    pub(crate) was_missed: AtomicBool,
}

impl ManagedServer {
    pub(crate) fn new(shared: ServerShared) -> ManagedServer {
        let (commands, receiver) = mpsc::channel(COMMAND_QUEUE);
        ManagedServer {
            shared: Arc::new(shared),
            calls: TaskTracker::new(),
            commands,
            of_users: UserServers::new(),
            unstarted: Mutex::new(Some(receiver)),
            discovering: watch::channel(false).0,
            was_awaited: AtomicBool::new(false),
            was_missed: AtomicBool::new(false),
        }
    }

    /// Starts the server if necessary.
    pub(crate) async fn connection(&self, deadline: Instant) -> Result<Arc<Connection>, UpstreamError> {
        let start = Instant::now();
        let mut state = self.shared.state.subscribe();
        // The start whose failure this call reports. Failures of earlier starts only delay the call.
        let mut awaited = None;
        loop {
            let Lifecycle { attempt, phase } = state.borrow_and_update().clone();
            match phase {
                Phase::Running(connection) if !connection.is_closed() => return Ok(connection),
                Phase::Running(_) => {}
                Phase::Starting => awaited = awaited.or(Some(attempt)),
                Phase::Failed { error, .. } if awaited.is_some_and(|awaited| attempt >= awaited) => {
                    return Err(error);
                }
                Phase::Failed { error, retry_at } => {
                    let retry_in = retry_at.saturating_duration_since(Instant::now());
                    if retry_in > MAX_PAUSE_WAIT || retry_at > deadline {
                        let server = self.shared.config.name.clone();
                        return Err(UpstreamError::BackOff {
                            server,
                            cause: Box::new(error),
                            retry_in,
                        });
                    }
                    sleep_until(retry_at).await;
                    self.request_start();
                    awaited = awaited.or(Some(attempt + 1));
                }
                Phase::Idle => {
                    self.request_start();
                    awaited = awaited.or(Some(attempt + 1));
                }
                Phase::Closed => return Err(self.shutting_down()),
            }
            match timeout_at(deadline, state.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_closed)) => return Err(self.shutting_down()),
                Err(_elapsed) => {
                    return Err(UpstreamError::Starting {
                        server: self.shared.config.name.clone(),
                        after: start.elapsed(),
                    });
                }
            }
        }
    }

    /// How long a call that begins at this moment waits for the start of its server.
    pub(crate) fn call_start_deadline(&self) -> Instant {
        let max_wait = self.shared.config.timeout.unwrap_or(MAX_START_WAIT);
        Instant::now() + max_wait.min(MAX_START_WAIT)
    }

    /// Latest end of a start that begins at this moment.
    pub(crate) fn start_deadline() -> Instant {
        Instant::now() + START_TIMEOUT + MAX_PAUSE_WAIT
    }

    /// Waits until the list is known; starts the server if necessary.
    pub(crate) async fn list(&self, start_deadline: Instant) -> Result<(), UpstreamError> {
        let _activity = self.shared.activity.begin();
        let mut listing = self.shared.listing.subscribe();
        let ListState { generation, outcome } = listing.borrow_and_update().clone();
        if matches!(outcome, ListOutcome::Known) {
            return Ok(());
        }
        let was_running = matches!(self.shared.state.borrow().phase, Phase::Running(_));
        let connection = self.connection(start_deadline).await?;
        if was_running && matches!(outcome, ListOutcome::Failed(_)) {
            // A new connection lists its tools by itself; on this connection, an earlier listing failed.
            connection.notifications.list_changed.notify_one();
        }
        loop {
            let now = listing.borrow_and_update().clone();
            if now.generation > generation {
                return match now.outcome {
                    ListOutcome::Failed(error) => Err(error),
                    ListOutcome::Known | ListOutcome::Unknown => Ok(()),
                };
            }
            tokio::select! {
                changed = listing.changed() => changed.map_err(|_closed| self.shutting_down())?,
                () = connection.ended() => return Err(connection.gone("tools/list").await),
            }
        }
    }

    /// Stops the server for good.
    pub(crate) async fn stop(&self) {
        let own = self.of_users.take_all();
        join_all(own.iter().map(|server| server.stop_boxed())).await;
        let (done, stopped) = oneshot::channel();
        if self.take_unstarted().is_some() {
            self.shared.set_phase(Phase::Closed);
            return;
        }
        if self.commands.send(Command::Stop(done)).await.is_ok() {
            let _ = stopped.await;
        }
    }

    /// Stops the server for good after its pending calls, because its definition was changed or removed.
    pub(crate) async fn retire(&self) {
        let own = self.of_users.take_all();
        let users = join_all(own.iter().map(|server| {
            server.shared.set_retired();
            server.retire_boxed()
        }));
        let common = async {
            self.calls.close();
            self.calls.wait().await;
            self.stop().await;
        };
        tokio::join!(users, common);
    }

    /// Boxed, because a definition stops the servers of its users.
    fn stop_boxed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.stop())
    }

    fn retire_boxed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.retire())
    }

    /// The server's state, for display.
    pub(crate) fn state(&self) -> ServerState {
        let shared = &self.shared;
        let mut warnings = shared.past_warnings();
        let mut pid = None;
        let mut status = match &shared.state.borrow().phase {
            Phase::Idle | Phase::Closed => Status::Idle,
            Phase::Starting => Status::Starting,
            Phase::Running(connection) => {
                pid = connection.pid;
                warnings.extend(connection.notifications.warnings());
                Status::Running
            }
            Phase::Failed { error, .. } if error.awaits_login() => Status::NeedsLogin {
                cause: error.to_string(),
            },
            Phase::Failed { error, .. } => Status::Failed {
                cause: error.to_string(),
            },
        };
        if let Some(cause) = shared.breaker.open_for() {
            status = Status::Suspended {
                cause: cause.to_string(),
            };
        }
        ServerState {
            name: shared.config.name.clone(),
            status,
            transport: shared.config.transport.name(),
            tools: shared.listed_tools(),
            calls: shared.stats.calls(),
            last_error: shared.stats.last_error(),
            checked_ms: shared.stats.checked_ms(),
            pid,
            era: shared.era(),
            warnings,
            under_way: shared.activity.pending(),
        }
    }

    fn request_start(&self) {
        if let Some(receiver) = self.take_unstarted() {
            tokio::spawn(Driver::new(Arc::clone(&self.shared), receiver).run());
        }
        // A full queue already holds this command.
        let _ = self.commands.try_send(Command::Start);
    }

    /// Stops the unresponsive server; the next call starts it again.
    pub(crate) fn request_restart(&self) {
        // A full queue holds start commands, and a starting server needs no restart.
        let _ = self.commands.try_send(Command::Restart);
    }

    fn take_unstarted(&self) -> Option<mpsc::Receiver<Command>> {
        self.unstarted.lock().take()
    }

    fn shutting_down(&self) -> UpstreamError {
        let server = self.shared.config.name.clone();
        if self.shared.is_retired() {
            UpstreamError::Replaced { server }
        } else {
            UpstreamError::ShuttingDown { server }
        }
    }
}

//! One configured server as its callers see it: always there, started when it is needed.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::task::TaskTracker;

use crate::connection::Connection;
use crate::driver::Driver;
use crate::error::UpstreamError;
use crate::hub::{ServerState, Status};
use crate::link::{Link, Listed, Outcome, Phase, State};
use crate::start::START_TIMEOUT;

/// Longest wait of a call for its server's start, which goes on after it. It is shorter than a run may take, so that
/// the program hears which server it is.
const START_PATIENCE: Duration = Duration::from_secs(45);
/// A server that is held back for no longer than this is waited for; else the call fails at once.
const SHORT_WAIT: Duration = Duration::from_secs(2);
/// Wishes that wait for the driver; all say the same.
const COMMANDS: usize = 8;

/// The handle of one server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) link: Arc<Link>,
    /// The calls that it has to answer.
    pub(crate) calls: TaskTracker,
    commands: mpsc::Sender<Command>,
    /// The driver's end, until the first wish starts the driver.
    unstarted: Mutex<Option<mpsc::Receiver<Command>>>,
    /// Whether a search waits for this server's list.
    pub(crate) discovering: watch::Sender<bool>,
    /// Whether a search has waited for this server's list before.
    pub(crate) was_awaited: AtomicBool,
    /// Whether a check of a program has waited for this server's list in vain.
    pub(crate) was_missed: AtomicBool,
}

/// What the driver of a server is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// Be running.
    Start,
    /// End, unless somebody waits, and be started anew by the next call.
    Renew,
    /// End, for good, and say when it is done.
    Stop(oneshot::Sender<()>),
}

impl Server {
    pub(crate) fn new(link: Link) -> Server {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        Server {
            link: Arc::new(link),
            calls: TaskTracker::new(),
            commands,
            unstarted: Mutex::new(Some(receiver)),
            discovering: watch::channel(false).0,
            was_awaited: AtomicBool::new(false),
            was_missed: AtomicBool::new(false),
        }
    }

    /// The running server; started if it does not run.
    pub(crate) async fn connection(&self, deadline: Instant) -> Result<Arc<Connection>, UpstreamError> {
        let start = Instant::now();
        let mut state = self.link.state.subscribe();
        // The start whose failure is ours to report; failures of earlier ones only hold us back.
        let mut awaited = None;
        loop {
            let State { attempt, phase } = state.borrow_and_update().clone();
            match phase {
                Phase::Running(connection) if !connection.is_closed() => return Ok(connection),
                Phase::Running(_) => {}
                Phase::Starting => awaited = awaited.or(Some(attempt)),
                Phase::Failed { error, .. } if awaited.is_some_and(|awaited| attempt >= awaited) => {
                    return Err(error);
                }
                Phase::Failed { error, retry_at } => {
                    let retry_in = retry_at.saturating_duration_since(Instant::now());
                    if retry_in > SHORT_WAIT || retry_at > deadline {
                        let server = self.link.config.name.clone();
                        return Err(UpstreamError::BackOff {
                            server,
                            cause: Box::new(error),
                            retry_in,
                        });
                    }
                    sleep_until(retry_at).await;
                    self.ask_for_start();
                    awaited = awaited.or(Some(attempt + 1));
                }
                Phase::Idle => {
                    self.ask_for_start();
                    awaited = awaited.or(Some(attempt + 1));
                }
                Phase::Closed => return Err(self.shutting_down()),
            }
            match timeout_at(deadline, state.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_closed)) => return Err(self.shutting_down()),
                Err(_elapsed) => {
                    return Err(UpstreamError::Starting {
                        server: self.link.config.name.clone(),
                        after: start.elapsed(),
                    });
                }
            }
        }
    }

    /// When a call that is made now gives up on the start of its server.
    pub(crate) fn started_by(&self) -> Instant {
        let patience = self.link.config.timeout.unwrap_or(START_PATIENCE);
        Instant::now() + patience.min(START_PATIENCE)
    }

    /// When a start that begins now is over, well or badly.
    pub(crate) fn started_at_last() -> Instant {
        Instant::now() + START_TIMEOUT + SHORT_WAIT
    }

    /// Makes sure that the list is known.
    pub(crate) async fn list(&self, started_by: Instant) -> Result<(), UpstreamError> {
        let _busy = self.link.activity.begin();
        let mut listing = self.link.listing.subscribe();
        let Listed { generation, outcome } = listing.borrow_and_update().clone();
        if matches!(outcome, Outcome::Known) {
            return Ok(());
        }
        let was_running = matches!(self.link.state.borrow().phase, Phase::Running(_));
        let connection = self.connection(started_by).await?;
        if was_running && matches!(outcome, Outcome::Failed(_)) {
            // A new life lists its tools by itself; this one has tried before.
            connection.traffic.list_changed.notify_one();
        }
        loop {
            let now = listing.borrow_and_update().clone();
            if now.generation > generation {
                return match now.outcome {
                    Outcome::Failed(error) => Err(error),
                    Outcome::Known | Outcome::Unknown => Ok(()),
                };
            }
            tokio::select! {
                changed = listing.changed() => changed.map_err(|_closed| self.shutting_down())?,
                () = connection.ended() => return Err(connection.gone("tools/list").await),
            }
        }
    }

    /// Ends the server for good.
    pub(crate) async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.take_unstarted().is_some() {
            self.link.set_phase(Phase::Closed);
            return;
        }
        if self.commands.send(Command::Stop(done)).await.is_ok() {
            let _ = stopped.await;
        }
    }

    /// Ends the server for good because its definition is gone, once the calls that are under way are answered.
    pub(crate) async fn retire(&self) {
        self.calls.close();
        self.calls.wait().await;
        self.stop().await;
    }

    /// What is known of the server, for people.
    pub(crate) fn state(&self) -> ServerState {
        let link = &self.link;
        let mut warnings = link.past_warnings();
        let mut pid = None;
        let mut status = match &link.state.borrow().phase {
            Phase::Idle | Phase::Closed => Status::Idle,
            Phase::Starting => Status::Starting,
            Phase::Running(connection) => {
                pid = connection.pid;
                warnings.extend(connection.traffic.warnings());
                Status::Running
            }
            Phase::Failed { error, .. } if error.awaits_login() => Status::NeedsLogin {
                cause: error.to_string(),
            },
            Phase::Failed { error, .. } => Status::Failed {
                cause: error.to_string(),
            },
        };
        if let Some(cause) = link.breaker.open_for() {
            status = Status::Suspended {
                cause: cause.to_string(),
            };
        }
        ServerState {
            name: link.config.name.clone(),
            status,
            transport: link.config.transport.name(),
            tools: link.listed_tools(),
            calls: link.tally.calls(),
            last_error: link.tally.last_error(),
            pid,
            era: link.era(),
            warnings,
            under_way: link.activity.under_way(),
        }
    }

    fn ask_for_start(&self) {
        if let Some(receiver) = self.take_unstarted() {
            tokio::spawn(Driver::new(Arc::clone(&self.link), receiver).run());
        }
        // A full queue holds the same wish already.
        let _ = self.commands.try_send(Command::Start);
    }

    /// Has a server that keeps silent started anew by its next call.
    pub(crate) fn renew(&self) {
        // A full queue holds wishes to start, and one that is starting is new enough.
        let _ = self.commands.try_send(Command::Renew);
    }

    fn take_unstarted(&self) -> Option<mpsc::Receiver<Command>> {
        self.unstarted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn shutting_down(&self) -> UpstreamError {
        let server = self.link.config.name.clone();
        if self.link.is_retired() {
            UpstreamError::Replaced { server }
        } else {
            UpstreamError::ShuttingDown { server }
        }
    }
}

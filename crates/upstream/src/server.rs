//! One configured server as its callers see it: always there, started when it is needed.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout_at};
use types::{ServerTools, Tool};

use crate::cache::{CacheFile, Entry};
use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::driver::Driver;
use crate::environment::Environment;
use crate::error::UpstreamError;
use crate::handshake::Greeting;
use crate::hub::{Era, ServerState, Status};
use crate::listing;
use crate::places::Places;
use crate::start::START_TIMEOUT;

/// Longest wait for an answer or for progress where the definition says nothing.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
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
    commands: mpsc::Sender<Command>,
    /// The driver's end, until the first wish starts the driver.
    unstarted: Mutex<Option<mpsc::Receiver<Command>>>,
    /// Whether a search waits for this server's list.
    pub(crate) discovering: watch::Sender<bool>,
    /// Whether a search has waited for this server's list before.
    pub(crate) was_awaited: AtomicBool,
}

/// What the driver of a server is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// Be running.
    Start,
    /// End, for good, and say when it is done.
    Stop(oneshot::Sender<()>),
}

/// What the callers of a server and its driver share.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) config: ServerConfig,
    /// The place of the server in the configuration.
    pub(crate) index: usize,
    pub(crate) environment: Arc<Environment>,
    pub(crate) supervisor: Arc<[OsString]>,
    pub(crate) cache: Option<CacheFile>,
    pub(crate) starts: Arc<Places>,
    pub(crate) state: watch::Sender<State>,
    listing: watch::Sender<Listed>,
    /// The snapshot of all servers, for the hub's users.
    pub(crate) all_tools: watch::Sender<Arc<Vec<ServerTools>>>,
    era: Mutex<Option<Era>>,
    /// Whether this process has written the cached list.
    is_written: AtomicBool,
    /// What was odd in lives that are over.
    past_warnings: Mutex<Vec<String>>,
}

/// The life of a server at one moment.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// Counts the starts.
    pub(crate) attempt: u64,
    pub(crate) phase: Phase,
}

#[derive(Debug, Clone)]
pub(crate) enum Phase {
    Idle,
    Starting,
    Running(Arc<Connection>),
    /// It did not start or ended by itself, and is not started again before `retry_at`.
    Failed {
        error: UpstreamError,
        retry_at: Instant,
    },
    Closed,
}

/// What is known of a server's list.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// Counts the attempts.
    generation: u64,
    outcome: Outcome,
}

#[derive(Debug, Clone)]
enum Outcome {
    Unknown,
    Known,
    Failed(UpstreamError),
}

impl Server {
    pub(crate) fn new(link: Link) -> Server {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        Server {
            link: Arc::new(link),
            commands,
            unstarted: Mutex::new(Some(receiver)),
            discovering: watch::channel(false).0,
            was_awaited: AtomicBool::new(false),
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
                    return Err(UpstreamError::Timeout {
                        server: self.link.config.name.clone(),
                        request: "its start".to_owned(),
                        after: start.elapsed(),
                        seen: "; it is still starting, a later call may find it ready".to_owned(),
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

    /// What is known of the server, for people.
    pub(crate) fn state(&self) -> ServerState {
        let link = &self.link;
        let mut warnings = link
            .past_warnings
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let mut pid = None;
        let status = match &link.state.borrow().phase {
            Phase::Idle | Phase::Closed => Status::Idle,
            Phase::Starting => Status::Starting,
            Phase::Running(connection) => {
                pid = connection.pid;
                warnings.extend(connection.traffic.warnings());
                Status::Running
            }
            Phase::Failed { error, .. } => Status::Failed {
                cause: error.to_string(),
            },
        };
        let tools = link
            .all_tools
            .borrow()
            .get(link.index)
            .and_then(|server| Some(server.tools.as_ref()?.len()));
        ServerState {
            name: link.config.name.clone(),
            status,
            tools,
            pid,
            era: link.era(),
            warnings,
        }
    }

    fn ask_for_start(&self) {
        if let Some(receiver) = self.take_unstarted() {
            tokio::spawn(Driver::new(Arc::clone(&self.link), receiver).run());
        }
        // A full queue holds the same wish already.
        let _ = self.commands.try_send(Command::Start);
    }

    fn take_unstarted(&self) -> Option<mpsc::Receiver<Command>> {
        self.unstarted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn shutting_down(&self) -> UpstreamError {
        UpstreamError::ShuttingDown {
            server: self.link.config.name.clone(),
        }
    }
}

// === impl Link ===

/// What a link is made of; the rest of it is learned.
pub(crate) struct LinkParts {
    pub(crate) config: ServerConfig,
    pub(crate) index: usize,
    pub(crate) environment: Arc<Environment>,
    pub(crate) supervisor: Arc<[OsString]>,
    pub(crate) cache: Option<CacheFile>,
    pub(crate) starts: Arc<Places>,
    pub(crate) all_tools: watch::Sender<Arc<Vec<ServerTools>>>,
}

impl Link {
    pub(crate) fn new(parts: LinkParts) -> Link {
        let LinkParts {
            config,
            index,
            environment,
            supervisor,
            cache,
            starts,
            all_tools,
        } = parts;
        Link {
            config,
            index,
            environment,
            supervisor,
            cache,
            starts,
            state: watch::channel(State {
                attempt: 0,
                phase: Phase::Idle,
            })
            .0,
            listing: watch::channel(Listed {
                generation: 0,
                outcome: Outcome::Unknown,
            })
            .0,
            all_tools,
            era: Mutex::default(),
            is_written: AtomicBool::new(false),
            past_warnings: Mutex::default(),
        }
    }

    /// Longest wait for an answer or for progress.
    pub(crate) fn timeout(&self) -> Duration {
        self.config.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    pub(crate) fn era(&self) -> Option<Era> {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_era(&self, era: Era) {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner) = Some(era);
    }

    /// Whether it failed too short a time ago to be started again.
    pub(crate) fn is_held_back(&self) -> bool {
        match self.state.borrow().phase {
            Phase::Failed { retry_at, .. } => retry_at > Instant::now(),
            _ => false,
        }
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        self.state.send_modify(|state| {
            if matches!(phase, Phase::Starting) {
                state.attempt += 1;
            }
            state.phase = phase;
        });
    }

    pub(crate) fn keep_warnings(&self, warnings: Vec<String>) {
        *self.past_warnings.lock().unwrap_or_else(PoisonError::into_inner) = warnings;
    }

    /// Remembers what the server has just listed for the next process, then makes it known.
    pub(crate) async fn learn(&self, greeting: &Greeting, tools: Vec<Arc<Tool>>) {
        let server = self.entry(greeting.description.clone(), tools);
        // An unchanged list is written once, because the lifecycle beside it may have changed.
        let is_news = self.all_tools.borrow().get(self.index) != Some(&server);
        let is_unwritten = !self.is_written.swap(true, Ordering::Relaxed);
        if let Some(cache) = self.cache.clone().filter(|_| is_news || is_unwritten) {
            let raw = server
                .tools
                .iter()
                .flat_map(|tools| tools.iter())
                .map(|tool| tool.definition().to_owned())
                .collect();
            let entry = Entry::new(greeting.era, greeting.description.clone(), raw);
            let written = tokio::task::spawn_blocking(move || cache.write(&entry)).await;
            if let Ok(Err(error)) = written {
                let server = &self.config.name;
                tracing::warn!(%server, %error, "its tool list could not be kept for the next start");
            }
        }
        self.publish(server);
    }

    /// Takes over what the last process learned, unless the server itself was faster.
    pub(crate) fn recall(
        &self,
        Entry {
            era,
            description,
            tools,
            ..
        }: Entry,
    ) {
        if self.is_listed() {
            return;
        }
        self.set_era(era);
        self.publish(self.entry(description, listing::check(tools).tools));
    }

    /// Notes that the list could not be had; an older list is better than none.
    pub(crate) fn list_failed(&self, error: UpstreamError) {
        self.listing.send_if_modified(|listed| {
            if matches!(listed.outcome, Outcome::Known) {
                return false;
            }
            *listed = Listed {
                generation: listed.generation + 1,
                outcome: Outcome::Failed(error),
            };
            true
        });
    }

    /// Whether the list is known, from the server or from the last process.
    pub(crate) fn is_listed(&self) -> bool {
        matches!(self.listing.borrow().outcome, Outcome::Known)
    }

    /// Whether the list could not be had the last time.
    pub(crate) fn has_no_list(&self) -> bool {
        matches!(self.listing.borrow().outcome, Outcome::Failed(_))
    }

    fn entry(&self, description: Option<String>, tools: Vec<Arc<Tool>>) -> ServerTools {
        let description = self.config.description.clone().or(description);
        ServerTools {
            name: self.config.name.clone(),
            description,
            tools: Some(tools.into()),
        }
    }

    /// Puts the list into the snapshot of all servers; an unchanged one wakes nobody.
    fn publish(&self, server: ServerTools) {
        self.all_tools.send_if_modified(|all| {
            if all.get(self.index) == Some(&server) {
                return false;
            }
            if let Some(place) = Arc::make_mut(all).get_mut(self.index) {
                *place = server;
            }
            true
        });
        self.listing.send_modify(|listed| {
            *listed = Listed {
                generation: listed.generation + 1,
                outcome: Outcome::Known,
            };
        });
    }
}

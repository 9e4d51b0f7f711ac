//! What the callers of a server and its driver share: its definition, its life, its list and its place among all.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use types::{ServerTools, Tool};

use crate::activity::Activity;
use crate::breaker::Breaker;
use crate::cache::{CacheFile, Entry};
use crate::client::ClientSlot;
use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::environment::Environment;
use crate::error::UpstreamError;
use crate::groups::ServerGroups;
use crate::handshake::Greeting;
use crate::hub::Era;
use crate::listing;
use crate::logs::Log;
use crate::places::Places;
use crate::roster::AllTools;
use crate::tally::Tally;

/// Longest wait for an answer or for progress where the definition says nothing.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a server may run without a call where the definition says nothing.
const DEFAULT_IDLE_STOP: Duration = Duration::from_secs(10 * 60);
/// Default bound of calls under way: above the 100 that one run may gather, so that they do not wait for each other.
const DEFAULT_MAX_CALLS: u32 = 128;
/// The place of a server that is in no snapshot.
const NOWHERE: usize = usize::MAX;

/// What the callers of a server and its driver share.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) config: ServerConfig,
    /// The place of the server in `all_tools`, which is locked when this changes.
    place: AtomicUsize,
    /// Whether the definition has been taken away.
    is_retired: AtomicBool,
    pub(crate) environment: Arc<Environment>,
    pub(crate) supervisor: Arc<[OsString]>,
    pub(crate) cache: Option<CacheFile>,
    pub(crate) login_dir: Option<PathBuf>,
    pub(crate) log: Option<Log>,
    pub(crate) tally: Tally,
    pub(crate) starts: Arc<Places>,
    pub(crate) client: ClientSlot,
    pub(crate) state: watch::Sender<State>,
    pub(crate) listing: watch::Sender<Listed>,
    /// The snapshot of all servers, for the hub's users.
    all_tools: AllTools,
    era: Mutex<Option<Era>>,
    /// Whether this process has written the cached list.
    is_written: AtomicBool,
    /// What was odd in lives that are over.
    past_warnings: Mutex<Vec<String>>,
    pub(crate) groups: Arc<ServerGroups>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) breaker: Arc<Breaker>,
    /// Places for calls.
    pub(crate) places: Semaphore,
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
    pub(crate) generation: u64,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Unknown,
    Known,
    Failed(UpstreamError),
}

/// Which of two lists is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// This one.
    Newest,
    /// The one that is known, whatever it is: this one is that of the last process.
    OnlyFirst,
}

/// What a link is made of; the rest of it is learned.
pub(crate) struct LinkParts {
    pub(crate) config: ServerConfig,
    pub(crate) environment: Arc<Environment>,
    pub(crate) supervisor: Arc<[OsString]>,
    pub(crate) cache: Option<CacheFile>,
    pub(crate) login_dir: Option<PathBuf>,
    pub(crate) log: Option<Log>,
    pub(crate) starts: Arc<Places>,
    pub(crate) groups: Arc<ServerGroups>,
    pub(crate) all_tools: AllTools,
    pub(crate) client: ClientSlot,
}

impl Link {
    pub(crate) fn new(parts: LinkParts) -> Link {
        let LinkParts {
            config,
            environment,
            supervisor,
            cache,
            login_dir,
            log,
            starts,
            groups,
            all_tools,
            client,
        } = parts;
        let places = usize::try_from(max_calls(&config)).unwrap_or(Semaphore::MAX_PERMITS);
        Link {
            config,
            place: AtomicUsize::new(NOWHERE),
            is_retired: AtomicBool::new(false),
            environment,
            supervisor,
            cache,
            login_dir,
            log,
            tally: Tally::default(),
            starts,
            client,
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
            groups,
            activity: Activity::new(),
            breaker: Arc::default(),
            places: Semaphore::new(places),
        }
    }

    /// Its place in the snapshot of all servers; `None` before it has one and after it was retired.
    pub(crate) fn place(&self) -> Option<usize> {
        Some(self.seat()).filter(|place| *place != NOWHERE)
    }

    /// Only while the snapshot of all servers is locked.
    pub(crate) fn set_place(&self, place: Option<usize>) {
        self.place.store(place.unwrap_or(NOWHERE), Ordering::Relaxed);
    }

    fn seat(&self) -> usize {
        self.place.load(Ordering::Relaxed)
    }

    pub(crate) fn set_retired(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }

    /// Whether the definition has been taken away.
    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed)
    }

    /// How many tools it has listed.
    pub(crate) fn listed_tools(&self) -> Option<usize> {
        let all = self.all_tools.borrow();
        Some(all.get(self.seat())?.tools.as_ref()?.len())
    }

    /// A tool that it has listed.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        let all = self.all_tools.borrow();
        let tools = all.get(self.seat())?.tools.as_ref()?;
        tools.iter().find(|tool| tool.name == name).map(Arc::clone)
    }

    /// Longest wait for an answer or for progress.
    pub(crate) fn timeout(&self) -> Duration {
        self.config.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    /// How many calls it may have under way.
    pub(crate) fn max_calls(&self) -> u32 {
        max_calls(&self.config)
    }

    /// How long its process may run without a call; `None` for as long as it likes.
    pub(crate) fn idle_stop(&self) -> Option<Duration> {
        self.config.transport.stdio()?;
        let time = self.config.idle_stop.unwrap_or(DEFAULT_IDLE_STOP);
        Some(time).filter(|time| !time.is_zero())
    }

    /// Lets the server end until it is needed again, unless somebody waits for it; tells whether that is so.
    pub(crate) fn rest(&self) -> bool {
        // Whoever begins after this finds it idle and has it started.
        self.activity.if_quiet(|| self.set_phase(Phase::Idle))
    }

    /// Whether the server says of that tool that a call of it may be repeated, and is believed.
    pub(crate) fn may_repeat(&self, tool: &str) -> bool {
        self.config.trusted && self.tool(tool).is_some_and(|tool| tool.says_it_is_repeatable())
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

    /// What was odd in lives that are over.
    pub(crate) fn past_warnings(&self) -> Vec<String> {
        let warnings = self.past_warnings.lock();
        warnings.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn keep_warnings(&self, warnings: Vec<String>) {
        *self.past_warnings.lock().unwrap_or_else(PoisonError::into_inner) = warnings;
    }

    /// Remembers what the server has just listed for the next process, then makes it known.
    pub(crate) async fn learn(&self, greeting: &Greeting, tools: Vec<Arc<Tool>>) {
        let server = self.entry(greeting.description.clone(), tools);
        // An unchanged list is written once, because the lifecycle beside it may have changed.
        let is_news = self.all_tools.borrow().get(self.seat()) != Some(&server);
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
        self.publish(server, Precedence::Newest);
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
        self.era
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(era);
        self.publish(
            self.entry(description, listing::check(tools).tools),
            Precedence::OnlyFirst,
        );
    }

    /// Notes that the list could not be had; an older list is better than none.
    pub(crate) fn list_failed(&self, error: UpstreamError) {
        self.tally.failed(&error);
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

    /// The server in the snapshot before its tools are known.
    pub(crate) fn unlisted(&self) -> ServerTools {
        ServerTools {
            name: self.config.name.clone(),
            description: self.config.description.clone(),
            cwd: self.config.transport.stdio().and_then(|stdio| stdio.cwd.clone()),
            tools: None,
        }
    }

    fn entry(&self, description: Option<String>, tools: Vec<Arc<Tool>>) -> ServerTools {
        let unlisted = self.unlisted();
        ServerTools {
            description: unlisted.description.or(description),
            tools: Some(tools.into()),
            ..unlisted
        }
    }

    /// Puts the list into the snapshot of all servers; an unchanged one wakes nobody.
    fn publish(&self, server: ServerTools, precedence: Precedence) {
        let mut is_late = false;
        self.all_tools.send_if_modified(|all| {
            let Some(known) = all.get(self.seat()) else {
                return false;
            };
            is_late = precedence == Precedence::OnlyFirst && known.tools.is_some();
            if is_late || *known == server {
                return false;
            }
            if let Some(place) = Arc::make_mut(all).get_mut(self.seat()) {
                *place = server;
            }
            true
        });
        if is_late {
            return;
        }
        self.listing.send_modify(|listed| {
            *listed = Listed {
                generation: listed.generation + 1,
                outcome: Outcome::Known,
            };
        });
    }
}

fn max_calls(config: &ServerConfig) -> u32 {
    config.max_calls.map_or(DEFAULT_MAX_CALLS, NonZeroU32::get)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::config::{Http, Stdio, Transport};
    use crate::places::HOLD;

    fn link(config: ServerConfig) -> Link {
        let link = Link::new(LinkParts {
            config,
            environment: Arc::new(Environment::of_this_process()),
            supervisor: Arc::from([]),
            login_dir: None,
            cache: None,
            log: None,
            starts: Arc::new(Places::new(1, HOLD)),
            groups: Arc::default(),
            all_tools: watch::channel(Arc::default()).0,
            client: Arc::default(),
        });
        link.all_tools.send_replace(Arc::new(vec![link.unlisted()]));
        link.set_place(Some(0));
        link
    }

    #[test]
    fn a_process_rests_after_a_while_unless_that_is_zero() {
        let check = |transport: Transport, idle_stop: Option<u64>, expected: Option<Duration>| {
            let link = link(ServerConfig {
                transport,
                idle_stop: idle_stop.map(Duration::from_secs),
                ..ServerConfig::default()
            });
            assert_eq!(link.idle_stop(), expected);
        };
        let process = || Transport::Stdio(Stdio::default());
        check(process(), None, Some(DEFAULT_IDLE_STOP));
        check(process(), Some(7), Some(Duration::from_secs(7)));
        check(process(), Some(0), None);
        check(Transport::Http(Http::default()), Some(7), None);
    }

    #[test]
    fn what_the_last_process_learned_gives_way_to_the_server_itself() {
        let link = link(ServerConfig::default());
        let list = |name: &str| {
            let definition = format!("{{\"name\":\"{name}\",\"inputSchema\":{{}}}}");
            let raw = RawValue::from_string(definition).expect("JSON");
            link.entry(None, listing::check(vec![raw]).tools)
        };
        let known = || link.all_tools.borrow()[0].clone();
        link.publish(list("old"), Precedence::OnlyFirst);
        assert_eq!(known(), list("old"));
        link.publish(list("new"), Precedence::Newest);
        let generation = link.listing.borrow().generation;
        link.publish(list("old"), Precedence::OnlyFirst);
        assert_eq!(known(), list("new"));
        assert_eq!(link.listing.borrow().generation, generation);
    }
}

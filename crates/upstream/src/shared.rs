//! The data of one server that its callers and its driver share: definition, phase, tool list, and counters.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use types::{ServerTools, Tool};
use upstream_wire::{Connector, Era, ServerHello, ToolDefinitions};

use crate::activity::Activity;
use crate::breaker::Breaker;
use crate::bucket::Bucket;
use crate::cache::{CacheFile, CachedList};
use crate::concurrency::ConcurrencyLimit;
use crate::config::ServerConfig;
use crate::connection::Connection;
use crate::error::UpstreamError;
use crate::listing;
use crate::stats::Stats;

/// Default of [`ServerConfig::timeout`].
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// Default of [`ServerConfig::idle_stop`].
const DEFAULT_IDLE_STOP: Duration = Duration::from_secs(10 * 60);
/// Default of [`ServerConfig::max_calls`]: more than the 100 concurrent calls of one run, so that the calls of a run
/// do not wait for each other.
const DEFAULT_MAX_CALLS: u32 = 128;
/// The server is not in the snapshot.
const NO_INDEX: usize = usize::MAX;

pub(crate) type AllTools = watch::Sender<Arc<Vec<ServerTools>>>;

#[derive(Debug)]
pub(crate) struct ServerShared {
    pub(crate) config: ServerConfig,
    /// Index in `all_tools`; changes only while `all_tools` is locked.
    index: AtomicUsize,
    /// For the server of one user: the snapshot whose receivers are woken when this server's list changes.
    wakes: Option<AllTools>,
    /// Whether the definition was changed or removed.
    is_retired: AtomicBool,
    pub(crate) connector: Connector,
    pub(crate) cache: Option<CacheFile>,
    pub(crate) stats: Stats,
    /// Limit of concurrent starts, shared by all servers.
    pub(crate) starts: Arc<ConcurrencyLimit>,
    pub(crate) state: watch::Sender<Lifecycle>,
    pub(crate) listing: watch::Sender<ListState>,
    all_tools: AllTools,
    era: Mutex<Option<Era>>,
    /// Whether this process has written the cached list.
    is_written: AtomicBool,
    /// Warnings about the previous connection.
    past_warnings: Mutex<Vec<String>>,
    pub(crate) activity: Arc<Activity>,
    pub(crate) breaker: Arc<Breaker>,
    pub(crate) call_permits: Semaphore,
    /// Shared by all servers with the same credential.
    pub(crate) bucket: Arc<Bucket>,
}

#[derive(Debug, Clone)]
pub(crate) struct Lifecycle {
    /// Starts so far.
    pub(crate) attempt: u64,
    pub(crate) phase: Phase,
}

#[derive(Debug, Clone)]
pub(crate) enum Phase {
    Idle,
    Starting,
    Running(Arc<Connection>),
    /// The server did not start, or ended by itself. It is not started again before `retry_at`.
    Failed {
        error: UpstreamError,
        retry_at: Instant,
    },
    Closed,
}

#[derive(Debug, Clone)]
pub(crate) struct ListState {
    /// Number of attempts to list.
    pub(crate) generation: u64,
    pub(crate) outcome: ListOutcome,
}

#[derive(Debug, Clone)]
pub(crate) enum ListOutcome {
    Unknown,
    Known,
    Failed(UpstreamError),
}

/// Which of two tool lists takes precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precedence {
    /// The new list replaces the published list.
    Newest,
    /// The known list stays: the new list comes from the cache.
    KnownFirst,
}

impl ServerShared {
    pub(crate) fn new(
        config: ServerConfig,
        connector: Connector,
        cache: Option<CacheFile>,
        starts: Arc<ConcurrencyLimit>,
        all_tools: AllTools,
        bucket: Arc<Bucket>,
    ) -> ServerShared {
        let call_permits = usize::try_from(max_calls(&config)).unwrap_or(Semaphore::MAX_PERMITS);
        ServerShared {
            config,
            index: AtomicUsize::new(NO_INDEX),
            wakes: None,
            is_retired: AtomicBool::new(false),
            connector,
            cache,
            stats: Stats::default(),
            starts,
            state: watch::channel(Lifecycle {
                attempt: 0,
                phase: Phase::Idle,
            })
            .0,
            listing: watch::channel(ListState {
                generation: 0,
                outcome: ListOutcome::Unknown,
            })
            .0,
            all_tools,
            era: Mutex::default(),
            is_written: AtomicBool::new(false),
            past_warnings: Mutex::default(),
            activity: Activity::new(),
            breaker: Arc::default(),
            call_permits: Semaphore::new(call_permits),
            bucket,
        }
    }

    /// The same server for one user, with a snapshot of its own: no list is shared between users. Changes of its list
    /// wake the receivers of the former snapshot.
    pub(crate) fn of_user(self) -> ServerShared {
        let wakes = Some(self.all_tools.clone());
        let all_tools = watch::channel(Arc::new(vec![self.unlisted()])).0;
        self.set_index(Some(0));
        ServerShared {
            wakes,
            all_tools,
            ..self
        }
    }

    /// Wakes the receivers of the snapshot in which this server's list appears for its user.
    pub(crate) fn wake(&self) {
        if let Some(wakes) = &self.wakes {
            wakes.send_modify(|_| {});
        }
    }

    /// The tools, once listed.
    pub(crate) fn tools(&self) -> Option<Arc<[Arc<Tool>]>> {
        let all = self.all_tools.borrow();
        all.get(self.raw_index())?.tools.clone()
    }

    /// Index in the snapshot of all servers; `None` before the server is in it and after it was retired.
    pub(crate) fn index(&self) -> Option<usize> {
        Some(self.raw_index()).filter(|index| *index != NO_INDEX)
    }

    /// Must be called while the snapshot of all servers is locked.
    pub(crate) fn set_index(&self, index: Option<usize>) {
        self.index.store(index.unwrap_or(NO_INDEX), Ordering::Relaxed);
    }

    fn raw_index(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }

    pub(crate) fn set_retired(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed)
    }

    /// Number of listed tools; `None` while the list is unknown.
    pub(crate) fn listed_tools(&self) -> Option<usize> {
        let all = self.all_tools.borrow();
        Some(all.get(self.raw_index())?.tools.as_ref()?.len())
    }

    /// Longest time without an answer or progress.
    pub(crate) fn timeout(&self) -> Duration {
        self.config.timeout.unwrap_or(DEFAULT_TIMEOUT)
    }

    pub(crate) fn max_calls(&self) -> u32 {
        max_calls(&self.config)
    }

    /// Time without a call after which the process stops; `None` for never.
    pub(crate) fn idle_stop(&self) -> Option<Duration> {
        let is_of_user = self.wakes.is_some();
        if self.config.transport.stdio().is_none() && !is_of_user {
            return None;
        }
        let time = self.config.idle_stop.unwrap_or(DEFAULT_IDLE_STOP);
        Some(time).filter(|time| !time.is_zero())
    }

    /// Sets the phase to idle, unless work is pending. Returns whether the server may stop.
    pub(crate) fn try_set_idle(&self) -> bool {
        // Later calls find the server idle and start it.
        self.activity.if_idle(|| self.set_phase(Phase::Idle))
    }

    /// Whether the tool's annotations are trusted and allow a repeated call.
    pub(crate) fn may_repeat(&self, tool: &str) -> bool {
        self.config.trusted && self.tool(tool).is_some_and(|tool| tool.says_it_is_repeatable())
    }

    pub(crate) fn era(&self) -> Option<Era> {
        *self.era.lock()
    }

    pub(crate) fn set_era(&self, era: Era) {
        *self.era.lock() = Some(era);
    }

    /// Whether the last failure is too recent for a new start.
    pub(crate) fn is_backing_off(&self) -> bool {
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

    /// Warnings about the previous connection.
    pub(crate) fn past_warnings(&self) -> Vec<String> {
        self.past_warnings.lock().clone()
    }

    pub(crate) fn set_past_warnings(&self, warnings: Vec<String>) {
        *self.past_warnings.lock() = warnings;
    }

    /// Writes the server's list to the cache, then publishes it.
    pub(crate) async fn update_list(&self, hello: &ServerHello, tools: Vec<Arc<Tool>>) {
        self.stats.note_check();
        let server = self.entry(hello.description.clone(), tools);
        // Write an unchanged list once per process, because the cached era may have changed.
        let has_changed = self.all_tools.borrow().get(self.raw_index()) != Some(&server);
        let is_unwritten = !self.is_written.swap(true, Ordering::Relaxed);
        if let Some(cache) = self.cache.clone().filter(|_| has_changed || is_unwritten) {
            let raw = server
                .tools
                .iter()
                .flat_map(|tools| tools.iter())
                .map(|tool| tool.definition().to_owned())
                .collect();
            let entry = CachedList::new(hello.era, hello.description.clone(), raw);
            let written = tokio::task::spawn_blocking(move || cache.write(&entry)).await;
            if let Ok(Err(error)) = written {
                let server = &self.config.name;
                tracing::warn!(%server, %error, "its tool list could not be cached for the next start");
            }
        }
        self.publish(server, Precedence::Newest);
    }

    /// Uses cached data, unless the server has already sent its own.
    pub(crate) fn use_cache(
        &self,
        CachedList {
            era,
            description,
            tools,
            ..
        }: CachedList,
    ) {
        if self.is_listed() {
            return;
        }
        self.era.lock().get_or_insert(era);
        self.publish(
            self.entry(description, listing::check(tools).tools),
            Precedence::KnownFirst,
        );
    }

    /// Records a failed listing. A known list stays.
    pub(crate) fn list_failed(&self, error: UpstreamError) {
        self.stats.note_check();
        self.stats.record_error(&error);
        self.listing.send_if_modified(|listed| {
            if matches!(listed.outcome, ListOutcome::Known) {
                return false;
            }
            *listed = ListState {
                generation: listed.generation + 1,
                outcome: ListOutcome::Failed(error),
            };
            true
        });
    }

    /// Whether the list is known, from the server or the cache.
    pub(crate) fn is_listed(&self) -> bool {
        matches!(self.listing.borrow().outcome, ListOutcome::Known)
    }

    pub(crate) fn has_list_failed(&self) -> bool {
        matches!(self.listing.borrow().outcome, ListOutcome::Failed(_))
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

    /// Puts the list into the snapshot of all servers. An unchanged list wakes no receiver.
    fn publish(&self, server: ServerTools, precedence: Precedence) {
        let mut is_outdated = false;
        self.all_tools.send_if_modified(|all| {
            let Some(known) = all.get(self.raw_index()) else {
                return false;
            };
            is_outdated = precedence == Precedence::KnownFirst && known.tools.is_some();
            if is_outdated || *known == server {
                return false;
            }
            if let Some(entry) = Arc::make_mut(all).get_mut(self.raw_index()) {
                *entry = server;
            }
            true
        });
        if is_outdated {
            return;
        }
        self.wake();
        self.listing.send_modify(|listed| {
            *listed = ListState {
                generation: listed.generation + 1,
                outcome: ListOutcome::Known,
            };
        });
    }
}

impl ToolDefinitions for ServerShared {
    fn tool(&self, name: &str) -> Option<Arc<Tool>> {
        let all = self.all_tools.borrow();
        let tools = all.get(self.raw_index())?.tools.as_ref()?;
        tools.iter().find(|tool| tool.name == name).map(Arc::clone)
    }
}

fn max_calls(config: &ServerConfig) -> u32 {
    config.max_calls.map_or(DEFAULT_MAX_CALLS, NonZeroU32::get)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use upstream_wire::{Environment, Http, Pause, Stdio, Transport};

    use super::*;
    use crate::concurrency::MAX_HOLD;

    fn shared(config: ServerConfig) -> ServerShared {
        let connector = Connector {
            server: config.name.clone(),
            transport: config.transport.clone(),
            secrets: config.secrets.clone(),
            environment: Arc::new(Environment::of_this_process()),
            supervisor: Arc::from([]),
            control_groups: Arc::default(),
            log: None,
            logins: None,
            client: Arc::default(),
            pause: Pause::default(),
        };
        let starts = Arc::new(ConcurrencyLimit::new(1, MAX_HOLD));
        let all_tools = watch::channel(Arc::default()).0;
        let shared = ServerShared::new(config, connector, None, starts, all_tools, Arc::default());
        shared.all_tools.send_replace(Arc::new(vec![shared.unlisted()]));
        shared.set_index(Some(0));
        shared
    }

    #[test]
    fn an_idle_process_stops_unless_the_time_is_zero() {
        let check = |transport: Transport, idle_stop: Option<u64>, expected: Option<Duration>| {
            let shared = shared(ServerConfig {
                transport,
                idle_stop: idle_stop.map(Duration::from_secs),
                ..ServerConfig::default()
            });
            assert_eq!(shared.idle_stop(), expected);
        };
        let process = || Transport::Stdio(Stdio::default());
        check(process(), None, Some(DEFAULT_IDLE_STOP));
        check(process(), Some(7), Some(Duration::from_secs(7)));
        check(process(), Some(0), None);
        check(Transport::Http(Http::default()), Some(7), None);
    }

    #[test]
    fn a_cached_list_gives_way_to_that_of_the_server() {
        let shared = shared(ServerConfig::default());
        let list = |name: &str| {
            let definition = format!("{{\"name\":\"{name}\",\"inputSchema\":{{}}}}");
            let raw = RawValue::from_string(definition).expect("JSON");
            shared.entry(None, listing::check(vec![raw]).tools)
        };
        let known = || shared.all_tools.borrow()[0].clone();
        shared.publish(list("old"), Precedence::KnownFirst);
        assert_eq!(known(), list("old"));
        shared.publish(list("new"), Precedence::Newest);
        let generation = shared.listing.borrow().generation;
        shared.publish(list("old"), Precedence::KnownFirst);
        assert_eq!(known(), list("new"));
        assert_eq!(shared.listing.borrow().generation, generation);
    }
}

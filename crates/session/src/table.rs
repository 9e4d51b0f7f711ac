//! The state of sessions and their queues: no I/O, no clock, no tasks.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use types::{Language, Limit, Outcome, Principal, SessionFate, SessionName, Status};

use crate::names::mint_session;
use crate::quota::QuotaPlace;
use crate::sessions::{IdleSession, OpenSession, SessionsConfig};

/// Maximum ended sessions per principal with a stored notice.
const MAX_REMEMBERED: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) principal: Principal,
    pub(crate) language: Language,
    pub(crate) name: SessionName,
}

/// Why the session's variables are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LossReason {
    TimedOut,
    Limit(Limit),
    Cancelled,
    /// The guest ended during a run; holds its own message.
    Failed(String),
    Died,
    /// Threads of an earlier run remain, and the next run may reach more servers than that run.
    Threads,
    /// The session was idle for this time.
    Idle(Duration),
    /// The session made room for another session.
    Room,
    /// Idle sessions together exceeded this number of bytes.
    Memory(u64),
    /// The process that ran the session has ended, or another process took over.
    Moved,
    /// The session's driver failed.
    Inside,
}

/// Signals to and from a driver.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    /// The queue may have a run.
    pub(crate) wake: Notify,
    /// Asks the session to end.
    pub(crate) stop: CancellationToken,
    /// Triggered when the driver and its guest have ended.
    pub(crate) ended: CancellationToken,
}

/// Identifies a driver; several drivers may have served one session name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DriverId(u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// All sessions. `J` is one run.
pub(crate) struct Table<J> {
    config: SessionsConfig,
    sessions: HashMap<Key, Session<J>>,
    ended: HashMap<Principal, VecDeque<(Key, LossReason)>>,
    numbers: u64,
    closing: bool,
}

struct Session<J> {
    driver: DriverId,
    contact: Arc<Contact>,
    state: SessionState,
    queue: VecDeque<(Ticket, J)>,
    /// Why the last life ended, until a run's result has reported it.
    notice: Option<LossReason>,
    opened: Instant,
    used: Instant,
    /// Bytes, while the session is idle.
    memory: u64,
    /// Place in a quota, released when the session leaves the table.
    _place: Option<QuotaPlace>,
}

/// See the diagram of the crate. Closed sessions are not in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionState {
    /// No guest yet, and no loss.
    Opening,
    /// A run is active, or its guest is being launched.
    Running,
    /// The guest waits for a run.
    Idle,
    Lost,
}

#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) ticket: Ticket,
    pub(crate) contact: Arc<Contact>,
    /// The driver to start, if the session is new.
    pub(crate) start: Option<DriverId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    QueueFull {
        waiting: usize,
    },
    TooManySessions {
        open: usize,
    },
    /// The limit on sessions of all principals is reached.
    TooManySessionsOfAll {
        open: usize,
    },
    Closing,
}

#[derive(Debug)]
pub(crate) enum Next<J> {
    Run(J),
    /// Wait until this time, unless woken.
    Wait(Instant),
    Stop,
}

// === impl Table ===

impl<J> Table<J> {
    pub(crate) fn new(config: SessionsConfig) -> Self {
        Self {
            config,
            sessions: HashMap::new(),
            ended: HashMap::new(),
            numbers: 0,
            closing: false,
        }
    }

    /// A new name that this principal has not used recently.
    pub(crate) fn mint(&self, principal: &Principal, language: Language) -> SessionName {
        mint_session(|name| {
            let key = Key {
                principal: principal.clone(),
                language,
                name: name.clone(),
            };
            let ended = self
                .ended
                .get(principal)
                .is_some_and(|ended| ended.iter().any(|(known, _)| *known == key));
            ended || self.sessions.contains_key(&key)
        })
    }

    /// Whether a run of this session would be accepted now; makes room for a new session.
    pub(crate) fn admit(&mut self, key: &Key) -> Result<(), Refusal> {
        if self.closing {
            return Err(Refusal::Closing);
        }
        match self.sessions.get(key) {
            Some(session) if session.queue.len() >= self.config.max_queue => Err(Refusal::QueueFull {
                waiting: session.queue.len(),
            }),
            Some(_) => Ok(()),
            None => self.make_room(&key.principal),
        }
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        self.sessions.contains_key(key)
    }

    /// Queues a run; `place` is for a session that is not open yet.
    pub(crate) fn enqueue(&mut self, key: &Key, job: J, now: Instant, place: Option<QuotaPlace>) -> Accepted {
        let ticket = Ticket(self.number());
        if let Some(session) = self.sessions.get_mut(key) {
            session.queue.push_back((ticket, job));
            return Accepted {
                ticket,
                contact: session.contact.clone(),
                start: None,
            };
        }
        let driver = DriverId(self.number());
        let contact = Arc::new(Contact::default());
        let notice = self.recall(key);
        let session = Session {
            driver,
            contact: contact.clone(),
            state: if notice.is_some() {
                SessionState::Lost
            } else {
                SessionState::Opening
            },
            queue: VecDeque::from([(ticket, job)]),
            notice,
            opened: now,
            used: now,
            memory: 0,
            _place: place,
        };
        self.sessions.insert(key.clone(), session);
        Accepted {
            ticket,
            contact,
            start: Some(driver),
        }
    }

    /// Removes a run from the queue; `None` if the run no longer waits.
    pub(crate) fn withdraw(&mut self, key: &Key, ticket: Ticket) -> Option<J> {
        let queue = &mut self.sessions.get_mut(key)?.queue;
        let at = queue.iter().position(|(known, _)| *known == ticket)?;
        queue.remove(at).map(|(_, job)| job)
    }

    /// The driver's next step. A session unused for too long ends here.
    pub(crate) fn next(&mut self, key: &Key, driver: DriverId, now: Instant) -> Next<J> {
        let idle_time = self.config.idle_time;
        let Some(session) = self.session(key, driver) else {
            return Next::Stop;
        };
        if let Some((_, job)) = session.queue.pop_front() {
            session.state = SessionState::Running;
            session.memory = 0;
            return Next::Run(job);
        }
        let until = session.used + idle_time;
        if now < until {
            return Next::Wait(until);
        }
        self.end(key, driver, LossReason::Idle(idle_time));
        Next::Stop
    }

    /// The loss that the session's next result must report; returns the loss once.
    pub(crate) fn take_notice(&mut self, key: &Key, driver: DriverId) -> Option<LossReason> {
        self.session(key, driver)?.notice.take()
    }

    /// Restores a loss whose result reached no caller.
    pub(crate) fn restore_notice(&mut self, key: &Key, driver: DriverId, why: LossReason) {
        if let Some(session) = self.session(key, driver) {
            session.notice.get_or_insert(why);
        }
    }

    /// The run from [`Table::next`] ended, or did not start because no guest was available.
    pub(crate) fn finished(&mut self, key: &Key, driver: DriverId, ended: TurnEnd, now: Instant) {
        let Some(session) = self.session(key, driver) else {
            return;
        };
        session.used = now;
        session.state = match ended {
            TurnEnd::Kept => SessionState::Idle,
            TurnEnd::Lost(why) => {
                session.notice = Some(why);
                SessionState::Lost
            }
            TurnEnd::NoGuest if session.notice.is_some() => SessionState::Lost,
            TurnEnd::NoGuest => SessionState::Opening,
        };
    }

    /// Records the memory of an idle session; closes the principal's least recently used sessions until the rest is
    /// within its limit.
    pub(crate) fn settled(&mut self, key: &Key, driver: DriverId, memory: u64) {
        let Some(session) = self.session(key, driver) else {
            return;
        };
        session.memory = memory;
        loop {
            let own = || {
                let is_idle =
                    |session: &Session<J>| session.state == SessionState::Idle && session.queue.is_empty();
                let sessions = self.sessions.iter();
                sessions.filter(move |(other, session)| other.principal == key.principal && is_idle(session))
            };
            if own().map(|(_, session)| session.memory).sum::<u64>() <= self.config.idle_memory {
                return;
            }
            let oldest = own().min_by_key(|(_, session)| (session.used, session.driver));
            let Some((oldest, driver)) = oldest.map(|(key, session)| (key.clone(), session.driver)) else {
                return;
            };
            self.end(&oldest, driver, LossReason::Memory(self.config.idle_memory));
        }
    }

    pub(crate) fn open(&self) -> usize {
        self.sessions.len()
    }

    pub(crate) fn idle(&self) -> Vec<IdleSession> {
        let idle = self
            .sessions
            .iter()
            .filter(|(_, session)| session.state == SessionState::Idle && session.memory > 0);
        let told = idle.map(|(key, session)| IdleSession {
            principal: key.principal.clone(),
            session: key.name.clone(),
            memory: session.memory,
        });
        told.collect()
    }

    pub(crate) fn listed(&self) -> Vec<OpenSession> {
        let listed = self.sessions.iter().map(|(key, session)| OpenSession {
            principal: key.principal.clone(),
            language: key.language,
            session: key.name.clone(),
            opened: session.opened,
            used: session.used,
        });
        listed.collect()
    }

    /// The guest of a session ended outside of a run.
    pub(crate) fn died(&mut self, key: &Key, driver: DriverId, why: LossReason) {
        if let Some(session) = self.session(key, driver) {
            if session.state == SessionState::Idle {
                session.state = SessionState::Lost;
            }
            session.notice = Some(why);
        }
    }

    /// Ends a session permanently and remembers why; returns its waiting runs.
    pub(crate) fn end(&mut self, key: &Key, driver: DriverId, why: LossReason) -> Vec<J> {
        if self.session(key, driver).is_none() {
            return Vec::new();
        }
        let Some(session) = self.sessions.remove(key) else {
            return Vec::new();
        };
        // A session without a guest has nothing to lose, except an unreported loss.
        let had_guest = matches!(session.state, SessionState::Idle | SessionState::Running);
        if let Some(why) = session.notice.or_else(|| had_guest.then_some(why)) {
            self.remember(key.clone(), why);
        }
        session.contact.stop.cancel();
        session.queue.into_iter().map(|(_, job)| job).collect()
    }

    /// Accepts no more runs and stops every driver; returns the waiting runs.
    pub(crate) fn close(&mut self) -> Vec<J> {
        self.closing = true;
        let mut waiting = Vec::new();
        for session in self.sessions.values_mut() {
            waiting.extend(session.queue.drain(..).map(|(_, job)| job));
            session.contact.stop.cancel();
        }
        waiting
    }

    /// Removes all sessions of a principal and asks their drivers to end. Returns the queued runs and the drivers.
    pub(crate) fn dismiss(&mut self, principal: &Principal) -> (Vec<J>, Vec<Arc<Contact>>) {
        self.ended.remove(principal);
        let theirs = self.sessions.extract_if(|key, _| key.principal == *principal);
        let (mut waiting, mut drivers) = (Vec::new(), Vec::new());
        for (_, session) in theirs {
            session.contact.stop.cancel();
            waiting.extend(session.queue.into_iter().map(|(_, job)| job));
            drivers.push(session.contact);
        }
        (waiting, drivers)
    }

    fn session(&mut self, key: &Key, driver: DriverId) -> Option<&mut Session<J>> {
        self.sessions
            .get_mut(key)
            .filter(|session| session.driver == driver)
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Ends the principal's least recently used session if it has as many as allowed.
    fn make_room(&mut self, principal: &Principal) -> Result<(), Refusal> {
        let own = self.sessions.keys().filter(|key| key.principal == *principal);
        let open = own.count();
        if open < self.config.max_sessions {
            return Ok(());
        }
        match self.end_oldest(Some(principal)) {
            true => Ok(()),
            false => Err(Refusal::TooManySessions { open }),
        }
    }

    /// Last use of the least recently used session without runs.
    pub(crate) fn oldest_use(&self, of: Option<&Principal>) -> Option<Instant> {
        self.oldest_free(of).map(|(_, session)| session.used)
    }

    /// Ends the least recently used session without runs to make room; `false` if every session has runs.
    pub(crate) fn end_oldest(&mut self, of: Option<&Principal>) -> bool {
        let oldest = self
            .oldest_free(of)
            .map(|(key, session)| (key.clone(), session.driver));
        let Some((key, driver)) = oldest else {
            return false;
        };
        self.end(&key, driver, LossReason::Room);
        true
    }

    fn oldest_free(&self, of: Option<&Principal>) -> Option<(&Key, &Session<J>)> {
        let free = self.sessions.iter().filter(|(key, session)| {
            session.is_free() && of.is_none_or(|principal| key.principal == *principal)
        });
        free.min_by_key(|(_, session)| (session.used, session.driver))
    }

    /// Makes the next run of a session report a loss, unless the session is open.
    pub(crate) fn report_lost(&mut self, key: Key, why: LossReason) {
        if !self.sessions.contains_key(&key) {
            self.remember(key, why);
        }
    }

    fn remember(&mut self, key: Key, why: LossReason) {
        let ended = self.ended.entry(key.principal.clone()).or_default();
        ended.retain(|(known, _)| *known != key);
        if ended.len() >= MAX_REMEMBERED {
            ended.pop_front();
        }
        ended.push_back((key, why));
    }

    fn recall(&mut self, key: &Key) -> Option<LossReason> {
        let ended = self.ended.get_mut(&key.principal)?;
        let at = ended.iter().position(|(known, _)| known == key)?;
        let found = ended.remove(at);
        if ended.is_empty() {
            self.ended.remove(&key.principal);
        }
        found.map(|(_, why)| why)
    }

    #[cfg(test)]
    pub(crate) fn state(&self, key: &Key) -> Option<SessionState> {
        self.sessions.get(key).map(|session| session.state)
    }
}

// === impl Session ===

impl<J> Session<J> {
    /// Whether no run uses or awaits the session.
    fn is_free(&self) -> bool {
        self.state != SessionState::Running && self.queue.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// The guest waits for the next run.
    Kept,
    Lost(LossReason),
    /// There was no guest: the launch failed or was cancelled.
    NoGuest,
}

// === impl LossReason ===

impl LossReason {
    /// The name in records.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            LossReason::TimedOut => "timed_out",
            LossReason::Limit(_) => "limit_exceeded",
            LossReason::Cancelled => "cancelled",
            LossReason::Failed(_) => "failed",
            LossReason::Died => "died",
            LossReason::Threads => "threads",
            LossReason::Idle(_) => "idle",
            LossReason::Room => "room",
            LossReason::Memory(_) => "memory",
            LossReason::Moved => "moved",
            LossReason::Inside => "inside",
        }
    }
}

// === impl TurnEnd ===

impl TurnEnd {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome.session {
            SessionFate::Kept => TurnEnd::Kept,
            SessionFate::Lost => TurnEnd::Lost(match outcome.status {
                Status::TimedOut => LossReason::TimedOut,
                Status::LimitExceeded { limit } => LossReason::Limit(limit),
                Status::Cancelled => LossReason::Cancelled,
                Status::Completed | Status::Failed | Status::Refused => LossReason::Failed(
                    outcome
                        .error
                        .as_ref()
                        .map_or_else(String::new, |error| error.message.clone()),
                ),
            }),
        }
    }
}

// === impl LossReason ===

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LossReason::TimedOut => f.write_str("a run was stopped at its time limit and did not end by itself"),
            LossReason::Limit(limit) => write!(f, "a run exceeded the limit {limit}"),
            LossReason::Cancelled => f.write_str("a run was cancelled and did not end by itself"),
            LossReason::Failed(message) if message.is_empty() => f.write_str("its process ended during a run"),
            LossReason::Failed(message) => write!(f, "its process ended during a run: {message}"),
            LossReason::Died => f.write_str("its process ended between runs"),
            LossReason::Threads => f.write_str(
                "session: lost (threads): an earlier run with fewer servers had left threads, which would have \
                 reached the servers of this run",
            ),
            LossReason::Idle(time) => write!(f, "it was closed after {} idle", shown(*time)),
            LossReason::Room => f.write_str("it was closed after idle time to make room for another session"),
            LossReason::Memory(most) => write!(
                f,
                "it was closed while idle: idle sessions held more than {} MiB of memory together",
                most >> 20
            ),
            LossReason::Moved => f.write_str("the process of codeyard that ran it has ended"),
            LossReason::Inside => f.write_str("codeyard failed inside"),
        }
    }
}

fn shown(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 120 => format!("{} minutes", seconds / 60),
        seconds => format!("{seconds} seconds"),
    }
}

#[cfg(test)]
mod tests;

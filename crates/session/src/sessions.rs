//! All sessions of one process: the entry point of runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join_all;
use sandbox::Backend;
use store::RunRecord;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use types::{Language, Principal, Selector, SessionName};

use crate::check::Check;
use crate::driver::{Driver, Job, cancelled};
use crate::files::Files;
use crate::names::default_name;
use crate::quota::{Full, QuotaMember, QuotaPlace, SessionQuota};
use crate::request::{RunRequest, RunResult, SessionError};
use crate::table::{Accepted, Key, LossReason, Refusal, Table, Ticket};

/// Deadline for the end of all guests when the host ends.
const CLOSING: Duration = Duration::from_secs(8);

type PendingResult = oneshot::Receiver<Result<RunResult, SessionError>>;

/// Limits on the sessions of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionsConfig {
    /// Open sessions per principal; above it, the least recently used session is closed.
    pub max_sessions: usize,
    /// Waiting runs per session.
    pub max_queue: usize,
    /// Time without use after which a session is closed.
    pub idle_time: Duration,
    /// Bytes of memory of a principal's idle sessions together; above it, the least recently used session is closed.
    pub idle_memory: u64,
    /// Longest wait for a new guest.
    pub launch_time: Duration,
}

/// A session that waits for its next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleSession {
    /// The session's owner.
    pub principal: Principal,
    /// Name of the session.
    pub session: SessionName,
    /// Bytes of memory.
    pub memory: u64,
}

/// A session of the table, busy or idle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSession {
    /// The session's owner.
    pub principal: Principal,
    /// Language of its programs.
    pub language: Language,
    /// Name of the session.
    pub session: SessionName,
    /// Time of the first request.
    pub opened: Instant,
    /// Time of the last request or of the end of its run.
    pub used: Instant,
}

/// Current and total counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Open sessions now.
    pub open: usize,
    /// Accepted runs since the start.
    pub runs: u64,
}

/// All sessions of one process. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    shared: Arc<SharedSessions>,
}

pub(crate) struct SharedSessions {
    table: Mutex<Table<Job>>,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) files: Arc<dyn Files>,
    pub(crate) check: Arc<dyn Check>,
    pub(crate) config: SessionsConfig,
    quota: Option<SessionQuota>,
    lives: AtomicU64,
    runs: AtomicU64,
    tasks: TaskTracker,
    /// Ends drivers that did not stop on request.
    abort: CancellationToken,
}

// === impl SessionsConfig ===

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            // An idle session costs a few megabytes, so this limit catches mistakes, not normal use.
            max_sessions: 64,
            // A client that queues more runs is out of control.
            max_queue: 64,
            idle_time: Duration::from_secs(30 * 60),
            idle_memory: 2 << 30,
            // Far above any successful launch, even on a machine under load.
            launch_time: Duration::from_secs(30),
        }
    }
}

// === impl Sessions ===

impl Sessions {
    /// Prepares sessions on this backend, within a shared quota if given; starts nothing.
    pub fn new(
        backend: Arc<dyn Backend>,
        files: Arc<dyn Files>,
        check: Arc<dyn Check>,
        config: SessionsConfig,
        quota: Option<SessionQuota>,
    ) -> Sessions {
        let sessions = Sessions {
            shared: Arc::new(SharedSessions {
                table: Mutex::new(Table::new(config.clone())),
                backend,
                files,
                check,
                config,
                quota,
                lives: AtomicU64::new(0),
                runs: AtomicU64::new(0),
                tasks: TaskTracker::new(),
                abort: CancellationToken::new(),
            }),
        };
        if let Some(quota) = &sessions.shared.quota {
            let member: Weak<SharedSessions> = Arc::downgrade(&sessions.shared);
            quota.add(member);
        }
        sessions
    }

    /// Runs one program when its turn comes. Dropping the future cancels it.
    pub async fn run(&self, request: RunRequest) -> Result<RunResult, SessionError> {
        let run_id = request.record.run().clone();
        let cancel = request.cancel.clone();
        let (mut answer, place) = match self.shared.enqueue(request) {
            Ok(accepted) => accepted,
            Err(refused) => {
                let (error, record) = *refused;
                let recorded = record.refuse(error.refused()).await;
                return Err(recorded.map_or_else(SessionError::NotRecorded, |()| error));
            }
        };
        let session = place.key.name.clone();
        let answered = tokio::select! {
            biased;
            answered = &mut answer => answered,
            () = cancel.cancelled() => {
                if let Some(job) = place.withdraw() {
                    let outcome = cancelled();
                    let recorded = job.request.record.ended(&outcome, None).await;
                    recorded.map_err(SessionError::EndNotRecorded)?;
                    return Ok(RunResult {
                        run_id,
                        session,
                        outcome,
                        findings: Vec::new(),
                        notice: None,
                        keeps_files: true,
                    });
                }
                // The run has begun: the guest is being interrupted, and its outcome will arrive.
                answer.await
            }
        };
        answered.unwrap_or(Err(SessionError::Failed { session }))
    }

    /// The idle sessions and their memory, unordered. A session appears shortly after its run.
    pub fn idle(&self) -> Vec<IdleSession> {
        self.shared.table().idle()
    }

    /// The open sessions, unordered.
    pub fn list(&self) -> Vec<OpenSession> {
        self.shared.table().listed()
    }

    /// Counts for people.
    pub fn figures(&self) -> Figures {
        Figures {
            open: self.shared.table().open(),
            runs: self.shared.runs.load(Ordering::Relaxed),
        }
    }

    /// Makes the next run of a session report lost variables, because the process that ran the session has ended.
    pub fn report_lost(&self, principal: &Principal, language: Language, name: SessionName) {
        let key = Key {
            principal: principal.clone(),
            language,
            name,
        };
        self.shared.table().report_lost(key, LossReason::Moved);
    }

    /// Ends the sessions of a principal who loses access: cancels active runs and refuses queued runs. Returns when the
    /// guests have ended, or after 8 s.
    pub async fn dismiss(&self, principal: &Principal) {
        self.end_all_of(principal, || SessionError::Dismissed).await;
    }

    /// Ends the sessions of a principal whose sessions another process runs from now on.
    pub async fn hand_over(&self, principal: &Principal) {
        self.end_all_of(principal, || SessionError::Moved).await;
    }

    async fn end_all_of(&self, principal: &Principal, why: impl Fn() -> SessionError) {
        let (waiting, drivers) = self.shared.table().dismiss(principal);
        for job in waiting {
            job.refuse(why());
        }
        let ended = join_all(drivers.iter().map(|driver| driver.ended.cancelled()));
        if tokio::time::timeout(CLOSING, ended).await.is_err() {
            tracing::warn!(%principal, "sessions of a principal did not end in time");
        }
    }

    /// Ends every session: cancels active runs and ends guests. Returns within a few seconds.
    pub async fn close(&self) {
        for job in self.shared.table().close() {
            job.refuse(SessionError::Closing);
        }
        self.shared.tasks.close();
        if tokio::time::timeout(CLOSING, self.shared.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("sessions did not end in time; their processes are killed");
            self.shared.abort.cancel();
            self.shared.tasks.wait().await;
        }
    }
}

// === impl SharedSessions ===

impl SharedSessions {
    /// The table. Never held across a wait.
    pub(crate) fn table(&self) -> MutexGuard<'_, Table<Job>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that is unique among the guests of this process.
    pub(crate) fn next_life(&self) -> u64 {
        self.lives.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Locks the table to queue a run of this session. Also returns a place in the quota for a new session.
    fn admit(&self, key: &Key) -> Result<(MutexGuard<'_, Table<Job>>, Option<QuotaPlace>), Refusal> {
        let Some(quota) = &self.quota else {
            let mut table = self.table();
            table.admit(key)?;
            return Ok((table, None));
        };
        loop {
            let is_open = self.table().has(key);
            let place = match is_open {
                true => None,
                false => Some(quota.place(&key.principal)?),
            };
            let mut table = self.table();
            table.admit(key)?;
            // The session may have opened or ended meanwhile.
            match table.has(key) {
                true => return Ok((table, None)),
                false if place.is_some() => return Ok((table, place)),
                false => {}
            }
        }
    }

    fn enqueue(
        self: &Arc<Self>,
        mut request: RunRequest,
    ) -> Result<(PendingResult, QueueGuard), Box<(SessionError, RunRecord)>> {
        let (reply, answer) = oneshot::channel();
        let name = match &request.spec.session {
            Selector::Default => default_name(),
            Selector::Named(name) => name.clone(),
            Selector::New => self.table().mint(&request.principal, request.spec.language),
        };
        let key = Key {
            principal: request.principal.clone(),
            language: request.spec.language,
            name,
        };
        let (mut table, own_place) = match self.admit(&key) {
            Ok(admitted) => admitted,
            Err(refusal) => return Err(Box::new((refused(refusal, &key), request.record))),
        };
        request.record.accepted(Some(&key.name));
        self.runs.fetch_add(1, Ordering::Relaxed);
        let job = Job { request, reply };
        let Accepted {
            ticket,
            contact,
            start,
        } = table.enqueue(&key, job, Instant::now(), own_place);
        drop(table);
        match start {
            Some(id) => {
                let ended = contact.ended.clone();
                let driver = Driver::new(self.clone(), key.clone(), id, contact);
                let abort = self.abort.clone();
                self.tasks.spawn(async move {
                    // Dropping the driver drops the guest, which ends its processes.
                    abort.run_until_cancelled(driver.drive()).await;
                    ended.cancel();
                });
            }
            None => contact.wake.notify_one(),
        }
        let place = QueueGuard {
            shared: self.clone(),
            key,
            ticket,
        };
        Ok((answer, place))
    }
}

impl QuotaMember for SharedSessions {
    fn oldest_use(&self, of: Option<&Principal>) -> Option<Instant> {
        self.table().oldest_use(of)
    }

    fn end_oldest(&self, of: Option<&Principal>) -> bool {
        self.table().end_oldest(of)
    }
}

fn refused(refusal: Refusal, key: &Key) -> SessionError {
    match refusal {
        Refusal::QueueFull { waiting } => SessionError::QueueFull {
            session: key.name.clone(),
            waiting,
        },
        Refusal::TooManySessions { open } => SessionError::TooManySessions { open },
        Refusal::TooManySessionsOfAll { open } => SessionError::TooManySessionsOfAll { open },
        Refusal::Closing => SessionError::Closing,
    }
}

impl From<Full> for Refusal {
    fn from(full: Full) -> Refusal {
        match full {
            Full::OfPrincipal(open) => Refusal::TooManySessions { open },
            Full::OfAll(open) => Refusal::TooManySessionsOfAll { open },
        }
    }
}

/// The place of a run in its session's queue. Dropping the guard removes the run from the queue.
struct QueueGuard {
    shared: Arc<SharedSessions>,
    key: Key,
    ticket: Ticket,
}

// === impl QueueGuard ===

impl QueueGuard {
    /// Removes the run from the queue; `None` if the run has already started.
    fn withdraw(&self) -> Option<Job> {
        self.shared.table().withdraw(&self.key, self.ticket)
    }
}

impl Drop for QueueGuard {
    fn drop(&mut self) {
        self.withdraw();
    }
}

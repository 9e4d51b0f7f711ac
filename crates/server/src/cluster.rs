//! The processes that serve one database: which of them runs whose sessions.
//!
//! A process keeps a row alive. While it does, it runs the sessions whose leases it took, and other processes pass
//! requests for them on. `store` has the SQL and `gateway` the transport.

mod held;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use session::Sessions;
use store::SessionLeases;
use store::Trouble;
use store::accounts::Moment;
use store::session_leases::{GatewayProcess, LeaseKey, LeaseTaken};
use tokio::sync::Notify;
use tokio::time::Instant;
use types::{Language, Principal, ServerId, SessionName};

use self::held::{HeldLeases, NewNote};

/// Time after which the leases of a process that does not renew them are free.
const LEASE: Duration = Duration::from_secs(6);

/// Interval of renewals: two may fail.
const RENEW_EVERY: Duration = Duration::from_secs(2);

/// Time without a request after which a lease without sessions is given back; longer than clients' sessions of MCP.
const UNUSED: Duration = Duration::from_secs(31 * 60);

/// This process among those on its database.
#[derive(Debug)]
pub struct Cluster {
    leases: SessionLeases,
    process: GatewayProcess,
    held: Mutex<HeldLeases>,
    /// Wakes the requests that came while this process was not renewed.
    renewal: Notify,
    /// Held while a lease is taken or given back.
    changing: tokio::sync::Mutex<()>,
}

/// Whose sessions run where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    Here,
    /// Here from now on; the variables of these sessions are lost.
    Inherited(Vec<(Language, SessionName)>),
    Elsewhere(GatewayProcess),
}

/// Why this process cannot take part, or cannot tell who has a lease.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] Trouble),
    /// The process could not renew its row in time.
    #[error("the database has not answered for {} s", LEASE.as_secs())]
    NotRenewed,
    /// The operating system has no random numbers.
    #[error("no id could be made for this process: {0}")]
    NoId(#[from] getrandom::Error),
}

// === impl Cluster ===

impl Cluster {
    /// A process that others reach at this address.
    ///
    /// # Errors
    /// If no id can be made.
    pub fn new(database: &store::Database, url: &str) -> Result<Cluster, ClusterError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)?;
        Ok(Cluster {
            leases: SessionLeases::new(database.clone()),
            process: GatewayProcess {
                id: hex::encode(id),
                url: url.trim_end_matches('/').to_owned(),
            },
            held: Mutex::default(),
            renewal: Notify::new(),
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// Joins the others.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn join(&self) -> Result<(), ClusterError> {
        self.leases.purge(Moment::Database).await?;
        self.renew().await.map(drop)
    }

    /// Ends the leases. Their sessions must have ended.
    pub(crate) async fn leave(&self) {
        if let Err(trouble) = self.leases.end(&self.process.id, Moment::Database).await {
            tracing::warn!(%trouble, "the leases of this process end by themselves within {} s", LEASE.as_secs());
        }
        self.leases.close().await;
    }

    /// Renews this process's row. Returns the leases that another process has taken over.
    async fn renew(&self) -> Result<Vec<LeaseKey>, ClusterError> {
        let begun = Instant::now();
        let kept = self.leases.renew(&self.process, LEASE, Moment::Database).await?;
        let lost = self.held().renewed(begun, LEASE, &kept);
        self.renewal.notify_waiters();
        Ok(lost)
    }

    /// Renews after an interval. Returns the leases that are lost.
    pub(crate) async fn next_renewal(&self) -> Vec<LeaseKey> {
        tokio::time::sleep(RENEW_EVERY).await;
        match self.renew().await {
            Ok(lost) => lost,
            Err(error) => {
                tracing::warn!(%error, "the leases of this process could not be renewed");
                Vec::new()
            }
        }
    }

    /// After an interval, gives back the leases that are unused, except those with sessions.
    pub(crate) async fn release_unused(&self, has_sessions: impl Fn(&LeaseKey) -> bool) {
        tokio::time::sleep(RENEW_EVERY).await;
        loop {
            // Nobody may take the lease again before its row is gone.
            let _changing = self.changing.lock().await;
            let unused = self.held().take_unused(Instant::now(), UNUSED, &has_sessions);
            let Some(key) = unused else { return };
            if let Err(trouble) = self.leases.release(&key, &self.process.id).await {
                tracing::warn!(%trouble, "a lease could not be given back");
            }
        }
    }

    /// Takes the lease of these sessions, unless another process has it. `gone` did not answer.
    pub(crate) async fn place(&self, key: &LeaseKey, gone: Option<&str>) -> Result<Placed, ClusterError> {
        self.wait_until_renewed().await?;
        if self.held().find(key, Instant::now()) {
            return Ok(Placed::Here);
        }
        // The cache keeps requests for other processes from queueing for the database connection.
        if gone.is_none()
            && let Some(process) = self.held().seen_elsewhere(key, Instant::now())
        {
            return Ok(Placed::Elsewhere(process));
        }
        let _changing = self.changing.lock().await;
        let asked = Instant::now();
        let taken = self
            .leases
            .take(key, &self.process.id, gone, Moment::Database)
            .await?;
        let placed = match taken {
            LeaseTaken::Elsewhere(process) => {
                self.held().saw(key, &process, asked);
                return Ok(Placed::Elsewhere(process));
            }
            LeaseTaken::Held => Placed::Here,
            LeaseTaken::TakenOver(sessions) => Placed::Inherited(sessions),
        };
        self.held().took(key, Instant::now());
        Ok(placed)
    }

    /// A process that was stopped for a while, as by a suspended machine, renews as soon as it goes on: requests that
    /// come sooner wait for it.
    async fn wait_until_renewed(&self) -> Result<(), ClusterError> {
        let until = Instant::now() + LEASE;
        loop {
            let renewal = self.renewal.notified();
            if self.held().is_renewed(Instant::now()) {
                return Ok(());
            }
            // An answer to a renewal that began before the process was stopped says nothing about now.
            let waited = tokio::time::timeout_at(until, renewal).await;
            waited.map_err(|_| ClusterError::NotRenewed)?;
        }
    }

    /// Notes a session that has run a program, so that its loss can be reported.
    pub(crate) async fn note_session(
        &self,
        server: &ServerId,
        principal: &Principal,
        language: Language,
        name: &SessionName,
    ) {
        let key = LeaseKey {
            server: server.clone(),
            principal: principal.clone(),
        };
        let Some(new) = self.held().note(&key, language, name) else {
            return;
        };
        let mut noted = self.leases.note_session(&key, language, name).await;
        if let NewNote::InPlaceOf(language, name) = &new
            && noted.is_ok()
        {
            noted = self.leases.forget_session(&key, *language, name).await;
        }
        if let Err(trouble) = noted {
            self.held().forget(&key, language, name);
            tracing::warn!(%trouble, "a session could not be noted; its next run tries again");
        }
    }

    /// The other live processes.
    pub(crate) async fn others(&self) -> Result<Vec<GatewayProcess>, ClusterError> {
        Ok(self.leases.others(&self.process.id, Moment::Database).await?)
    }

    fn held(&self) -> MutexGuard<'_, HeldLeases> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the sessions of a lease that was taken over report their loss.
pub(crate) fn inherit(sessions: &Sessions, principal: &Principal, lost: &[(Language, SessionName)]) {
    for (language, name) in lost {
        sessions.report_lost(principal, *language, name.clone());
    }
}

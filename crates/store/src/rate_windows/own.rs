//! Windows of a process with exclusive use of its database: counted in memory, and stored for the next start.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{RateDecision, Take};
use crate::accounts::Moment;
use crate::clock::now_ms;
use crate::connection::{Connection, Statement};
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;

/// Delay from a grant to its write, to write grants together. A killed process loses the grants of this time.
const WRITTEN_AFTER: Duration = Duration::from_millis(100);

/// Grants per statement; the number of values in a statement is limited.
const CHUNK: usize = 500;

/// Expired windows are evicted from memory after this many grants.
const PRUNED_AFTER: u32 = 1024;

#[derive(Debug)]
pub(super) struct OwnWindows {
    slot: Arc<ConnectionSlot>,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    windows: HashMap<String, Window>,
    unwritten: Vec<Grant>,
    grants: u32,
}

/// Times of grants in milliseconds since 1970, the oldest first.
#[derive(Debug, Default)]
struct Window {
    grants: VecDeque<i64>,
    /// Time until which the last grant counts.
    until_ms: i64,
}

#[derive(Debug)]
struct Grant {
    key: String,
    at_ms: i64,
    until_ms: i64,
}

// === impl OwnWindows ===

impl OwnWindows {
    pub(super) fn new(slot: Arc<ConnectionSlot>) -> OwnWindows {
        OwnWindows {
            slot,
            counted: Mutex::default(),
        }
    }

    pub(super) async fn take(self: &Arc<Self>, take: Take<'_>) -> Result<RateDecision, Trouble> {
        let now_ms = match take.now {
            // SQLite reads the same clock.
            Moment::Database => now_ms(),
            Moment::At(ms) => ms,
        };
        if !self.lock().windows.contains_key(take.key) {
            let stored = self.read(take.key, now_ms).await?;
            let mut counted = self.lock();
            // A concurrent request may have inserted the window first.
            counted.windows.entry(take.key.to_owned()).or_insert(stored);
        }
        let (taken, is_first) = self.lock().take(take, now_ms);
        if is_first {
            let own = Arc::clone(self);
            tokio::spawn(async move {
                tokio::time::sleep(WRITTEN_AFTER).await;
                own.write().await;
            });
        }
        Ok(taken)
    }

    /// Writes the pending grants.
    pub(super) async fn write(&self) {
        let unwritten = std::mem::take(&mut self.lock().unwritten);
        if unwritten.is_empty() {
            return;
        }
        let written = self
            .slot
            .write(async |connection| insert(connection, &unwritten).await);
        if let Err(trouble) = written.await {
            tracing::warn!(%trouble, "the latest rate-limit grants were not stored; this process still counts them");
        }
    }

    async fn read(&self, key: &str, now_ms: i64) -> Result<Window, Trouble> {
        let sql = "SELECT at_ms, until_ms FROM rate_grants WHERE key = $1 AND until_ms > $2 ORDER BY at_ms";
        let select = Statement::new(sql).bind(key).bind(now_ms);
        let read = self.slot.read(async |connection| {
            let mut window = Window::default();
            for row in connection.fetch_all(select).await? {
                window.grants.push_back(row.get("at_ms")?);
                window.until_ms = window.until_ms.max(row.get("until_ms")?);
            }
            Ok::<_, sqlx::Error>(window)
        });
        read.await
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Counted ===

impl Counted {
    /// The second value is true if this grant is the first pending grant.
    fn take(&mut self, take: Take<'_>, now_ms: i64) -> (RateDecision, bool) {
        let window = self.windows.entry(take.key.to_owned()).or_default();
        let taken = window.take(take, now_ms);
        if taken != RateDecision::Granted {
            return (taken, false);
        }
        let is_first = self.unwritten.is_empty();
        self.unwritten.push(Grant {
            key: take.key.to_owned(),
            at_ms: now_ms,
            until_ms: now_ms + take.window_ms,
        });
        self.grants += 1;
        if self.grants == PRUNED_AFTER {
            self.grants = 0;
            self.windows.retain(|_, window| window.until_ms > now_ms);
        }
        (taken, is_first)
    }
}

// === impl Window ===

impl Window {
    fn take(&mut self, take: Take<'_>, now_ms: i64) -> RateDecision {
        // The clock was set back. Without this, the grants would count until the clock reaches their times again.
        if self.grants.back().is_some_and(|last| *last > now_ms) {
            self.grants
                .iter_mut()
                .for_each(|at_ms| *at_ms = now_ms.min(*at_ms));
        }
        while self
            .grants
            .front()
            .is_some_and(|at_ms| *at_ms <= now_ms - take.window_ms)
        {
            self.grants.pop_front();
        }
        let most = usize::try_from(take.most).unwrap_or(usize::MAX);
        if self.grants.len() < most {
            self.grants.push_back(now_ms);
            self.until_ms = now_ms + take.window_ms;
            return RateDecision::Granted;
        }
        let oldest = self.grants[self.grants.len() - most];
        let wait_ms = (oldest + take.window_ms - now_ms).clamp(1, take.window_ms);
        RateDecision::Until(Duration::from_millis(wait_ms.unsigned_abs()))
    }
}

async fn insert(connection: &mut Connection, grants: &[Grant]) -> Result<(), sqlx::Error> {
    connection.begin_to_write().await?;
    for some in grants.chunks(CHUNK) {
        let mut insert = Statement::new("INSERT INTO rate_grants (key, at_ms, until_ms) ");
        insert.push_rows(some, |grant| {
            vec![
                grant.key.as_str().into(),
                grant.at_ms.into(),
                grant.until_ms.into(),
            ]
        });
        connection.execute(insert).await?;
    }
    if let Some(last) = grants.last() {
        let sql = "DELETE FROM rate_grants WHERE until_ms <= $1";
        connection.execute(Statement::new(sql).bind(last.at_ms)).await?;
    }
    connection.commit().await
}

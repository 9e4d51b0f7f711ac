//! Rate limits over sliding windows, exact over all processes on one database.
//!
//! Any window holds at most a given number of grants of a key. On Postgres, processes count in the database. On
//! SQLite, only one process grants, and it counts in memory.

mod own;
mod shared;

use std::sync::Arc;
use std::time::Duration;

use crate::accounts::Moment;
use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::Trouble;
use own::OwnWindows;

/// Counts grants of rate limits. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct RateWindows {
    slot: Arc<ConnectionSlot>,
    /// Windows in memory; `None` if other processes also grant.
    own: Option<Arc<OwnWindows>>,
}

/// A rate limit's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateDecision {
    /// The request is granted, and counts from now on.
    Granted,
    /// The request is refused. Retry after this time, which is at most the length of the window.
    Until(Duration),
}

/// One request for a grant, with times in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Take<'a> {
    key: &'a str,
    most: i64,
    window_ms: i64,
    now: Moment,
}

// === impl RateWindows ===

impl RateWindows {
    /// Rate windows in this database. Records may use the same database.
    pub fn new(database: Database) -> RateWindows {
        let is_own = database.file().is_some();
        let slot = Arc::new(ConnectionSlot::new(database, Tables::RateWindows));
        let own = is_own.then(|| Arc::new(OwnWindows::new(Arc::clone(&slot))));
        RateWindows { slot, own }
    }

    /// Requests one of a key's `most` grants per window, exact to a millisecond. A refused request does not count.
    /// Processes on several machines must pass [`Moment::Database`], their common clock. After that clock is set back,
    /// a request waits at most one window.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn take(
        &self,
        key: &str,
        most: u32,
        window: Duration,
        now: Moment,
    ) -> Result<RateDecision, Trouble> {
        if most == 0 {
            return Ok(RateDecision::Until(window));
        }
        let take = Take {
            key,
            most: most.into(),
            window_ms: i64::try_from(window.as_millis()).unwrap_or(i64::MAX).max(1),
            now,
        };
        match &self.own {
            Some(own) => own.take(take).await,
            None => {
                let taken = self.slot.write(async |connection| take.run(connection).await);
                taken.await
            }
        }
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        if let Some(own) = &self.own {
            own.write().await;
        }
        self.slot.close_soon().await;
    }
}

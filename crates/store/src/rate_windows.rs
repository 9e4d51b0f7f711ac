//! Rate limits over sliding windows, exact over all processes on one database.
//!
//! A key is granted at most so many times within any window. On Postgres, several processes count in the database. A
//! database of SQLite has one process that grants, which counts in memory.

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

/// Counts what rate limits grant. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct RateWindows {
    slot: Arc<ConnectionSlot>,
    /// `None` if other processes grant too.
    own: Option<Arc<OwnWindows>>,
}

/// Whether a rate limit grants one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It does, and this one counts from now on.
    Granted,
    /// Not before this time has passed; at most the length of the window.
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
    /// Rate windows in this database, which the records may share.
    pub fn new(database: Database) -> RateWindows {
        let is_own = database.file().is_some();
        let slot = Arc::new(ConnectionSlot::new(database, Tables::RateWindows));
        let own = is_own.then(|| Arc::new(OwnWindows::new(Arc::clone(&slot))));
        RateWindows { slot, own }
    }

    /// Takes one of the `most` grants of a key in each window, exact to a millisecond. A refused request does not
    /// count. Processes on several machines pass [`Moment::Database`], the clock that they share; when that clock is
    /// set back, nobody waits longer than a window.
    ///
    /// # Errors
    /// If the database cannot be written.
    pub async fn take(&self, key: &str, most: u32, window: Duration, now: Moment) -> Result<Taken, Trouble> {
        if most == 0 {
            return Ok(Taken::Until(window));
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

//! Counts the requests of upstream credentials in the store, over all processes on one database.

use std::time::Duration;

use store::RateWindows;
use store::accounts::Moment;
use store::rate_windows::RateDecision;
use upstream::{CallWindows, NotCounted, Taking};

#[derive(Debug)]
pub(crate) struct StoredWindows {
    windows: RateWindows,
}

// === impl StoredWindows ===

impl StoredWindows {
    pub(crate) fn new(windows: RateWindows) -> StoredWindows {
        StoredWindows { windows }
    }
}

impl CallWindows for StoredWindows {
    fn take<'a>(&'a self, key: &'a str, most: u32, window: Duration) -> Taking<'a> {
        Box::pin(async move {
            match self.windows.take(key, most, window, Moment::Database).await {
                Ok(RateDecision::Granted) => Ok(None),
                Ok(RateDecision::Until(wait)) => Ok(Some(wait)),
                Err(trouble) => {
                    tracing::warn!(%trouble, "a call of an upstream server could not be counted");
                    Err(NotCounted)
                }
            }
        })
    }
}

//! Observed shapes of tools' results.
//!
//! Processes merge their observations into one row per definition.

mod rows;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use types::Principal;

use crate::connection::Tables;
use crate::database::Database;
use crate::slot::ConnectionSlot;
use crate::trouble::{Trouble, TroubleKind};

pub(crate) use rows::held;

const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of definitions per tool and principal; the latest observed stay.
pub const DEFINITIONS: usize = 4;

/// Whether shapes are learned, and whether principals share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    /// Observe results.
    pub enabled: bool,
    /// Show every principal the shapes learned from all principals' calls.
    pub shared: bool,
    /// Database of the shapes; `None` keeps the shapes in memory.
    pub database: Option<Database>,
}

/// The subject of an observation: one definition of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// The caller; `None` if principals share learned shapes.
    pub principal: Option<Principal>,
    /// Name in the configuration.
    pub server: String,
    /// Name in the definition.
    pub tool: String,
    /// SHA-256 of the definition, in hexadecimal.
    pub definition: String,
}

/// The observed results of a [`Subject`].
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// JSON Schema of the results.
    pub shape: Value,
    /// Observed calls.
    pub calls: u64,
    /// Number of these calls that came after the last change of shape and did not repeat an earlier call.
    pub steady: u64,
}

/// A stored observation.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeView {
    /// The definition.
    pub subject: Subject,
    /// Its results.
    pub observed: Observed,
    /// First observed call, in milliseconds since 1970.
    pub first_ms: i64,
    /// Last observed call, in milliseconds since 1970.
    pub last_ms: i64,
}

/// All observations at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Everything {
    /// Number of earlier `forget` requests.
    pub forgotten: i64,
    /// Sorted by server, tool, principal and time.
    pub rows: Vec<ShapeView>,
}

/// Counters that show a change without reading the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// Number of `forget` requests.
    pub forgotten: i64,
    /// Number of rows.
    pub rows: i64,
    /// Sum of the calls of all rows.
    pub calls: i64,
}

/// Result of a merge.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// The observations are merged.
    Merged {
        /// Merged state of each subject.
        known: Vec<Observed>,
        /// Counters before the merge.
        before: Mark,
        /// Counters after the merge.
        after: Mark,
    },
    /// A `forget` request happened meanwhile, so nothing was written.
    Forgotten,
}

/// Selects the observations to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forget<'a> {
    /// Everything of all principals.
    All,
    /// Every tool of the server of this name.
    Server(&'a str),
    /// One tool of one server.
    Tool(&'a str, &'a str),
}

/// Reads and writes observations. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Shapes {
    slot: Arc<ConnectionSlot>,
}

// === impl Learning ===

impl Default for Learning {
    fn default() -> Self {
        Learning {
            enabled: true,
            shared: false,
            database: None,
        }
    }
}

// === impl Shapes ===

impl Shapes {
    /// Observations in this database, which other processes and the records share.
    pub fn new(database: Database) -> Shapes {
        Shapes {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Learned)),
        }
    }

    /// Location of the observations.
    pub fn database(&self) -> &Database {
        self.slot.database()
    }

    /// All observations.
    pub async fn all(&self) -> Result<Everything, Trouble> {
        self.within(async {
            let Some(mut held) = self.slot.hold_to_read().await? else {
                return Ok(Everything::default());
            };
            let all = rows::all(held.connection()).await;
            held.done(all)
        })
        .await
    }

    /// The current counters.
    pub async fn mark(&self) -> Result<Mark, Trouble> {
        self.within(async {
            let Some(mut held) = self.slot.hold_to_read().await? else {
                return Ok(Mark::default());
            };
            let mark = rows::mark(held.connection()).await;
            held.done(mark)
        })
        .await
    }

    /// Merges observations into the stored ones in one transaction; `merge` combines two observations. Writes nothing
    /// if a `forget` request happened since `forgotten` was read.
    pub async fn merge<F>(
        &self,
        fresh: &[(Subject, F)],
        forgotten: i64,
        merge: fn(Option<Observed>, &F) -> Observed,
    ) -> Result<Written, Trouble> {
        self.within(async {
            let mut held = self.slot.hold_to_write().await?;
            let written = rows::merge(held.connection(), fresh, forgotten, merge).await;
            held.done(written)
        })
        .await
    }

    /// Forgets observations and returns the number of tools. Running processes notice it at their next read.
    pub async fn forget(&self, what: Forget<'_>) -> Result<u64, Trouble> {
        self.within(async {
            let Some(mut held) = self.slot.hold_to_remove().await? else {
                return Ok(0);
            };
            let forgotten = rows::forget(held.connection(), what).await;
            held.done(forgotten)
        })
        .await
    }

    /// Closes the database; a later call opens it again.
    pub async fn close(&self) {
        // Nothing is lost if this fails: all work is committed.
        let _ = tokio::time::timeout(PATIENCE, self.slot.close()).await;
    }

    async fn within<T>(&self, work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| {
            let waited = format!("no answer within {} s", PATIENCE.as_secs());
            Err(Trouble::new(self.database(), TroubleKind::Locked, waited))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn of_a_tool_whose_definition_always_changes_few_are_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let shapes = Shapes::new(directory.path().join("records.db").into());
        let write = async |tool: &str, definition: String| {
            let subject = Subject {
                principal: None,
                server: "crm".to_owned(),
                tool: tool.to_owned(),
                definition,
            };
            let observe = |_, (): &()| Observed {
                shape: json!({}),
                calls: 1,
                steady: 0,
            };
            shapes.merge(&[(subject, ())], 0, observe).await.expect("written")
        };
        write("note", "only".to_owned()).await;
        for n in 0..10 {
            write("find", n.to_string()).await;
        }
        let rows = shapes.all().await.expect("rows").rows;
        let mut left: Vec<&str> = rows.iter().map(|row| &*row.subject.definition).collect();
        left.sort_unstable();
        assert_eq!(left, ["6", "7", "8", "9", "only"]);
    }
}

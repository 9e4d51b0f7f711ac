//! What was observed of tools' results: one row for each definition, merged with what other processes observed meanwhile.

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

/// Longest wait for the database.
const PATIENCE: Duration = Duration::from_secs(5);
/// Definitions of one tool of which something is kept for each principal: those that were observed last.
pub const DEFINITIONS: usize = 4;

/// Whether anything is learned, and for whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    /// Results are observed.
    pub enabled: bool,
    /// Every principal is told what was observed of the calls of any.
    pub shared: bool,
    /// The database; `None` keeps what is learned as long as the process lives.
    pub database: Option<Database>,
}

/// The results that an observation is about: one definition of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Whose calls they answered; `None` where principals share what is learned.
    pub principal: Option<Principal>,
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's name in its definition.
    pub tool: String,
    /// SHA-256 of the definition, in hexadecimal.
    pub definition: String,
}

/// What was observed of the results of a [`Subject`].
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// JSON Schema of the results.
    pub shape: Value,
    /// Calls that were observed.
    pub calls: u64,
    /// How many of them came after the shape changed last and did not only repeat a call.
    pub steady: u64,
}

/// One observation as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeView {
    /// What it is about.
    pub subject: Subject,
    /// What was observed.
    pub observed: Observed,
    /// When the first call was observed, in milliseconds since 1970.
    pub first_ms: i64,
    /// When the last one was.
    pub last_ms: i64,
}

/// Everything that is known at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Everything {
    /// How often something was forgotten before.
    pub forgotten: i64,
    /// Sorted by server, tool, principal and time.
    pub rows: Vec<ShapeView>,
}

/// Tells cheaply whether there is something new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mark {
    /// How often something was forgotten.
    pub forgotten: i64,
    /// Rows.
    pub rows: i64,
    /// Calls of all rows together.
    pub calls: i64,
}

/// What became of what was to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    /// It is merged.
    Merged {
        /// What is known of each now.
        known: Vec<Observed>,
        /// Where it stood before.
        before: Mark,
        /// Where it stands now.
        after: Mark,
    },
    /// Something was forgotten in between, so that nothing was written.
    Forgotten,
}

/// What is to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forget<'a> {
    /// Everything of everybody.
    All,
    /// Every tool of the server of this name.
    Server(&'a str),
    /// One tool of one server.
    Tool(&'a str, &'a str),
}

/// The door of what was learned. Cheap to clone; touches nothing before it is used.
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
    /// What is learned in this database, which other processes and the records share.
    pub fn new(database: Database) -> Shapes {
        Shapes {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Learned)),
        }
    }

    /// The database.
    pub fn database(&self) -> &Database {
        self.slot.database()
    }

    /// Everything that is known.
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

    /// Where it stands.
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

    /// Merges these into what is there, as one step; `merge` tells what both are together. Nothing is written if something was forgotten since `forgotten` was read.
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

    /// Forgets; returns how many tools. Processes that run are told when they next look.
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
        // Everything is committed.
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

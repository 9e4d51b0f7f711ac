//! Functions and values that programs save for later sessions of their principal.
//!
//! Each save is committed before the program gets an answer.

mod bounds;
mod memories;
mod python;
mod room;
mod tools;
mod values;

use std::sync::Arc;
use std::time::Duration;

use types::Principal;

use crate::connection::Tables;
use crate::database::Database;
use crate::saved_error::SavedError;
use crate::slot::ConnectionSlot;
use crate::trouble::{Trouble, TroubleKind};
use bounds::{Content, check_key};

pub use bounds::{
    MAX_BYTES, MAX_KEY, MAX_MEMORIES, MAX_MEMORY, MAX_NAME, MAX_SOURCE, MAX_SOURCES, MAX_TOOLS, check_memory,
    check_tool,
};
pub(crate) use room::held;
pub use values::{Memory, MemoryHead, NewMemory, SavedBy, SavedTool};

/// Longest wait for the database.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads and writes saved tools and memories. Cheap to clone; opens the database on first use.
#[derive(Debug, Clone)]
pub struct Saved {
    slot: Arc<ConnectionSlot>,
}

// === impl Saved ===

impl Saved {
    /// Saved tools and memories in this database, which other processes and the records may share.
    pub fn new(database: Database) -> Saved {
        Saved {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Saved)),
        }
    }

    /// Location of the saved tools and memories.
    pub fn database(&self) -> &Database {
        self.slot.database()
    }

    /// Saves a function; replaces a function with the same name.
    pub async fn save_tool(&self, by: SavedBy<'_>, name: &str, source: &str) -> Result<(), SavedError> {
        check_tool(name, source)?;
        self.within(async {
            let mut held = self.slot.hold_to_write().await?;
            let saved = tools::save(held.connection(), by, name, source).await;
            held.release(saved)
        })
        .await
    }

    /// The principal's functions, ordered by the first save of each name.
    pub async fn tools(&self, principal: &Principal) -> Result<Vec<SavedTool>, SavedError> {
        self.within(async {
            let Some(mut held) = self.slot.hold_to_read().await? else {
                return Ok(Vec::new());
            };
            let tools = tools::all(held.connection(), principal).await;
            held.release(tools)
        })
        .await
    }

    /// Removes a function; `false` if the name is unknown.
    pub async fn remove_tool(&self, principal: &Principal, name: &str) -> Result<bool, SavedError> {
        self.within(async {
            let Some(mut held) = self.slot.hold_to_remove().await? else {
                return Ok(false);
            };
            let removed = tools::remove(held.connection(), principal, name).await;
            held.release(removed)
        })
        .await
    }

    /// Saves a value and returns its new version.
    pub async fn save_memory(&self, by: SavedBy<'_>, memory: NewMemory<'_>) -> Result<u64, SavedError> {
        check_key(memory.key)?;
        let content = Content::of(memory.value, memory.metadata)?;
        self.within(async {
            let mut held = self.slot.hold_to_write().await?;
            let saved = memories::save(held.connection(), by, memory, &content).await;
            held.release(saved)
        })
        .await
    }

    /// A value and its metadata.
    pub async fn load_memory(&self, principal: &Principal, key: &str) -> Result<Option<Memory>, SavedError> {
        check_key(key)?;
        self.within(async {
            let Some(mut held) = self.slot.hold_to_read().await? else {
                return Ok(None);
            };
            let memory = memories::load(held.connection(), principal, key).await;
            held.release(memory)
        })
        .await
    }

    /// A value's metadata alone.
    pub async fn memory_head(
        &self,
        principal: &Principal,
        key: &str,
    ) -> Result<Option<MemoryHead>, SavedError> {
        check_key(key)?;
        self.within(async {
            let Some(mut held) = self.slot.hold_to_read().await? else {
                return Ok(None);
            };
            let head = memories::load_head(held.connection(), principal, key).await;
            held.release(head)
        })
        .await
    }

    /// Removes a value; `false` if the key is unknown.
    pub async fn delete_memory(&self, principal: &Principal, key: &str) -> Result<bool, SavedError> {
        check_key(key)?;
        self.within(async {
            let Some(mut held) = self.slot.hold_to_remove().await? else {
                return Ok(false);
            };
            let removed = memories::delete(held.connection(), principal, key).await;
            held.release(removed)
        })
        .await
    }

    /// The principal's memories without values, sorted by key.
    pub async fn memories(&self, principal: &Principal) -> Result<Vec<MemoryHead>, SavedError> {
        self.within(async {
            let Some(mut held) = self.slot.hold_to_read().await? else {
                return Ok(Vec::new());
            };
            let memories = memories::all(held.connection(), principal).await;
            held.release(memories)
        })
        .await
    }

    /// Closes the database, and so merges the journal into the file. A later call opens the database again.
    pub async fn close(&self) {
        // All work is committed. If closing fails, some of it stays in the journal.
        let _ = tokio::time::timeout(PATIENCE, self.slot.close()).await;
    }

    /// Fails if the work takes longer than `PATIENCE`, for example because other processes hold the database.
    async fn within<T>(&self, work: impl Future<Output = Result<T, SavedError>>) -> Result<T, SavedError> {
        tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| {
            let waited = format!("no answer within {} s", PATIENCE.as_secs());
            Err(SavedError::Store(Trouble::new(
                self.database(),
                TroubleKind::Locked,
                waited,
            )))
        })
    }
}

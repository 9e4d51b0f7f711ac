//! Functions and values that programs keep for later sessions: committed before they are answered, one principal's alone.

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

/// Longest wait for the database, whatever is the matter with it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The door of saved tools and memories. Cheap to clone; touches nothing before it is used.
#[derive(Debug, Clone)]
pub struct Saved {
    slot: Arc<ConnectionSlot>,
}

// === impl Saved ===

impl Saved {
    /// What is saved in this database, which other processes and the records may share.
    pub fn new(database: Database) -> Saved {
        Saved {
            slot: Arc::new(ConnectionSlot::new(database, Tables::Saved)),
        }
    }

    /// The database.
    pub fn database(&self) -> &Database {
        self.slot.database()
    }

    /// Saves a function, in the place of one of the same name.
    pub async fn save_tool(&self, by: SavedBy<'_>, name: &str, source: &str) -> Result<(), SavedError> {
        check_tool(name, source)?;
        self.within(async {
            let mut held = self.slot.hold_to_write().await?;
            let saved = tools::save(held.connection(), by, name, source).await;
            held.release(saved)
        })
        .await
    }

    /// The principal's functions in the order in which their names were first saved.
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

    /// Removes a function; `false` if there is none of that name.
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

    /// Saves a value and tells the version that it has then.
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

    /// The value of that key with everything that is known of it.
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

    /// What is known of the value of that key, without the value.
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

    /// Removes a value; `false` if there is none of that key.
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

    /// The principal's memories, sorted by key.
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

    /// Closes the database, so that all of it is in its one file; a later call opens it again.
    pub async fn close(&self) {
        // What is saved is saved; it only stays in the journal if this fails.
        let _ = tokio::time::timeout(PATIENCE, self.slot.close()).await;
    }

    /// Does the work within `PATIENCE`; if other processes hold the database longer, that is an error.
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

//! The host calls by which bridge programs save tools and memories for later sessions of their principal.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use store::Change;
use store::saved::{Memory, MemoryHead, NewMemory, SavedBy};

use crate::error;
use crate::run::{Args, HostCallResult, RunCalls, raw};

#[derive(Debug, Serialize)]
struct MemoryAnswer<'a> {
    key: &'a str,
    value: &'a RawValue,
    metadata: &'a RawValue,
    created_at: String,
    updated_at: String,
    version: u64,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct MemoryLine<'a> {
    key: &'a str,
    metadata: &'a RawValue,
    created_at: String,
    updated_at: String,
    bytes: u64,
}

// === impl RunCalls ===

impl RunCalls {
    /// Answers the calls that exist only on the bridge.
    pub(crate) async fn answer_saved(&self, name: &str, mut args: Args) -> HostCallResult {
        match name {
            "save_tool" => self.save_tool(&args.text("name")?, &args.text("source")?).await,
            "saved_tools" => self.saved_tools().await,
            "memory_save" => self.memory_save(args).await,
            "memory_load" => {
                let key = args.text("key")?;
                if args.flag("head")? {
                    self.memory_head(&key).await
                } else {
                    self.memory_load(&key).await
                }
            }
            "memory_delete" => self.memory_delete(&args.text("key")?).await,
            "memory_list" => self.memory_list().await,
            other => Err(error::unknown_call(other)),
        }
    }

    fn by(&self) -> SavedBy<'_> {
        SavedBy {
            principal: &self.principal,
            run: Some(&self.run.run),
        }
    }

    fn changed(&self, change: Change, name: &str) {
        self.core.records.changed(Some(&self.run.run), change, name);
    }

    async fn save_tool(&self, name: &str, source: &str) -> HostCallResult {
        self.core.records.room().await;
        let values = &self.core.saved;
        values.checked(values.saved.save_tool(self.by(), name, source).await)?;
        self.changed(Change::ToolSaved, name);
        raw(&json!({}))
    }

    async fn saved_tools(&self) -> HostCallResult {
        let values = &self.core.saved;
        let tools = values.checked(values.saved.tools(&self.principal).await)?;
        let tools = tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "source": tool.source }));
        raw(&tools.collect::<Vec<_>>())
    }

    async fn memory_save(&self, mut args: Args) -> HostCallResult {
        let key = args.text("key")?;
        let value = args.value("value")?;
        let metadata = args.take("metadata").unwrap_or_default();
        let memory = NewMemory {
            key: &key,
            value: &value,
            metadata: &metadata,
            expected: args.version()?,
            times: None,
        };
        self.core.records.room().await;
        let values = &self.core.saved;
        let version = values.checked(values.saved.save_memory(self.by(), memory).await)?;
        self.changed(Change::MemorySaved, &key);
        raw(&json!({ "version": version }))
    }

    async fn memory_load(&self, key: &str) -> HostCallResult {
        let values = &self.core.saved;
        let memory = values.checked(values.saved.load_memory(&self.principal, key).await)?;
        raw(&memory.as_ref().map(MemoryAnswer::of))
    }

    async fn memory_head(&self, key: &str) -> HostCallResult {
        let values = &self.core.saved;
        let head = values.checked(values.saved.memory_head(&self.principal, key).await)?;
        raw(&head.as_ref().map(MemoryLine::of))
    }

    async fn memory_delete(&self, key: &str) -> HostCallResult {
        self.core.records.room().await;
        let values = &self.core.saved;
        let deleted = values.checked(values.saved.delete_memory(&self.principal, key).await)?;
        if deleted {
            self.changed(Change::MemoryRemoved, key);
        }
        raw(&json!({ "deleted": deleted }))
    }

    async fn memory_list(&self) -> HostCallResult {
        let values = &self.core.saved;
        let memories = values.checked(values.saved.memories(&self.principal).await)?;
        raw(&memories.iter().map(MemoryLine::of).collect::<Vec<_>>())
    }
}

// === impl MemoryAnswer ===

impl<'a> MemoryAnswer<'a> {
    fn of(memory: &'a Memory) -> Self {
        let head = &memory.head;
        Self {
            key: &head.key,
            value: &memory.value,
            metadata: &head.metadata,
            created_at: time(head.created_ms),
            updated_at: time(head.updated_ms),
            version: head.version,
            bytes: head.bytes,
        }
    }
}

// === impl MemoryLine ===

impl<'a> MemoryLine<'a> {
    fn of(head: &'a MemoryHead) -> Self {
        Self {
            key: &head.key,
            metadata: &head.metadata,
            created_at: time(head.created_ms),
            updated_at: time(head.updated_ms),
            bytes: head.bytes,
        }
    }
}

/// ISO 8601 in UTC; the number itself for a time outside every calendar.
fn time(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).map_or_else(
        || ms.to_string(),
        |time| time.to_rfc3339_opts(SecondsFormat::Millis, true),
    )
}

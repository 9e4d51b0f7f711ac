//! Shows the saved items: a table of all, or one in full.

use serde_json::{Value, json};
use store::saved::{MemoryHead, SavedTool};

use super::items::{ItemKind, SavedStore, failure};
use crate::cli::{OnlyKind, ShowSaved};
use crate::exit::{Exit, Failure};
use crate::output::{harmless, size, table};
use crate::times::{exact, when};

pub(super) async fn list(store: &SavedStore<'_>) -> anyhow::Result<Exit> {
    let all = store.items().await?;
    if store.json {
        let tools: Vec<Value> = all.tools.iter().map(tool_json).collect();
        let memories: Vec<Value> = all.memories.iter().map(memory_json).collect();
        store
            .output
            .json(&json!({ "tools": tools, "memories": memories }))?;
        return Ok(Exit::Done);
    }
    let nothing = OnlyKind {
        tool: false,
        memory: false,
    };
    if all.items(nothing).is_empty() {
        store.tell_of_nothing();
        return Ok(Exit::Done);
    }
    let mut rows = vec![
        ["KIND", "NAME", "SIZE", "SAVED (UTC)", "BY"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(all.tools.iter().map(|tool| {
        let bytes = tool.source.len() as u64;
        cells(
            ItemKind::Tool,
            &tool.name,
            bytes,
            tool.saved_ms,
            tool.run.as_deref(),
        )
    }));
    rows.extend(all.memories.iter().map(|memory| {
        let run = memory.run.as_deref();
        cells(
            ItemKind::Memory,
            &memory.key,
            memory.bytes,
            memory.updated_ms,
            run,
        )
    }));
    store.output.print(&table(&rows))?;
    Ok(Exit::Done)
}

fn cells(kind: ItemKind, name: &str, bytes: u64, saved_ms: i64, run: Option<&str>) -> Vec<String> {
    vec![
        kind.name().to_owned(),
        harmless(name),
        size(bytes),
        when(saved_ms),
        harmless(run.unwrap_or("import")),
    ]
}

pub(super) async fn one(store: &SavedStore<'_>, arguments: &ShowSaved) -> anyhow::Result<Exit> {
    let all = store.items().await?;
    let item = all.find(&arguments.name, arguments.only)?;
    let text = match item.kind {
        ItemKind::Tool => all.tools.iter().find(|tool| tool.name == item.name).map(|tool| {
            if store.json {
                let mut described = tool_json(tool);
                described["source"] = json!(tool.source);
                return format!("{described:#}");
            }
            tool.source.clone()
        }),
        ItemKind::Memory => memory_text(store, &item.name).await?,
    };
    let text =
        text.ok_or_else(|| Failure::new(Exit::Usage, format!("{} was removed just now", item.label())))?;
    let text = text.trim_end_matches('\n');
    store.output.foreign(&format!("{text}\n"))?;
    Ok(Exit::Done)
}

async fn memory_text(store: &SavedStore<'_>, key: &str) -> anyhow::Result<Option<String>> {
    let loaded = store.saved.load_memory(&store.principal, key).await;
    let Some(memory) = loaded.map_err(failure)? else {
        return Ok(None);
    };
    let value: Value = serde_json::from_str(memory.value.get())?;
    if !store.json {
        return Ok(Some(format!("{value:#}")));
    }
    let mut described = memory_json(&memory.head);
    described["value"] = value;
    Ok(Some(format!("{described:#}")))
}

fn tool_json(tool: &SavedTool) -> Value {
    json!({
        "name": tool.name,
        "bytes": tool.source.len(),
        "sha256": tool.sha256,
        "saved_at": exact(tool.saved_ms),
        "run": tool.run,
    })
}

fn memory_json(memory: &MemoryHead) -> Value {
    // The metadata was written as JSON.
    let metadata: Value = serde_json::from_str(memory.metadata.get()).unwrap_or_default();
    json!({
        "key": memory.key,
        "bytes": memory.bytes,
        "version": memory.version,
        "created_at": exact(memory.created_ms),
        "updated_at": exact(memory.updated_ms),
        "run": memory.run,
        "metadata": metadata,
    })
}

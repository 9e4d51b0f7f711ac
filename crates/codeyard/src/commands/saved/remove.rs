//! Removes tools and memories, after asking.

use serde_json::{Value, json};
use store::{Change, SavedError};

use super::items::{Item, ItemKind, SavedStore, count_by_kind, failure};
use crate::ask::agreed;
use crate::cli::RemoveSaved;
use crate::exit::Exit;
use crate::output::harmless;

/// Removes the named items or all; a wrong name stops the command before any removal.
pub(super) async fn run(store: &SavedStore<'_>, arguments: &RemoveSaved) -> anyhow::Result<Exit> {
    let all = store.items().await?;
    let mut items = Vec::new();
    if arguments.all {
        items = all.items(arguments.only);
    }
    for name in &arguments.names {
        let item = all.find(name, arguments.only)?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if items.is_empty() {
        store.tell_of_nothing();
        return Ok(Exit::Done);
    }
    let whose = harmless(&store.principal.to_string());
    let question = format!("remove {} of `{whose}` for good?", names_or_counts(&items));
    if !arguments.yes && !agreed(store.output, &question)? {
        store.output.tell("nothing was removed");
        return Ok(Exit::Done);
    }
    let mut removed = Vec::new();
    for item in &items {
        if store.remove(item).await.map_err(failure)? {
            removed.push(item);
        }
    }
    if store.json {
        let removed: Vec<Value> = removed.into_iter().map(Item::json).collect();
        store.output.json(&json!({ "removed": removed }))?;
    } else {
        let removed = count_by_kind(removed.into_iter());
        store.output.line(&format!("removed {removed}"))?;
    }
    Ok(Exit::Done)
}

/// Names up to a few items; counts more.
fn names_or_counts(items: &[Item]) -> String {
    match items {
        [item] => item.label(),
        [one, other] => format!("{} and {}", one.label(), other.label()),
        _ => count_by_kind(items.iter()),
    }
}

// === impl SavedStore ===

impl SavedStore<'_> {
    /// `false` if another process has just removed the item.
    async fn remove(&self, item: &Item) -> Result<bool, SavedError> {
        let (removed, change) = match item.kind {
            ItemKind::Tool => (
                self.saved.remove_tool(&self.principal, &item.name).await?,
                Change::ToolRemoved,
            ),
            ItemKind::Memory => (
                self.saved.delete_memory(&self.principal, &item.name).await?,
                Change::MemoryRemoved,
            ),
        };
        if removed {
            self.records.changed(None, change, &item.name);
        }
        Ok(removed)
    }
}

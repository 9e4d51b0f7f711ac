//! Removes tools and memories, after asking.

use serde_json::{Value, json};
use store::{Change, SavedError};

use super::{Item, Kind, Shelf, counted, failure};
use crate::ask::agreed;
use crate::cli::RemoveSaved;
use crate::exit::Exit;
use crate::output::harmless;

/// Removes what is named, or everything; nothing at all if one of the names is wrong.
pub(super) async fn run(shelf: &Shelf<'_>, arguments: &RemoveSaved) -> anyhow::Result<Exit> {
    let all = shelf.everything().await?;
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
        shelf.tell_of_nothing();
        return Ok(Exit::Done);
    }
    let whose = harmless(&shelf.principal.to_string());
    let question = format!("remove {} of `{whose}` for good?", named(&items));
    if !arguments.yes && !agreed(shelf.output, &question)? {
        shelf.output.tell("nothing was removed");
        return Ok(Exit::Done);
    }
    let mut removed = Vec::new();
    for item in &items {
        if shelf.remove(item).await.map_err(failure)? {
            removed.push(item);
        }
    }
    if shelf.json {
        let removed: Vec<Value> = removed.into_iter().map(Item::json).collect();
        shelf.output.json(&json!({ "removed": removed }))?;
    } else {
        let removed = counted(removed.into_iter());
        shelf.output.line(&format!("removed {removed}"))?;
    }
    Ok(Exit::Done)
}

/// Few by their names, many by their number.
fn named(items: &[Item]) -> String {
    match items {
        [item] => item.told(),
        [one, other] => format!("{} and {}", one.told(), other.told()),
        _ => counted(items.iter()),
    }
}

// === impl Shelf ===

impl Shelf<'_> {
    /// `false` if somebody else has removed it meanwhile.
    async fn remove(&self, item: &Item) -> Result<bool, SavedError> {
        let (removed, change) = match item.kind {
            Kind::Tool => (
                self.saved.remove_tool(&self.principal, &item.name).await?,
                Change::ToolRemoved,
            ),
            Kind::Memory => (
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

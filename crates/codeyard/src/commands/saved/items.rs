//! The saved tools and memories of one principal, and their names and counts.

use std::path::Path;

use store::saved::{MemoryHead, SavedTool};
use store::{Records, Saved, SavedError};
use types::Principal;

use crate::cli::OnlyKind;
use crate::exit::{Exit, Failure};
use crate::output::{Output, harmless};

/// One principal's saved items, and the form of output.
pub(super) struct SavedStore<'a> {
    pub(super) output: &'a Output,
    pub(super) saved: Saved,
    pub(super) principal: Principal,
    pub(super) records: Records,
    pub(super) json: bool,
}

pub(super) struct SavedItems {
    pub(super) tools: Vec<SavedTool>,
    pub(super) memories: Vec<MemoryHead>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Tool,
    Memory,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) name: String,
}

pub(super) fn failure(error: SavedError) -> Failure {
    let exit = match error {
        SavedError::Refused(_) | SavedError::Conflict { .. } => Exit::Usage,
        SavedError::Store(_) => Exit::Broken,
    };
    Failure::new(exit, error)
}

// === impl SavedStore ===

impl SavedStore<'_> {
    /// Names the data directory, because the person may have meant another.
    pub(super) fn tell_of_nothing(&self) {
        let database = self.saved.database();
        let place = match database.file().and_then(Path::parent) {
            Some(directory) => directory.display().to_string(),
            None => database.to_string(),
        };
        self.output.tell(&format!(
            "nothing is saved for `{}` in {}",
            harmless(&self.principal.to_string()),
            harmless(&place)
        ));
    }

    pub(super) async fn items(&self) -> anyhow::Result<SavedItems> {
        Ok(SavedItems {
            tools: self.saved.tools(&self.principal).await.map_err(failure)?,
            memories: self.saved.memories(&self.principal).await.map_err(failure)?,
        })
    }
}

// === impl SavedItems ===

impl SavedItems {
    /// The selected kinds: tools by first save, then memories by key.
    pub(super) fn items(&self, only: OnlyKind) -> Vec<Item> {
        let tools = self.tools.iter().filter(|_| !only.memory);
        let tools = tools.map(|tool| Item::new(ItemKind::Tool, &tool.name));
        let memories = self.memories.iter().filter(|_| !only.tool);
        let memories = memories.map(|memory| Item::new(ItemKind::Memory, &memory.key));
        tools.chain(memories).collect()
    }

    /// The item of that name; an error if there is none, or a tool and a memory.
    pub(super) fn find(&self, name: &str, only: OnlyKind) -> Result<Item, Failure> {
        let mut found = self.items(only);
        found.retain(|item| item.name == name);
        let shown = harmless(name);
        match (found.pop(), found.is_empty()) {
            (Some(item), true) => Ok(item),
            (Some(_), false) => Err(Failure::new(
                Exit::Usage,
                format!("there are a tool and a memory `{shown}`; add --tool or --memory"),
            )),
            (None, _) => {
                let what = match only {
                    OnlyKind { tool: true, .. } => "tool",
                    OnlyKind { memory: true, .. } => "memory",
                    OnlyKind { .. } => "tool or memory",
                };
                Err(Failure::new(
                    Exit::Usage,
                    format!("no saved {what} is named `{shown}`; run `codeyard saved` to list them"),
                ))
            }
        }
    }
}

// === impl ItemKind ===

impl ItemKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            ItemKind::Tool => "tool",
            ItemKind::Memory => "memory",
        }
    }
}

// === impl Item ===

impl Item {
    pub(super) fn new(kind: ItemKind, name: &str) -> Item {
        Item {
            kind,
            name: name.to_owned(),
        }
    }

    /// Such as `tool spread`.
    pub(super) fn label(&self) -> String {
        format!("{} `{}`", self.kind.name(), harmless(&self.name))
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "kind": self.kind.name(), "name": self.name })
    }
}

/// Such as `1 tool and 2 memories`.
pub(super) fn count_by_kind<'a>(items: impl Iterator<Item = &'a Item>) -> String {
    let (mut tools, mut memories) = (0_usize, 0_usize);
    for item in items {
        match item.kind {
            ItemKind::Tool => tools += 1,
            ItemKind::Memory => memories += 1,
        }
    }
    let tools_told = types::numbers::counted(tools, "tool");
    let memories_told = match memories {
        1 => "1 memory".to_owned(),
        _ => format!("{memories} memories"),
    };
    match (tools, memories) {
        (_, 0) => tools_told,
        (0, _) => memories_told,
        _ => format!("{tools_told} and {memories_told}"),
    }
}

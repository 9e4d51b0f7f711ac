//! `codeyard saved`: the tools and memories that programs of the bridge keep for later sessions.

mod functions;
mod import;
mod remove;
mod show;

use store::saved::{MemoryHead, SavedTool};
use store::{FILE, Recording, Records, Saved, SavedError};
use types::Principal;

use crate::cli::{Only, SavedArguments, SavedCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, harmless};

/// Whose, where, and how it is told.
struct Shelf<'a> {
    output: &'a Output,
    saved: Saved,
    principal: Principal,
    /// Where changes are recorded.
    records: Records,
    json: bool,
}

/// Everything that is saved.
struct Everything {
    tools: Vec<SavedTool>,
    memories: Vec<MemoryHead>,
}

/// Which of both something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Tool,
    Memory,
}

/// One thing that is saved.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    kind: Kind,
    name: String,
}

/// Does what was asked for.
pub async fn run(context: &Context, arguments: &SavedArguments) -> anyhow::Result<Exit> {
    let loaded = context.load_settings()?;
    let file = match &arguments.state {
        Some(directory) => std::path::absolute(directory)?.join(FILE),
        None => loaded.saved(),
    };
    let config = loaded.records();
    let shelf = Shelf {
        output: &context.output,
        saved: Saved::new(file),
        principal: arguments.principal.clone(),
        records: match config.recording {
            Recording::Off => Records::off(),
            Recording::On { .. } => Records::new(config),
        },
        json: arguments.json,
    };
    let done = match &arguments.command {
        None => show::list(&shelf).await,
        Some(SavedCommand::Show(arguments)) => show::one(&shelf, arguments).await,
        Some(SavedCommand::Remove(arguments)) => remove::run(&shelf, arguments).await,
        Some(SavedCommand::Import(arguments)) => import::run(&shelf, arguments).await,
    };
    shelf.saved.close().await;
    shelf.records.close().await;
    done
}

fn failure(error: SavedError) -> Failure {
    let exit = match error {
        SavedError::Refused(_) | SavedError::Conflict { .. } => Exit::Usage,
        SavedError::Store(_) => Exit::Broken,
    };
    Failure::new(exit, error)
}

// === impl Shelf ===

impl Shelf<'_> {
    /// Says that there is nothing, and where: another place may be meant.
    fn tell_of_nothing(&self) {
        let directory = self.saved.path().parent().unwrap_or(self.saved.path());
        self.output.tell(&format!(
            "nothing is saved for `{}` in {}",
            harmless(&self.principal.to_string()),
            harmless(&directory.to_string_lossy())
        ));
    }

    async fn everything(&self) -> anyhow::Result<Everything> {
        Ok(Everything {
            tools: self.saved.tools(&self.principal).await.map_err(failure)?,
            memories: self.saved.memories(&self.principal).await.map_err(failure)?,
        })
    }
}

// === impl Everything ===

impl Everything {
    /// All of the kinds that are meant: tools in the order of their first save, then memories by key.
    fn items(&self, only: Only) -> Vec<Item> {
        let tools = self.tools.iter().filter(|_| !only.memory);
        let tools = tools.map(|tool| Item::new(Kind::Tool, &tool.name));
        let memories = self.memories.iter().filter(|_| !only.tool);
        let memories = memories.map(|memory| Item::new(Kind::Memory, &memory.key));
        tools.chain(memories).collect()
    }

    /// The one thing of that name; an error if there is none, or one of each kind.
    fn find(&self, name: &str, only: Only) -> Result<Item, Failure> {
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
                    Only { tool: true, .. } => "tool",
                    Only { memory: true, .. } => "memory",
                    Only { .. } => "tool or memory",
                };
                Err(Failure::new(
                    Exit::Usage,
                    format!("there is no saved {what} `{shown}`; `codeyard saved` lists those there are"),
                ))
            }
        }
    }
}

// === impl Kind ===

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Memory => "memory",
        }
    }
}

// === impl Item ===

impl Item {
    fn new(kind: Kind, name: &str) -> Item {
        Item {
            kind,
            name: name.to_owned(),
        }
    }

    /// As it is told: `tool spread`.
    fn told(&self) -> String {
        format!("{} `{}`", self.kind.name(), harmless(&self.name))
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({ "kind": self.kind.name(), "name": self.name })
    }
}

/// How many of each: `1 tool and 2 memories`.
fn counted<'a>(items: impl Iterator<Item = &'a Item>) -> String {
    let (mut tools, mut memories) = (0_usize, 0_usize);
    for item in items {
        match item.kind {
            Kind::Tool => tools += 1,
            Kind::Memory => memories += 1,
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

//! Imports the original one-tool bridge's memories and the functions of its `user_tools.py`.

use std::fs;
use std::path::{Path, PathBuf};

use environment::{Environment as _, Machine};
use serde_json::{Value, json};
use store::saved::{NewMemory, SavedBy, check_memory, check_tool};
use store::{Change, SavedError};

use super::functions::{Statement, statements};
use super::items::{Item, ItemKind, SavedItems, SavedStore, count_by_kind, failure};
use crate::ask::agreed;
use crate::cli::ImportSaved;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, size, table};

/// The original's file of functions.
const TOOLS: &str = "user_tools.py";
/// The original's directory of memories.
const MEMORIES: &str = "memory";
/// Most characters shown of a foreign line.
const MOST: usize = 60;

#[derive(Debug, Default)]
struct ImportPlan {
    takes: Vec<Take>,
    left: Vec<SkippedItem>,
}

/// An item to import.
#[derive(Debug)]
struct Take {
    item: Item,
    place: String,
    content: ItemContent,
}

#[derive(Debug)]
enum ItemContent {
    Source(String),
    Memory {
        value: Value,
        metadata: Value,
        /// First and last save in milliseconds since 1970, if both are known.
        times: Option<(i64, i64)>,
    },
}

/// A skipped item, with the reason.
#[derive(Debug)]
struct SkippedItem {
    place: String,
    why: String,
}

pub(super) async fn run(store: &SavedStore<'_>, arguments: &ImportSaved) -> anyhow::Result<Exit> {
    let directory = &arguments.directory;
    let mut found = ImportPlan::default();
    if !fs::metadata(directory).is_ok_and(|found| found.is_dir()) {
        let message = format!("{} is not a directory", directory.display());
        return Err(Failure::new(Exit::Usage, message).into());
    }
    found.read_tools(&directory.join(TOOLS));
    found.read_memories(&directory.join(MEMORIES))?;
    found.keep_what_is_there(store, &store.items().await?).await?;
    store.output.tell(found.plan_text(directory).trim_end());
    if found.takes.is_empty() {
        return print_result(store, &[], &found.left);
    }
    let items = found.takes.iter().map(|take| &take.item);
    let whose = harmless(&store.principal.to_string());
    let question = format!("take over {} for `{whose}`?", count_by_kind(items));
    if !arguments.yes && !agreed(store.output, &question)? {
        store.output.tell("nothing was taken over");
        return Ok(Exit::Done);
    }
    let (taken, left) = take_over(store, found).await?;
    print_result(store, &taken, &left)
}

/// Saves one item after another. Skips items that are refused, or that another process has just saved.
async fn take_over(
    store: &SavedStore<'_>,
    found: ImportPlan,
) -> anyhow::Result<(Vec<Item>, Vec<SkippedItem>)> {
    let (mut taken, mut left) = (Vec::new(), found.left);
    for Take { item, place, content } in found.takes {
        match store.take(&item, &content).await {
            Ok(()) => taken.push(item),
            Err(error @ SavedError::Store(_)) => return Err(failure(error).into()),
            Err(refused) => {
                let why = refused.to_string();
                store
                    .output
                    .tell(&harmless(&format!("not taken: {place}: {why}")));
                left.push(SkippedItem { place, why });
            }
        }
    }
    Ok((taken, left))
}

fn print_result(store: &SavedStore<'_>, taken: &[Item], left: &[SkippedItem]) -> anyhow::Result<Exit> {
    if store.json {
        let taken: Vec<Value> = taken.iter().map(Item::json).collect();
        let left: Vec<Value> = left
            .iter()
            .map(|left| json!({ "place": left.place, "why": left.why }))
            .collect();
        store.output.json(&json!({ "taken": taken, "left": left }))?;
    } else if taken.is_empty() {
        store.output.line("nothing was taken over")?;
    } else {
        store
            .output
            .line(&format!("took over {}", count_by_kind(taken.iter())))?;
    }
    Ok(Exit::Done)
}

// === impl ImportPlan ===

impl ImportPlan {
    fn leave(&mut self, place: impl Into<String>, why: impl Into<String>) {
        self.left.push(SkippedItem {
            place: place.into(),
            why: why.into(),
        });
    }

    /// A later function replaces an earlier one of its name, as when Python runs the file.
    fn read_tools(&mut self, file: &Path) {
        let text = match read(file) {
            Ok(None) => return,
            Ok(Some(text)) => text,
            Err(why) => return self.leave(TOOLS, why),
        };
        for statement in statements(&text) {
            let place = lines(&statement);
            let (item, content) = match tool(statement) {
                Ok(tool) => tool,
                Err(why) => {
                    self.leave(place, why);
                    continue;
                }
            };
            if let Some(earlier) = self.takes.iter().position(|take| take.item == item) {
                let earlier = self.takes.remove(earlier);
                self.leave(
                    earlier.place,
                    format!("`{}` is defined again in {place}", item.name),
                );
            }
            self.takes.push(Take { item, place, content });
        }
    }

    fn read_memories(&mut self, directory: &Path) -> anyhow::Result<()> {
        let entries = match fs::read_dir(directory) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            entries => entries
                .map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", directory.display())))?,
        };
        let mut files: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
            .collect();
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // A file's name may hold a line break.
            let place = format!("{MEMORIES}/{name}").replace(char::is_control, "?");
            match memory(&file) {
                Ok((item, _)) if self.takes.iter().any(|take| take.item == item) => {
                    self.leave(place, format!("another file has {} too", item.label()));
                }
                Ok((item, content)) => self.takes.push(Take { item, place, content }),
                Err(why) => self.leave(place, why),
            }
        }
        Ok(())
    }

    /// Keeps items that are already saved.
    async fn keep_what_is_there(&mut self, store: &SavedStore<'_>, there: &SavedItems) -> anyhow::Result<()> {
        for take in std::mem::take(&mut self.takes) {
            let same = match &take.content {
                ItemContent::Source(source) => {
                    let tool = there.tools.iter().find(|tool| tool.name == take.item.name);
                    tool.map(|tool| tool.source == *source)
                }
                ItemContent::Memory { value, .. } => {
                    let memory = store.saved.load_memory(&store.principal, &take.item.name).await;
                    let memory = memory.map_err(failure)?;
                    let value = value.to_string();
                    memory.map(|memory| memory.value.get() == value)
                }
            };
            match same {
                None => self.takes.push(take),
                Some(true) => self.leave(take.place, format!("{} is saved already", take.item.label())),
                Some(false) => {
                    let told = take.item.label();
                    self.leave(
                        take.place,
                        format!("another {told} is saved already; remove that one first"),
                    );
                }
            }
        }
        Ok(())
    }

    fn plan_text(&self, directory: &Path) -> String {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for take in &self.takes {
            rows.push(vec![
                format!("  {}", take.item.kind.name()),
                harmless(&take.item.name),
                size(take.content.bytes()),
                harmless(&take.place),
            ]);
        }
        let directory = harmless(&directory.to_string_lossy());
        let mut out = match rows.len() {
            0 => format!("there is nothing to take over in {directory}\n"),
            _ => format!("to take over from {directory}:\n{}", table(&rows)),
        };
        for left in &self.left {
            let line = format!("not taken: {}: {}", left.place, left.why).replace('\n', " ");
            out.push_str(&format!("{}\n", harmless(&line)));
        }
        out
    }
}

/// `None` if the file does not exist.
fn read(file: &Path) -> Result<Option<String>, String> {
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(found) if !found.is_file() => return Err("is not a regular file".to_owned()),
        _ => {}
    }
    let bytes = Machine.read(file).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    Ok(Some(text))
}

/// The statement's lines in the file.
fn lines(statement: &Statement) -> String {
    let last = statement.line + statement.text.lines().count().saturating_sub(1);
    match last - statement.line {
        0 => format!("{TOOLS} line {last}"),
        _ => format!("{TOOLS} lines {} to {last}", statement.line),
    }
}

/// A function that can be saved; the error gives the reason why the statement cannot.
fn tool(statement: Statement) -> Result<(Item, ItemContent), String> {
    let Some(name) = statement.function else {
        let first = statement.text.lines().next().unwrap_or_default();
        return Err(format!("`{}` is not a function", cut(first)));
    };
    if !statement.is_whole {
        return Err(format!(
            "`{}` is incomplete: a bracket or string is not closed",
            cut(&name)
        ));
    }
    check_tool(&name, &statement.text).map_err(|refused| refused.to_string())?;
    Ok((
        Item::new(ItemKind::Tool, &name),
        ItemContent::Source(statement.text),
    ))
}

/// Reads the original's format of a memory.
fn memory(file: &Path) -> Result<(Item, ItemContent), String> {
    let text = read(file)?.ok_or("is gone")?;
    let mut written: Value =
        serde_json::from_str(&text).map_err(|error| format!("is not valid JSON: {error}"))?;
    let fields = written.as_object_mut().ok_or("is not a JSON object")?;
    let value = fields.remove("value").ok_or("has no `value`")?;
    let key = match fields.remove("key") {
        Some(Value::String(key)) => key,
        // The original allowed any key that converts to text.
        Some(other) if !other.is_null() => other.to_string(),
        _ => file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    let metadata = match fields.remove("metadata").unwrap_or_default() {
        Value::Null => json!({}),
        metadata => metadata,
    };
    let time = |name: &str| fields.get(name).and_then(Value::as_f64).and_then(milliseconds);
    let times = time("created_at").zip(time("updated_at"));
    let memory = NewMemory {
        key: &key,
        value: &value,
        metadata: &metadata,
        expected: Some(0),
        times,
    };
    check_memory(memory).map_err(|refused| refused.to_string())?;
    let item = Item::new(ItemKind::Memory, &key);
    Ok((
        item,
        ItemContent::Memory {
            value,
            metadata,
            times,
        },
    ))
}

/// From seconds since 1970; `None` for times outside a file system's range.
fn milliseconds(seconds: f64) -> Option<i64> {
    let duration = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    i64::try_from(duration.as_millis()).ok()
}

fn cut(text: &str) -> String {
    text.chars().take(MOST).collect()
}

// === impl ItemContent ===

impl ItemContent {
    fn bytes(&self) -> u64 {
        match self {
            ItemContent::Source(source) => source.len() as u64,
            ItemContent::Memory { value, metadata, .. } => {
                (value.to_string().len() + metadata.to_string().len()) as u64
            }
        }
    }
}

// === impl SavedStore ===

impl SavedStore<'_> {
    async fn take(&self, item: &Item, content: &ItemContent) -> Result<(), SavedError> {
        let by = SavedBy {
            principal: &self.principal,
            run: None,
        };
        let change = match content {
            ItemContent::Source(source) => {
                self.saved.save_tool(by, &item.name, source).await?;
                Change::ToolSaved
            }
            ItemContent::Memory {
                value,
                metadata,
                times,
            } => {
                let memory = NewMemory {
                    key: &item.name,
                    value,
                    metadata,
                    expected: Some(0),
                    times: *times,
                };
                self.saved.save_memory(by, memory).await?;
                Change::MemorySaved
            }
        };
        self.records.changed(None, change, &item.name);
        Ok(())
    }
}

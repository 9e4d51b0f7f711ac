//! What the tool calls of one run would have cost a model that makes them itself, counted beside the run as answers come.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalog::Catalog;
use serde_json::Value;
use serde_json::value::RawValue;
use tokens::{Counter, Tokenizer, Unloadable, answer_text};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use types::{Principal, Tool, ToolRef};

use crate::broker::Shared;
use crate::call::is_tool_error;
use crate::run::Answer;

/// KiB of answers of one run that may wait to be counted; a call whose answer finds no room waits for it.
const ROOM: u32 = 8 * 1024;
/// Calls of one run that are under way or wait to be counted: more than may be under way.
const MOST_CALLS: usize = 4096;

/// What is counted of the calls of a run. Cheap to clone; what nobody asks for goes with the last clone.
#[derive(Debug, Clone)]
pub struct Tally {
    items: mpsc::Sender<Item>,
    room: Arc<Semaphore>,
}

/// The calls of a run as a model would have made them itself. Tokens of o200k.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectCalls {
    /// How many calls were made, those that failed among them.
    pub calls: u64,
    /// How many of them failed: refused, not answered, or answered with an error.
    pub failed: u64,
    /// Tokens of their arguments as JSON.
    pub written: u64,
    /// Tokens of the texts of their answers.
    pub read: u64,
    /// Bytes of these texts.
    pub read_bytes: u64,
    /// The same for each tool, by name.
    pub tools: Vec<ToolCalls>,
}

/// The calls of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCalls {
    /// The server's name as far as it was found.
    pub server: String,
    /// The tool's name as far as it was found.
    pub tool: String,
    /// How many there were.
    pub calls: u64,
    /// Tokens of their arguments.
    pub written: u64,
    /// Tokens of the texts of their answers.
    pub read: u64,
}

/// The definitions that a model would be sent if the servers were connected to its client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Their tokens: names, descriptions and input schemas.
    pub tokens: u64,
    /// How many tools there are that may be called.
    pub tools: usize,
    /// How many servers have listed them.
    pub servers: usize,
    /// How many servers have not listed their tools, whose definitions are not counted.
    pub unlisted: usize,
}

#[derive(Debug)]
enum Item {
    Call(Call),
    Total(oneshot::Sender<Result<DirectCalls, Unloadable>>),
}

#[derive(Debug)]
struct Call {
    tool: ToolRef,
    arguments: String,
    answer: Option<Answered>,
    /// Its part of the room, given back once it is counted.
    _room: Option<OwnedSemaphorePermit>,
}

#[derive(Debug)]
enum Answered {
    Result { raw: String, is_error: bool },
    Failure(String),
}

/// A call that was begun. One that is given up has cost its arguments.
#[derive(Debug)]
pub(crate) struct Begun {
    room: Arc<Semaphore>,
    /// The call and its place among those that wait to be counted.
    entry: Option<(mpsc::OwnedPermit<Item>, Call)>,
}

// === impl Tally ===

impl Tally {
    /// Begins to count; needs a runtime around it.
    pub fn new(counter: Counter) -> Tally {
        let (items, taken) = mpsc::channel(MOST_CALLS);
        tokio::spawn(keep(counter, taken));
        Tally {
            items,
            room: Arc::new(Semaphore::new(ROOM as usize)),
        }
    }

    /// Everything that was counted, once all that was handed in is.
    ///
    /// # Errors
    /// If tokens cannot be counted at all.
    pub async fn total(&self) -> Result<DirectCalls, Unloadable> {
        let (sender, total) = oneshot::channel();
        // Whoever counts ends with the last tally, so that there is an answer.
        let _ = self.items.send(Item::Total(sender)).await;
        total.await.unwrap_or_else(|_| Ok(DirectCalls::default()))
    }

    /// A call begins. Waits while too many wait to be counted.
    pub(crate) async fn begin(&self, tool: ToolRef, arguments: &Value) -> Begun {
        let call = Call {
            tool,
            arguments: arguments.to_string(),
            answer: None,
            _room: None,
        };
        let place = self.items.clone().reserve_owned().await;
        Begun {
            room: self.room.clone(),
            // Whoever counts ends with the last tally, so that there is a place.
            entry: place.ok().map(|place| (place, call)),
        }
    }
}

// === impl Begun ===

impl Begun {
    /// The call is not counted.
    pub(crate) fn leave(mut self) {
        self.entry = None;
    }

    /// The call has come to its end; `tool` is what it was found to be.
    pub(crate) async fn ended(mut self, tool: &ToolRef, answer: &Answer) {
        let answered = match answer {
            Ok(raw) => Answered::result(raw),
            Err(error) => Answered::Failure(error.message.clone()),
        };
        let kib = u32::try_from(answered.len() / 1024)
            .unwrap_or(ROOM)
            .clamp(1, ROOM);
        let room = self.room.clone().acquire_many_owned(kib).await.ok();
        if let Some((_, call)) = &mut self.entry {
            call.tool.clone_from(tool);
            call.answer = Some(answered);
            call._room = room;
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some((place, call)) = self.entry.take() {
            drop(place.send(Item::Call(call)));
        }
    }
}

// === impl Answered ===

impl Answered {
    fn result(raw: &RawValue) -> Answered {
        Answered::Result {
            raw: raw.get().to_owned(),
            is_error: is_tool_error(raw),
        }
    }

    fn len(&self) -> usize {
        match self {
            Answered::Result { raw, .. } => raw.len(),
            Answered::Failure(message) => message.len(),
        }
    }

    fn text(&self) -> String {
        match self {
            Answered::Result { raw, .. } => answer_text(raw),
            Answered::Failure(message) => message.clone(),
        }
    }
}

/// Counts what comes, one after another, until the last tally is gone.
async fn keep(counter: Counter, mut items: mpsc::Receiver<Item>) {
    let mut sums = Ok(Sums::default());
    while let Some(item) = items.recv().await {
        match item {
            Item::Call(call) => {
                let counter = counter.clone();
                let counted = tokio::task::spawn_blocking(move || {
                    let tokenizer = counter.load()?;
                    Ok(Counted::of(tokenizer, &call))
                });
                match (&mut sums, counted.await) {
                    (Ok(sums), Ok(Ok(counted))) => sums.add(counted),
                    (_, Ok(Err(unloadable))) => sums = Err(unloadable),
                    // The runtime is ending, and with it the run.
                    (_, Err(_)) | (Err(_), _) => {}
                }
            }
            Item::Total(sender) => {
                let _ = sender.send(sums.as_ref().map(Sums::total).map_err(Clone::clone));
            }
        }
    }
}

/// One call, counted.
struct Counted {
    tool: ToolRef,
    failed: bool,
    written: u64,
    read: u64,
    read_bytes: u64,
}

#[derive(Default)]
struct Sums {
    direct: DirectCalls,
    tools: BTreeMap<ToolRef, ToolCalls>,
}

// === impl Counted ===

impl Counted {
    fn of(tokenizer: &Tokenizer, call: &Call) -> Counted {
        let text = call.answer.as_ref().map(Answered::text).unwrap_or_default();
        Counted {
            tool: call.tool.clone(),
            failed: !matches!(&call.answer, Some(Answered::Result { is_error: false, .. })),
            written: tokenizer.text(&call.arguments),
            read: tokenizer.text(&text),
            read_bytes: text.len() as u64,
        }
    }
}

// === impl Sums ===

impl Sums {
    fn add(&mut self, counted: Counted) {
        let direct = &mut self.direct;
        direct.calls += 1;
        direct.failed += u64::from(counted.failed);
        direct.written += counted.written;
        direct.read += counted.read;
        direct.read_bytes += counted.read_bytes;
        let tool = self.tools.entry(counted.tool).or_default();
        tool.calls += 1;
        tool.written += counted.written;
        tool.read += counted.read;
    }

    fn total(&self) -> DirectCalls {
        let named = |(tool, calls): (&ToolRef, &ToolCalls)| ToolCalls {
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            ..calls.clone()
        };
        DirectCalls {
            tools: self.tools.iter().map(named).collect(),
            ..self.direct.clone()
        }
    }
}

/// Counts the definitions of a catalog that `principal` may call; on a thread for blocking work.
pub(crate) async fn definitions(
    shared: Arc<Shared>,
    catalog: Arc<Catalog>,
    principal: Principal,
    counter: Counter,
) -> Result<Definitions, Unloadable> {
    let counted = tokio::task::spawn_blocking(move || {
        let tokenizer = counter.load()?;
        let mut definitions = Definitions::default();
        for server in catalog.servers() {
            if !server.listed {
                definitions.unlisted += 1;
                continue;
            }
            // Tool files are no server's: without codeyard nobody could be sent their definitions.
            if server
                .entries()
                .any(|entry| shared.lists.file(&entry.tool).is_some())
            {
                continue;
            }
            let callable = server
                .entries()
                .filter(|entry| shared.may_call(&principal, entry));
            let tools: Vec<&Tool> = callable.map(|entry| entry.definition.as_ref()).collect();
            definitions.servers += 1;
            definitions.tools += tools.len();
            definitions.tokens += tokenizer.tools(&tools);
        }
        Ok(definitions)
    });
    // The runtime is ending, and with it whoever asked.
    counted.await.unwrap_or_else(|_| Ok(Definitions::default()))
}

//! What the tool calls of one run would have cost a model that makes them itself, counted beside the run as answers come.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use catalog::Catalog;
use serde_json::Value;
use tokens::{Counter, Tokenizer, Unloadable, answer_text};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use types::{Principal, Tool, ToolRef};

use crate::broker::Shared;
use crate::call::is_tool_error;
use crate::run;

/// KiB of arguments and answers of one run that may wait to be counted: the longest answer of a server fits.
const ROOM: u32 = 16 * 1024;
/// Bytes of arguments and answers that are counted for one run: some seconds of one core. Later calls are not counted whole.
const BUDGET: usize = 24 * 1024 * 1024;
/// How long a call waits for its part of the room; after that it is not counted whole.
const PATIENCE: Duration = Duration::from_secs(5);
/// Calls of one run that are under way or wait to be counted: more than may be under way.
const MOST_CALLS: usize = 4096;
/// Tools of one run that are counted each for itself: a program may make up names without end.
const MOST_TOOLS: usize = 4096;
/// Bytes of a name that are kept: names that servers list are not longer.
const MOST_OF_NAME: usize = 256;

/// What is counted of the calls of a run. Cheap to clone; what nobody asks for goes with the last clone.
#[derive(Debug, Clone)]
pub struct Tally {
    items: mpsc::Sender<Item>,
    room: Room,
}

/// What the texts of one run may take until they are counted, and how much of them is counted at all. Cheap to clone.
#[derive(Debug, Clone)]
struct Room {
    free: Arc<Semaphore>,
    /// Bytes of the budget that are left.
    budget: Arc<AtomicUsize>,
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
    /// How many were not counted whole: for their arguments or their answer there was no room in time.
    pub uncounted: u64,
    /// The same for each tool, by name; beyond some thousands as one of the server `(others)`.
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
    Arguments(Arguments),
    Call(Call),
    Total(oneshot::Sender<Result<DirectCalls, Unloadable>>),
}

/// Arguments wait for nothing but what came before them, so that calls under way take no room.
#[derive(Debug)]
struct Arguments {
    text: String,
    tokens: Tokens,
    /// Given back once they are counted.
    _room: OwnedSemaphorePermit,
}

/// Tokens of a call's arguments, once they are counted: before the call, which comes later.
type Tokens = Arc<OnceLock<u64>>;

#[derive(Debug)]
struct Call {
    tool: ToolRef,
    written: Tokens,
    failed: bool,
    answer: Answer,
}

#[derive(Debug)]
enum Answer {
    /// Nobody waited for it.
    GivenUp,
    /// There was no room for it.
    NoRoom,
    Text {
        text: Answered,
        /// Given back once it is counted.
        _room: OwnedSemaphorePermit,
    },
}

#[derive(Debug)]
enum Answered {
    Result(String),
    Failure(String),
}

/// A call that was begun. One that is given up has cost its arguments.
#[derive(Debug)]
pub(crate) struct Begun {
    room: Room,
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
            room: Room {
                free: Arc::new(Semaphore::new(ROOM as usize)),
                budget: Arc::new(AtomicUsize::new(BUDGET)),
            },
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
    pub(crate) async fn begin(&self, tool: &ToolRef, arguments: &Value) -> Begun {
        let call = Call {
            tool: named(tool),
            written: self.arguments(arguments).await,
            failed: true,
            answer: Answer::GivenUp,
        };
        let place = self.items.clone().reserve_owned().await;
        Begun {
            room: self.room.clone(),
            // Whoever counts ends with the last tally, so that there is a place.
            entry: place.ok().map(|place| (place, call)),
        }
    }

    /// Hands arguments in if there is room for them; their tokens are known once they are counted.
    async fn arguments(&self, arguments: &Value) -> Tokens {
        let tokens = Tokens::default();
        // The place comes first: who has room waits for nothing else.
        if let Ok(place) = self.items.reserve().await
            && let Some(room) = self.room.take(length(arguments)).await
        {
            place.send(Item::Arguments(Arguments {
                text: arguments.to_string(),
                tokens: tokens.clone(),
                _room: room,
            }));
        }
        tokens
    }
}

// === impl Begun ===

impl Begun {
    /// The call is not counted.
    pub(crate) fn leave(mut self) {
        self.entry = None;
    }

    /// The call has come to its end; `tool` is what it was found to be. The answer is copied when there is room for it.
    pub(crate) async fn ended(mut self, tool: &ToolRef, answer: &run::Answer) {
        let (bytes, failed) = match answer {
            Ok(raw) => (raw.get().len(), is_tool_error(raw)),
            Err(error) => (error.message.len(), true),
        };
        let room = self.room.take(bytes).await;
        if let Some((_, call)) = &mut self.entry {
            call.tool = named(tool);
            call.failed = failed;
            call.answer = match room {
                None => Answer::NoRoom,
                Some(room) => Answer::Text {
                    text: Answered::of(answer),
                    _room: room,
                },
            };
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
    fn of(answer: &run::Answer) -> Answered {
        match answer {
            Ok(raw) => Answered::Result(raw.get().to_owned()),
            Err(error) => Answered::Failure(error.message.clone()),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Answered::Result(raw) => answer_text(raw).into(),
            Answered::Failure(message) => message.into(),
        }
    }
}

// === impl Room ===

impl Room {
    /// The part that a text of this length takes, if it is within the budget and there is room in time.
    async fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.div_ceil(1024)).ok()?.max(1);
        if kib > ROOM || !self.spend(bytes) {
            return None;
        }
        let taken = timeout(PATIENCE, self.free.clone().acquire_many_owned(kib));
        taken.await.ok()?.ok()
    }

    fn spend(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.budget
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }
}

/// Bytes of a value as JSON, which is not written for that.
fn length(value: &Value) -> usize {
    struct Length(usize);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    // Nothing that is written here fails.
    let _ = serde_json::to_writer(&mut length, value);
    length.0
}

/// The tool under names of bounded length.
fn named(tool: &ToolRef) -> ToolRef {
    let cut = |name: &str| name[..name.floor_char_boundary(MOST_OF_NAME)].to_owned();
    ToolRef::new(cut(&tool.server), cut(&tool.tool))
}

/// Counts what comes, one after another, until the last tally is gone.
async fn keep(counter: Counter, mut items: mpsc::Receiver<Item>) {
    let mut sums = Ok(Sums::default());
    while let Some(item) = items.recv().await {
        if items.sender_strong_count() == 0 {
            // Nobody can ask for the sums any more: the answer went out without them.
            break;
        }
        if let Item::Total(sender) = item {
            let _ = sender.send(sums.as_ref().map(Sums::total).map_err(Clone::clone));
            continue;
        }
        let counter = counter.clone();
        let counted = tokio::task::spawn_blocking(move || Ok::<_, Unloadable>(item.count(counter.load()?)));
        match (&mut sums, counted.await) {
            (Ok(sums), Ok(Ok(Some(counted)))) => sums.add(counted),
            (_, Ok(Err(unloadable))) => sums = Err(unloadable),
            // Arguments belong to a call that comes later; else the runtime is ending, and with it the run.
            (_, Ok(Ok(None)) | Err(_)) | (Err(_), _) => {}
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
    is_whole: bool,
}

#[derive(Default)]
struct Sums {
    direct: DirectCalls,
    tools: BTreeMap<ToolRef, ToolCalls>,
}

// === impl Item ===

impl Item {
    /// A call, counted; `None` for what is none.
    fn count(self, tokenizer: &Tokenizer) -> Option<Counted> {
        match self {
            Item::Arguments(arguments) => {
                // Nobody else sets it.
                let _ = arguments.tokens.set(tokenizer.text(&arguments.text));
                None
            }
            Item::Call(call) => Some(Counted::of(tokenizer, call)),
            Item::Total(_) => None,
        }
    }
}

// === impl Counted ===

impl Counted {
    fn of(tokenizer: &Tokenizer, call: Call) -> Counted {
        let text = match &call.answer {
            Answer::Text { text, .. } => text.text(),
            Answer::GivenUp | Answer::NoRoom => Cow::Borrowed(""),
        };
        let (read, read_bytes) = (tokenizer.text(&text), text.len() as u64);
        Counted {
            failed: call.failed,
            written: call.written.get().copied().unwrap_or_default(),
            read,
            read_bytes,
            is_whole: call.written.get().is_some() && !matches!(call.answer, Answer::NoRoom),
            tool: call.tool,
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
        direct.uncounted += u64::from(!counted.is_whole);
        let is_one_of_many = self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&counted.tool);
        let name = match is_one_of_many {
            true => ToolRef::new("(others)", ""),
            false => counted.tool,
        };
        let tool = self.tools.entry(name).or_default();
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

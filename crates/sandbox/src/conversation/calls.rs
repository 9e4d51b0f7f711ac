//! Host calls of one run: counted, bounded in number and size, dropped when the run ends.

use std::collections::{HashSet, VecDeque};
use std::future::pending;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use guest::frames::{Args, Measure};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use types::RunLimits;

use super::turn::STEPS;
use crate::wire::WireError;
use crate::{BoxFuture, HostCall, HostCallError, HostCalls, Stream};

/// What a call came to.
pub type Answer = Result<Box<RawValue>, HostCallError>;

/// Bytes of calls under way beyond which the host reads no further frames.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Arguments of more bytes are built on another thread.
const SMALL: usize = 64 * 1024;

/// KiB of argument values of all sessions together; a large call beyond them waits for another to end.
static VALUES: Semaphore = Semaphore::const_new(256 * 1024);

/// A call whose arguments are still text.
struct Unbuilt {
    name: String,
    args: Args,
    /// Bytes of its frame.
    size: usize,
}

/// The calls of one run.
pub struct Calls {
    host: Arc<dyn HostCalls>,
    most: u32,
    at_once: usize,
    made: u32,
    bytes: usize,
    ids: HashSet<u64>,
    /// What the arguments of the calls under way cost together.
    built: Measure,
    under_way: FuturesUnordered<BoxFuture<'static, (u64, usize, Measure, Answer)>>,
    waiting: VecDeque<(u64, Unbuilt)>,
    /// Calls started in this turn: each new one is polled before any other task of the thread goes on.
    started: u32,
}

impl Calls {
    /// All names that a call may begin with, if the host says so.
    pub fn names(&self) -> Option<Vec<String>> {
        self.host.names()
    }

    /// Tells the host what the program has printed.
    pub fn printed(&self, stream: Stream, bytes: &[u8]) {
        self.host.printed(stream, bytes);
    }

    /// None made yet.
    pub fn new(host: Arc<dyn HostCalls>, limits: &RunLimits) -> Self {
        Self {
            host,
            most: limits.host_calls,
            at_once: usize::try_from(limits.concurrent_host_calls)
                .unwrap_or(usize::MAX)
                .max(1),
            made: 0,
            bytes: 0,
            ids: HashSet::new(),
            built: Measure::default(),
            under_way: FuturesUnordered::new(),
            waiting: VecDeque::new(),
            started: 0,
        }
    }

    /// How many were made.
    pub fn made(&self) -> u32 {
        self.made
    }

    /// Whether another frame may be read.
    pub fn has_room(&self) -> bool {
        self.bytes < MAX_BYTES
    }

    /// Starts a call, or queues it; a call beyond the limit is refused at once.
    pub fn start(
        &mut self,
        id: u64,
        name: String,
        args: Args,
        size: usize,
    ) -> Result<Option<(u64, HostCallError)>, WireError> {
        if self.made >= self.most {
            return Ok(Some((id, too_many(self.most))));
        }
        if !self.ids.insert(id) {
            return Err(WireError::Protocol(format!("two calls with id {id}")));
        }
        self.made += 1;
        if !args.measure.fits() {
            self.ids.remove(&id);
            return Ok(Some((id, too_large(args.measure))));
        }
        self.bytes += size;
        self.waiting.push_back((id, Unbuilt { name, args, size }));
        self.launch_next();
        Ok(None)
    }

    /// Begins a turn: as many calls may start in it as have their place.
    pub fn launch(&mut self) {
        self.started = 0;
        while self.launch_next() {}
    }

    /// Whether calls wait for the next turn alone.
    pub fn may_launch(&self) -> bool {
        self.started >= STEPS && self.next_fits().is_some()
    }

    /// Starts the first call that waits, if its place and its turn have come.
    fn launch_next(&mut self) -> bool {
        let Some(together) = self.next_fits().filter(|_| self.started < STEPS) else {
            return false;
        };
        let Some((id, call)) = self.waiting.pop_front() else {
            return false;
        };
        self.started += 1;
        self.built = together;
        let host = Arc::clone(&self.host);
        let (size, measure) = (call.size, call.args.measure);
        self.under_way.push(Box::pin(
            async move { (id, size, measure, made(host, call).await) },
        ));
        true
    }

    /// What the calls under way cost together with the first that waits, if their number and their values allow it.
    fn next_fits(&self) -> Option<Measure> {
        let (_, call) = self.waiting.front()?;
        let together = self.built.and(call.args.measure);
        let is_first = self.under_way.is_empty();
        (self.under_way.len() < self.at_once && (is_first || together.fits())).then_some(together)
    }

    /// The next answer. Pends while no call is under way.
    pub async fn next(&mut self) -> Option<(u64, Answer)> {
        if self.under_way.is_empty() {
            return pending().await;
        }
        let (id, size, measure, answer) = self.under_way.next().await?;
        self.ids.remove(&id);
        self.bytes = self.bytes.saturating_sub(size);
        self.built = self.built.without(measure);
        self.launch_next();
        Some((id, answer))
    }
}

/// Builds the arguments of a call and makes it.
async fn made(host: Arc<dyn HostCalls>, call: Unbuilt) -> Answer {
    let Unbuilt { name, args, .. } = call;
    let memory = args.measure.memory;
    let _room = if memory > SMALL {
        let kib = u32::try_from(memory / 1024).unwrap_or(u32::MAX);
        Some(VALUES.acquire_many(kib).await.map_err(|_| unreadable())?)
    } else {
        None
    };
    let args = if args.measure.text > SMALL {
        let built = tokio::task::spawn_blocking(move || build(&args.text)).await;
        built.map_err(|_| unreadable())??
    } else {
        build(&args.text)?
    };
    host.call(HostCall { name, args }).await
}

fn build(text: &RawValue) -> Result<Value, HostCallError> {
    serde_json::from_str(text.get()).map_err(|_| unreadable())
}

fn unreadable() -> HostCallError {
    refused("invalid_arguments", "the arguments are not valid JSON".to_owned())
}

fn too_large(measure: Measure) -> HostCallError {
    let message = format!(
        "the arguments have {} values in {} bytes, more than the host builds for one call; pass fewer, or a file's path",
        measure.nodes, measure.text
    );
    refused("invalid_arguments", message)
}

fn refused(kind: &str, message: String) -> HostCallError {
    HostCallError {
        kind: kind.to_owned(),
        message,
        hint: None,
        retryable: false,
    }
}

fn too_many(most: u32) -> HostCallError {
    HostCallError {
        kind: "limit".to_owned(),
        message: format!("this run has made its {most} host calls"),
        hint: Some("fetch more per call, or go on in another run".to_owned()),
        retryable: false,
    }
}

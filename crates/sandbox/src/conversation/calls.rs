//! Host calls of one run: counted, bounded in number and size, cancelled when the run ends.

use std::collections::{HashSet, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use guest::frames::{Args, Done, Measure};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use types::{CHECK_CALL, HostCallError, HostCallErrorKind, RunInputs, RunLimits};

use super::turn::STEPS;
use crate::wire::WireError;
use crate::{BoxFuture, CallContext, HostCall, HostCalls, RunClock, Stream};

pub type HostCallResult = Result<Box<RawValue>, HostCallError>;

/// Total bytes of active calls. Above this the host reads no more frames.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of arguments. Above this another thread parses them.
const SMALL: usize = 64 * 1024;

/// Time for cancelled calls to record their end.
const ENDING: Duration = Duration::from_secs(1);

/// KiB of argument values of all sessions together. Above this a large call waits until another call ends.
static VALUES: Semaphore = Semaphore::const_new(256 * 1024);

struct Unbuilt {
    name: String,
    args: Args,
    /// Size of the call's frame in bytes.
    size: usize,
}

pub struct Calls {
    host: Arc<dyn HostCalls>,
    context: CallContext,
    most: u32,
    at_once: usize,
    made: u32,
    /// Whether the guest has sent its program's calls for the check, which does not count as a call.
    judged: bool,
    bytes: usize,
    ids: HashSet<u64>,
    /// Total cost of the arguments of active calls.
    built: Measure,
    under_way: FuturesUnordered<BoxFuture<'static, (u64, usize, Measure, HostCallResult)>>,
    waiting: VecDeque<(u64, Unbuilt)>,
    /// Calls started in this turn. The host polls each new call before any other task of the thread runs.
    started: u32,
}

impl Calls {
    pub fn names(&self) -> Option<Vec<String>> {
        self.host.names()
    }

    pub fn inputs(&self) -> Option<RunInputs> {
        self.host.inputs()
    }

    /// Takes the guest's list from the end of the run.
    pub fn inputs_read(&self, done: Option<&mut Done>) {
        if let Some(reads) = done.and_then(|done| done.reads.take()) {
            self.host.inputs_read(&reads);
        }
    }

    pub fn printed(&self, stream: Stream, bytes: &[u8]) {
        self.host.printed(stream, bytes);
    }

    pub fn new(host: Arc<dyn HostCalls>, limits: &RunLimits, clock: RunClock) -> Self {
        Self {
            host,
            context: CallContext {
                cancel: CancellationToken::new(),
                clock,
            },
            most: limits.host_calls,
            at_once: usize::try_from(limits.concurrent_host_calls)
                .unwrap_or(usize::MAX)
                .max(1),
            made: 0,
            judged: false,
            bytes: 0,
            ids: HashSet::new(),
            built: Measure::default(),
            under_way: FuturesUnordered::new(),
            waiting: VecDeque::new(),
            started: 0,
        }
    }

    pub fn made(&self) -> u32 {
        self.made
    }

    /// Whether another frame may be read.
    pub fn has_room(&self) -> bool {
        self.bytes < MAX_BYTES
    }

    /// Starts a call or queues it. Refuses a call above the limit at once.
    pub fn start(
        &mut self,
        id: u64,
        name: String,
        args: Args,
        size: usize,
    ) -> Result<Option<(u64, HostCallError)>, WireError> {
        let is_judging = name == CHECK_CALL && !self.judged;
        if self.made >= self.most && !is_judging {
            return Ok(Some((id, too_many(self.most))));
        }
        if !self.ids.insert(id) {
            return Err(WireError::Protocol(format!("two calls with id {id}")));
        }
        self.judged |= is_judging;
        self.made += u32::from(!is_judging);
        if !args.measure.fits() {
            self.ids.remove(&id);
            return Ok(Some((id, too_large(args.measure))));
        }
        self.bytes += size;
        self.waiting.push_back((id, Unbuilt { name, args, size }));
        self.launch_next();
        Ok(None)
    }

    /// Begins a turn: starts waiting calls, at most `STEPS` of them, while there is room.
    pub fn launch(&mut self) {
        self.started = 0;
        while self.launch_next() {}
    }

    /// Whether a call waits only because this turn has already started `STEPS` calls.
    pub fn may_launch(&self) -> bool {
        self.started >= STEPS && self.next_fits().is_some()
    }

    /// Starts the first waiting call, if there is room and the turn allows it.
    fn launch_next(&mut self) -> bool {
        let Some(together) = self.next_fits().filter(|_| self.started < STEPS) else {
            return false;
        };
        let Some((id, call)) = self.waiting.pop_front() else {
            return false;
        };
        self.started += 1;
        self.built = together;
        let (host, context) = (Arc::clone(&self.host), self.context.clone());
        let (size, measure) = (call.size, call.args.measure);
        self.under_way.push(Box::pin(async move {
            (id, size, measure, made(host, call, context).await)
        }));
        true
    }

    /// The total cost including the first waiting call; `None` if number or cost exceeds its limit.
    fn next_fits(&self) -> Option<Measure> {
        let (_, call) = self.waiting.front()?;
        let together = self.built.and(call.args.measure);
        let is_first = self.under_way.is_empty();
        (self.under_way.len() < self.at_once && (is_first || together.fits())).then_some(together)
    }

    /// The next answer. Pends while no call is active.
    pub async fn next(&mut self) -> Option<(u64, HostCallResult)> {
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

    /// Cancels the active calls and waits for them to record their end. Drops queued calls.
    pub async fn cancel(&mut self) {
        self.waiting.clear();
        if self.under_way.is_empty() {
            return;
        }
        self.context.cancel.cancel();
        let ended = async { while self.under_way.next().await.is_some() {} };
        if timeout(ENDING, ended).await.is_err() {
            tracing::warn!("{} calls of a run that is over did not end", self.under_way.len());
        }
        self.under_way.clear();
    }
}

async fn made(host: Arc<dyn HostCalls>, call: Unbuilt, context: CallContext) -> HostCallResult {
    let built = context.cancel.run_until_cancelled(built(call.args)).await;
    let (args, _room) = built.ok_or_else(cancelled)??;
    let name = call.name;
    host.call(HostCall { name, args }, context).await
}

/// Parses the arguments of a call. The permit holds their share of [`VALUES`].
async fn built(args: Args) -> Result<(Value, Option<SemaphorePermit<'static>>), HostCallError> {
    let memory = args.measure.memory;
    let room = if memory > SMALL {
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
    Ok((args, room))
}

fn build(text: &RawValue) -> Result<Value, HostCallError> {
    serde_json::from_str(text.get()).map_err(|_| unreadable())
}

fn cancelled() -> HostCallError {
    HostCallError::new(HostCallErrorKind::Cancelled, "the run is over")
}

fn unreadable() -> HostCallError {
    HostCallError::new(
        HostCallErrorKind::InvalidArguments,
        "the arguments are not valid JSON",
    )
}

fn too_large(measure: Measure) -> HostCallError {
    let message = format!(
        "the arguments have {} values in {} bytes, more than the host builds for one call; pass fewer, or a file's path",
        measure.nodes, measure.text
    );
    HostCallError::new(HostCallErrorKind::InvalidArguments, message)
}

fn too_many(most: u32) -> HostCallError {
    let message = format!("this run has made its {most} host calls");
    HostCallError::new(HostCallErrorKind::Limit, message)
        .with_hint("fetch more per call, or go on in another run")
}

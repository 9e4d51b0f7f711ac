//! Host calls of one run: counted, bounded in number and size, dropped when the run ends.

use std::collections::{HashSet, VecDeque};
use std::future::pending;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use serde_json::value::RawValue;
use types::RunLimits;

use crate::wire::WireError;
use crate::{BoxFuture, HostCall, HostCallError, HostCalls};

/// What a call came to.
pub type Answer = Result<Box<RawValue>, HostCallError>;

/// Bytes of calls under way beyond which the host reads no further frames.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The calls of one run.
pub struct Calls {
    host: Arc<dyn HostCalls>,
    most: u32,
    at_once: usize,
    made: u32,
    bytes: usize,
    ids: HashSet<u64>,
    under_way: FuturesUnordered<BoxFuture<'static, (u64, usize, Answer)>>,
    waiting: VecDeque<(u64, HostCall, usize)>,
}

impl Calls {
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
            under_way: FuturesUnordered::new(),
            waiting: VecDeque::new(),
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
        args: Value,
        size: usize,
    ) -> Result<Option<(u64, HostCallError)>, WireError> {
        if self.made >= self.most {
            return Ok(Some((id, too_many(self.most))));
        }
        if !self.ids.insert(id) {
            return Err(WireError::Protocol(format!("two calls with id {id}")));
        }
        self.made += 1;
        self.bytes += size;
        let call = HostCall { name, args };
        if self.under_way.len() < self.at_once {
            self.launch(id, call, size);
        } else {
            self.waiting.push_back((id, call, size));
        }
        Ok(None)
    }

    fn launch(&mut self, id: u64, call: HostCall, size: usize) {
        let host = Arc::clone(&self.host);
        self.under_way
            .push(Box::pin(async move { (id, size, host.call(call).await) }));
    }

    /// The next answer. Pends while no call is under way.
    pub async fn next(&mut self) -> Option<(u64, Answer)> {
        if self.under_way.is_empty() {
            return pending().await;
        }
        let (id, size, answer) = self.under_way.next().await?;
        self.ids.remove(&id);
        self.bytes = self.bytes.saturating_sub(size);
        if let Some((id, call, size)) = self.waiting.pop_front() {
            self.launch(id, call, size);
        }
        Some((id, answer))
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

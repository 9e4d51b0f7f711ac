//! Passes on what a program prints while it runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::value::RawValue;
use types::HostCallError;

/// What a program has just printed.
#[derive(Debug)]
pub struct Printed {
    /// The stream that it was printed to.
    pub stream: Stream,
    /// What, not decoded: a character may begin in one piece and end in the next.
    pub bytes: Vec<u8>,
}

/// The host calls of a run whose output somebody wants to hear: of each stream as much as is kept of its beginning.
pub(crate) struct Printing {
    calls: Arc<dyn HostCalls>,
    receiver: mpsc::SyncSender<Printed>,
    /// Bytes that are still passed on, by stream.
    left: [AtomicU64; 2],
}

impl Printing {
    /// `output` is the run's limit, of which the first half is the beginning that is kept.
    pub(crate) fn new(calls: Arc<dyn HostCalls>, receiver: mpsc::SyncSender<Printed>, output: u64) -> Self {
        Self {
            calls,
            receiver,
            left: [AtomicU64::new(output / 2), AtomicU64::new(output / 2)],
        }
    }
}

impl HostCalls for Printing {
    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        self.calls.call(call, context)
    }

    fn names(&self) -> Option<Vec<String>> {
        self.calls.names()
    }

    fn printed(&self, stream: Stream, bytes: &[u8]) {
        let left = match stream {
            Stream::Stdout => &self.left[0],
            Stream::Stderr => &self.left[1],
        };
        let room = left.load(Ordering::Relaxed).min(bytes.len() as u64);
        left.fetch_sub(room, Ordering::Relaxed);
        let shown = usize::try_from(room).unwrap_or(bytes.len());
        if shown > 0 {
            let printed = Printed {
                stream,
                bytes: bytes[..shown].to_vec(),
            };
            // A listener that is too slow or gone misses nothing: all output is in the outcome. What follows a gap would be
            // out of place.
            if self.receiver.try_send(printed).is_err() {
                left.store(0, Ordering::Relaxed);
            }
        }
    }
}

//! Forwards a program's output while the program runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};

use sandbox::{BoxFuture, CallContext, HostCall, HostCalls, Stream};
use serde_json::value::RawValue;
use types::{HostCallError, RunInputs};

/// A piece of output.
#[derive(Debug)]
pub struct Printed {
    /// The stream that it was printed to.
    pub stream: Stream,
    /// Raw bytes: two pieces may split one character.
    pub bytes: Vec<u8>,
}

/// Host calls of a run whose output is forwarded. Forwards the beginning of each stream, up to the bytes the outcome
/// keeps.
pub(crate) struct Printing {
    calls: Arc<dyn HostCalls>,
    receiver: mpsc::SyncSender<Printed>,
    /// Bytes still to forward, by stream.
    left: [AtomicU64; 2],
}

impl Printing {
    /// `output` is the run's limit; its first half is the kept beginning.
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

    fn inputs(&self) -> Option<RunInputs> {
        self.calls.inputs()
    }

    fn inputs_read(&self, reads: &RawValue) {
        self.calls.inputs_read(reads);
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
            // The outcome has all output, so a slow or absent listener loses nothing. After a dropped piece, stop
            // forwarding: later pieces would leave a gap.
            if self.receiver.try_send(printed).is_err() {
                left.store(0, Ordering::Relaxed);
            }
        }
    }
}

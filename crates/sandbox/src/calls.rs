//! Host calls: requests of a guest to the host.

use serde_json::Value;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use types::{HostCallError, HostCallErrorKind, RunInputs};

use crate::{BoxFuture, RunClock};

/// One request of the guest: untrusted input.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// Name of the call, such as `tool`.
    pub name: String,
    /// JSON from the guest.
    pub args: Value,
}

/// Cancellation and wall clock of the run that a host call belongs to. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Triggered when the run ends. The call then records its end and returns at once.
    pub cancel: CancellationToken,
    /// The wall clock of the run. A call stops the clock while the call waits for a person.
    pub clock: RunClock,
}

/// The host's side of one run: answers host calls. Implemented by `broker`; shared by concurrent calls.
pub trait HostCalls: Send + Sync {
    /// Answers one call. The answer of a cancelled call is discarded.
    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>>;

    /// All names with which a program may begin a call. The guest refuses other names without asking the host. `None`
    /// if the guest must ask the host for every name.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// Clock and randomness of the run, if it is recorded or repeated.
    fn inputs(&self) -> Option<RunInputs> {
        None
    }

    /// Receives the guest's list of what the program read of them, untrusted, at the end of the run.
    fn inputs_read(&self, _reads: &RawValue) {}

    /// Receives the program's output while it runs. The outcome contains all of it too.
    fn printed(&self, _stream: Stream, _bytes: &[u8]) {}
}

/// An output stream of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Refuses every call: for the host's own programs, which have no tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCalls;

impl HostCalls for NoCalls {
    fn call(
        &self,
        call: HostCall,
        _context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        let error = HostCallError::new(HostCallErrorKind::UnknownCall, call.name);
        Box::pin(std::future::ready(Err(error)))
    }
}

//! Host calls: what a guest may ask of the host.

use serde_json::Value;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use types::{HostCallError, HostCallErrorKind};

use crate::{BoxFuture, RunClock};

/// One question of the guest. Untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// Name of the call, such as `tool`.
    pub name: String,
    /// Arguments.
    pub args: Value,
}

/// Cancellation and wall clock of the run that a host call belongs to. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// Triggered when the run ends. The call then records its end and returns at once.
    pub cancel: CancellationToken,
    /// The wall clock of the run. A call that waits for a person stops it meanwhile.
    pub clock: RunClock,
}

/// What the host does for one run: it answers host calls. Implemented by `broker`; shared by concurrent calls.
pub trait HostCalls: Send + Sync {
    /// Answers one call. The answer of a cancelled call is discarded.
    fn call(
        &self,
        call: HostCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>>;

    /// All names that a program may begin a call with, so that the guest refuses others without asking; `None` where it has
    /// to ask.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// Hears what the program prints while it runs; all of it is in the outcome too.
    fn printed(&self, _stream: Stream, _bytes: &[u8]) {}
}

/// Where a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Answers no call: for programs of the host's own that have no tools.
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

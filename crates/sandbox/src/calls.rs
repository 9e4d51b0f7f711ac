//! Host calls: what a guest may ask of the host.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::BoxFuture;

/// One question of the guest. Untrusted.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// Name of the call, such as `tool`.
    pub name: String,
    /// Arguments.
    pub args: Value,
}

/// Why a host call failed; the program sees it as an exception.
pub type HostCallError = guest::frames::CallError;

/// What the host does for one run: it answers host calls. Implemented by `broker`; shared by concurrent calls.
///
/// The future is dropped when the run ends: an implementation cancels what it started.
pub trait HostCalls: Send + Sync {
    /// Answers one call.
    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>>;

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
    fn call(&self, call: HostCall) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        let error = HostCallError {
            kind: "unknown_call".to_owned(),
            message: call.name,
            hint: None,
            retryable: false,
        };
        Box::pin(std::future::ready(Err(error)))
    }
}

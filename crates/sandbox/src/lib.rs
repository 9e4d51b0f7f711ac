//! The contract between sessions and sandboxes: a `Backend` launches a `Guest`, a `Guest` executes runs.
//!
//! This crate knows neither MCP nor tools: a host call is a name and JSON. All backends share `Conversation`:
//! frames, output, host calls, timers and escalation over one channel and a `GuestProcesses`.

mod backend;
mod calls;
mod capture;
mod clock;
mod conversation;
mod guest_processes;
mod wire;

pub use backend::{
    Attachment, AttachmentAccess, Backend, BackendFigures, BoxFuture, Guest, LaunchError, LaunchSpec, Run,
    SESSION, SHARED, ask,
};
pub use calls::{CallContext, HostCall, HostCalls, NoCalls, Stream};
pub use clock::{RunClock, StoppedClock};
pub use conversation::Conversation;
pub use guest_processes::{GuestProcesses, GuestUsage, Leftovers};
pub use wire::{Channels, WireError, watch};

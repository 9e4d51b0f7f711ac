//! The interface between a conversation and its guest's processes.

use std::time::Duration;

use types::Limit;

use crate::{Attachment, BoxFuture};

/// Measures, interrupts and ends a guest's processes. Dropping it ends them.
pub trait GuestProcesses: Send {
    /// Asks the program to stop. If the program stops, its state is kept.
    fn interrupt(&self);

    /// Ends every process of the guest; processes cannot prevent it.
    fn kill(&self);

    /// The guest's usage since its start.
    fn measure(&mut self) -> GuestUsage;

    /// Whether the guest's first process runs, or would run if it got a processor.
    fn wants_processor(&self) -> bool;

    /// A limit that the guest has exceeded and that the kernel does not enforce.
    fn exceeded(&mut self) -> Option<Limit>;

    /// Lets runs of other guests go first, if the system can lower the priority and restore it.
    fn yield_cpu(&mut self);

    /// Restores the guest's normal priority.
    fn reclaim_cpu(&mut self);

    /// Attaches directories to the guest. A new directory hides the previous one at the same path.
    ///
    /// # Errors
    /// The failure, with the directory.
    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), String>>;

    /// See [`crate::Guest::bound_files`].
    fn bound_files(&mut self, most: Option<u64>);

    /// See [`crate::Guest::unlinked`].
    fn unlinked(&mut self, device: u64) -> u64;

    /// Current memory in bytes; `None` if unreadable.
    fn memory(&self) -> Option<u64>;

    /// Ends the processes that a run has left behind. Afterwards only the guest's first process is alive, and the
    /// engine with this number in the session, if there is one. All their threads stay stopped until `resume`.
    ///
    /// # Errors
    /// Which processes did not end in time. The caller must kill the guest.
    fn settle(&mut self, engine: Option<u32>) -> BoxFuture<'_, Result<Leftovers, String>>;

    /// Continues the guest for its next run.
    fn resume(&mut self);

    /// Resolves when every process of the guest is gone.
    fn gone(&mut self) -> BoxFuture<'_, ()>;
}

/// Threads that a run has left behind, counted after `settle`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Threads of the guest, except the main one.
    pub threads: u32,
}

/// A guest's usage since its start; `None` if unreadable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuestUsage {
    /// CPU time of all processes.
    pub cpu: Option<Duration>,
    /// Highest memory in bytes.
    pub peak_memory: Option<u64>,
    /// Processes that the kernel killed at the memory limit.
    pub out_of_memory: u64,
}

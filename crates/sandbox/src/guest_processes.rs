//! What a conversation needs of the processes behind its channel.

use std::time::Duration;

use types::Limit;

use crate::{Attachment, BoxFuture};

/// Holds a guest's processes: measures, interrupts and ends them. Dropping it ends them.
pub trait GuestProcesses: Send {
    /// Asks the program to stop; state is kept if it does.
    fn interrupt(&self);

    /// Ends every process of the guest, whatever they do.
    fn kill(&self);

    /// What the guest has used since its start.
    fn measure(&mut self) -> GuestUsage;

    /// Whether the guest's first process would run if it were given a processor.
    fn wants_processor(&self) -> bool;

    /// A limit that the guest has exceeded and that no kernel mechanism has ended it for.
    fn exceeded(&mut self) -> Option<Limit>;

    /// Lets the runs of other guests have the processors first, where the system can do that and take it back.
    fn yield_cpu(&mut self);

    /// Gives the guest its normal priority back.
    fn reclaim_cpu(&mut self);

    /// Shows the guest these directories; one that it sees already at the same place is hidden by the new one.
    ///
    /// # Errors
    /// What failed, naming the directory.
    fn attach(&mut self, files: Vec<Attachment>) -> BoxFuture<'_, Result<(), String>>;

    /// Bounds every file that the guest writes from now on; see [`crate::Guest::bound_files`].
    fn bound_files(&mut self, most: Option<u64>);

    /// Bytes of open files without a name; see [`crate::Guest::unlinked`].
    fn unlinked(&mut self, device: u64) -> u64;

    /// Memory in bytes that the guest holds now; `None` where it cannot be read.
    fn memory(&self) -> Option<u64>;

    /// Ends what a run has left behind. Afterwards no process of the guest is alive but its first, and that one stands
    /// still with all of its threads until `resume`.
    ///
    /// # Errors
    /// What could not be ended in time; the guest must be killed.
    fn settle(&mut self) -> BoxFuture<'_, Result<Leftovers, String>>;

    /// Lets the guest go on for its next run.
    fn resume(&mut self);

    /// Resolves when every process of the guest is gone.
    fn gone(&mut self) -> BoxFuture<'_, ()>;
}

/// What a run has left behind, after `settle`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Threads beside the guest's main one.
    pub threads: u32,
}

/// What a guest has used since its start; `None` where it cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GuestUsage {
    /// CPU time of all processes.
    pub cpu: Option<Duration>,
    /// Peak memory in bytes.
    pub peak_memory: Option<u64>,
    /// Processes that the kernel killed for the memory limit.
    pub out_of_memory: u64,
}

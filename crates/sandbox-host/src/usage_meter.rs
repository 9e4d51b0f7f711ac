//! Reads the state of a session's processes from `/proc`, and their usage from the control group if there is one.

use std::time::Duration;

use jail::cgroup::Group;
use sandbox::{GuestUsage, Leftovers};

use crate::open_files;
use crate::process_tree::{self, ProcessTreeUsage};

/// Reads the process `root` and its descendants. The guest's first process is `root` or one of them.
#[derive(Debug)]
pub struct UsageMeter {
    root: u32,
    first: u32,
    last_cpu: Duration,
    peak_memory: u64,
}

impl UsageMeter {
    /// Starts without measurements.
    pub fn new(root: u32, first: u32) -> Self {
        Self {
            root,
            first,
            last_cpu: Duration::ZERO,
            peak_memory: 0,
        }
    }

    /// Reads the usage from `/proc` and keeps the highest values, because `/proc` no longer shows ended processes.
    pub fn poll(&mut self) -> ProcessTreeUsage {
        let usage = process_tree::usage(self.root);
        self.last_cpu = self.last_cpu.max(usage.cpu);
        self.peak_memory = self.peak_memory.max(usage.memory);
        usage
    }

    /// Whether the processes use more than `limit` bytes. Forked processes share most pages, so the sum over processes
    /// may exceed the limit although the real memory does not.
    pub fn exceeds_memory(&self, polled: &ProcessTreeUsage, limit: u64) -> bool {
        polled.memory > limit && process_tree::proportional_memory(self.root) > limit
    }

    /// The usage since the start of the session.
    pub fn measure(&mut self, group: Option<&Group>) -> GuestUsage {
        if let Some(usage) = group.map(Group::usage) {
            return GuestUsage {
                cpu: Some(usage.cpu),
                peak_memory: Some(usage.peak_memory),
                out_of_memory: usage.out_of_memory,
            };
        }
        self.poll();
        GuestUsage {
            cpu: Some(self.last_cpu),
            peak_memory: Some(self.peak_memory),
            out_of_memory: 0,
        }
    }

    /// Bytes of memory now.
    pub fn memory(&self, group: Option<&Group>) -> u64 {
        match group {
            Some(group) => group.memory(),
            None => process_tree::usage(self.root).memory,
        }
    }

    /// Whether the guest's first process runs, or would run if it got a processor.
    pub fn wants_processor(&self) -> bool {
        process_tree::wants_processor(self.first)
    }

    /// Bytes of the unlinked files on `device` that the guest's first process has open.
    pub fn unlinked(&self, device: u64) -> u64 {
        open_files::unlinked_on(self.first, device)
    }

    /// Threads of the guest's first process, except the main thread. The cleanup after a run cannot end them.
    pub fn leftovers(&self) -> Leftovers {
        let threads = process_tree::threads(self.first).saturating_sub(1);
        Leftovers {
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
        }
    }
}

//! Measures what a session uses: from its control group, or from `/proc` where it has none.

use std::time::Duration;

use jail::cgroup::Group;
use sandbox::Measured;

use crate::process_tree::{self, Usage};

/// The usage of the process `root` and its descendants.
#[derive(Debug)]
pub struct UsageMeter {
    root: u32,
    last_cpu: Duration,
    peak_memory: u64,
}

impl UsageMeter {
    /// Nothing is measured yet.
    pub fn new(root: u32) -> Self {
        Self {
            root,
            last_cpu: Duration::ZERO,
            peak_memory: 0,
        }
    }

    /// Reads the usage from `/proc`, and records the highest values: ended processes can no longer be read.
    pub fn poll(&mut self) -> Usage {
        let usage = process_tree::usage(self.root);
        self.last_cpu = self.last_cpu.max(usage.cpu);
        self.peak_memory = self.peak_memory.max(usage.memory);
        usage
    }

    /// Whether polling finds more memory than `limit` bytes. Forked processes share most pages, so the sum of all processes
    /// may exceed the limit although the real memory does not.
    pub fn exceeds_memory(&self, polled: &Usage, limit: u64) -> bool {
        polled.memory > limit && process_tree::proportional_memory(self.root) > limit
    }

    /// The usage since the start of the session.
    pub fn measure(&mut self, group: Option<&Group>) -> Measured {
        if let Some(usage) = group.map(Group::usage) {
            return Measured {
                cpu: Some(usage.cpu),
                peak_memory: Some(usage.peak_memory),
                out_of_memory: usage.out_of_memory,
            };
        }
        self.poll();
        Measured {
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
}

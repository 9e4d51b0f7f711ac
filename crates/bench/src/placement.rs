//! The processors of host and guests: both on one core, or the host on one and its children on another.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::figures::Report;

/// Where things run. An unpinned round trip varies by an order of magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Host and guests on core 0.
    One,
    /// The host on core 0, its children on core 1.
    Two,
    /// Unpinned, like a program that a user starts.
    Free,
}

impl Placement {
    pub const ALL: [Placement; 3] = [Placement::One, Placement::Two, Placement::Free];

    pub fn describe(self) -> &'static str {
        match self {
            Placement::One => "one core",
            Placement::Two => "two cores",
            Placement::Free => "not pinned",
        }
    }

    /// Pins this thread to the children's core, which they inherit.
    pub fn for_children(self) -> Result<()> {
        match self {
            Placement::One => pin(0),
            Placement::Two => pin(1),
            Placement::Free => Ok(()),
        }
    }

    /// Pins this thread to the host's core, after all children have started.
    pub fn for_host(self) -> Result<()> {
        match self {
            Placement::One | Placement::Two => pin(0),
            Placement::Free => Ok(()),
        }
    }
}

/// Pins this thread and its future children.
fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("pin to core {core}"))
}

/// The new process is pinned from its first instruction.
pub fn in_process_of_its_own(placement: Placement) -> Result<Report> {
    let mut command = Command::new(std::env::current_exe()?);
    let value = placement.to_possible_value().context("a placement has a name")?;
    let output = command
        .args(std::env::args_os().skip(1))
        .args(["--placement", value.get_name()])
        .stderr(std::process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("measuring on {} failed: {}", placement.describe(), output.status);
    }
    serde_json::from_slice(&output.stdout).context("read the figures")
}

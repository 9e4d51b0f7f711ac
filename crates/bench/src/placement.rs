//! Where host and guests run: pinned to one core, or the host to one and everything it starts to another.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::figures::Report;

/// Where things run. An unpinned round trip swings by an order of magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Host and guests on core 0.
    One,
    /// The host on core 0, what it starts on core 1.
    Two,
    /// Anywhere, as a program that a user starts does.
    Free,
}

impl Placement {
    /// Every placement.
    pub const ALL: [Placement; 3] = [Placement::One, Placement::Two, Placement::Free];

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Placement::One => "one core",
            Placement::Two => "two cores",
            Placement::Free => "not pinned",
        }
    }

    /// Goes where children are to run: they inherit it.
    pub fn for_children(self) -> Result<()> {
        match self {
            Placement::One => pin(0),
            Placement::Two => pin(1),
            Placement::Free => Ok(()),
        }
    }

    /// Goes where the host is to run, when everything has been started.
    pub fn for_host(self) -> Result<()> {
        match self {
            Placement::One | Placement::Two => pin(0),
            Placement::Free => Ok(()),
        }
    }
}

/// Pins this thread, and what it starts from now on.
fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("pin to core {core}"))
}

/// Measures in a process of its own, pinned from its first instruction.
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

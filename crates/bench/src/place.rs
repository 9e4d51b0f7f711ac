//! Where host and guests run: pinned to one core, or the host to one and everything it starts to another.

use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::figures::Figure;

/// Where things run. An unpinned round trip swings by an order of magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Host and guests on core 0.
    One,
    /// The host on core 0, what it starts on core 1.
    Two,
}

impl Placement {
    /// Every placement.
    pub const ALL: [Placement; 2] = [Placement::One, Placement::Two];

    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Placement::One => "one core",
            Placement::Two => "two cores",
        }
    }

    /// Goes where children are to run: they inherit it.
    pub fn for_children(self) -> Result<()> {
        pin(match self {
            Placement::One => 0,
            Placement::Two => 1,
        })
    }

    /// Goes where the host is to run, when everything has been started.
    pub fn for_host(self) -> Result<()> {
        pin(0)
    }
}

/// Runs anywhere, as a program that a user starts does.
pub fn anywhere() -> Result<()> {
    let mut set = CpuSet::new();
    // The kernel takes those that exist.
    (0..CpuSet::MAX_CPU).for_each(|core| set.set(core));
    sched_setaffinity(None, &set).context("run anywhere")
}

/// Pins this thread, and what it starts from now on.
fn pin(core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| format!("pin to core {core}"))
}

/// Measures in a process of its own, pinned from its first instruction.
pub fn in_process_of_its_own(placement: Placement) -> Result<Vec<Figure>> {
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

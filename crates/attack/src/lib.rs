//! Attacks a backend on this machine: hostile programs, the expected result of each, and a control
//! that shows that the attack could succeed.
//!
//! A probe is a folder of `probes/`. `probe.toml` states the attack and its expected results.
//! `guest.py` is the program of the attacker A, or `guest.ts`. `before.py` and `after.py` are those
//! of B, a session of another tenant. H is this host.
//!
//! Reading order:
//! - `probe`: a folder's contents
//! - `verdict`: the meaning of an answer
//! - `program`: the source that runs
//! - `control`: the same program outside
//! - `host`: what H sees
//! - `bait`: the folder that H plants
//! - `idle`: what H sees of a session between two runs
//! - `run`: one probe against one backend
//! - `report`

mod bait;
mod control;
mod host;
mod idle;
mod probe;
mod program;
mod report;
mod run;
mod verdict;

pub use control::Controls;
pub use probe::{BETWEEN_RUNS, MOUNT, Probe, ProbeError, Promised, When, probes};
pub use report::{Report, Row, Stage};
pub use run::{AttackError, Target, TenantPrincipal, attack, limits};
pub use verdict::{Means, Verdict};

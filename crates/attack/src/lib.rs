//! Attacks a backend on this very machine: hostile programs, what each must meet, and the control that shows it could succeed.
//!
//! A probe is a folder of `probes/`: `probe.toml` says what it tries and what it must meet, `guest.py` is the program of
//! the attacker A, `before.py` and `after.py` those of B, a session of another tenant beside it. H is this host. Reading
//! order: `probe` (what a folder says), `verdict` (what an answer means), `program` (what is run), `control` (the same
//! outside), `host` (what H sees), `bait` (the folder that H plants), `idle` (what H sees of a session between two runs),
//! `run` (one probe against one backend), `report`.

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

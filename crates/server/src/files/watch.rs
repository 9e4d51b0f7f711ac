//! Enforces a principal's file quota before, during and after each run, if the kernel does not.
//!
//! A measurement visits every file. Before and after a run, measure only if free space changed by a fraction of the
//! remaining quota. During a run, measure rarely: each measurement takes a small fraction of the time since the last
//! one. Measure early when free space shrinks by the whole remaining quota.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use session::{Allowance, Unlinked};
use tokio::time::{Instant, sleep_until};
use types::Principal;
use workspace::{FreeSpace, Keeping, Usage, Workspaces};

use super::blocking;

/// Delay of the first measurement, so that it does not compete with a launch.
const FIRST: Duration = Duration::from_millis(200);

/// Shortest interval of measurements.
const PERIOD: Duration = Duration::from_secs(1);

/// Measuring takes at most 1 / `SHARE` of the time.
const SHARE: u32 = 20;

/// Files are measured once free space changed by 1 / `UNNOTICED` of the remaining quota, and at least by the values
/// below.
const UNNOTICED: u64 = 16;
const LEAST_UNNOTICED: u64 = 64 * 1024;
const LEAST_FILES_UNNOTICED: u64 = 16;

/// Interval of free-space checks.
const GLANCE: Duration = Duration::from_millis(25);

/// Measures principals that have runs.
#[derive(Debug)]
pub(super) struct Watch {
    workspaces: Workspaces,
    known: Mutex<HashMap<Principal, Measurement>>,
}

#[derive(Debug, Clone, Copy)]
struct Measurement {
    /// Next measurement by the run under way.
    due: Instant,
    /// Earliest time of the next measurement, even if free space changes.
    earliest: Instant,
    last: Option<Usage>,
    /// Free space at the measurement.
    room: Option<FreeSpace>,
}

impl Watch {
    pub(super) fn new(workspaces: Workspaces) -> Watch {
        Watch {
            workspaces,
            known: Mutex::default(),
        }
    }

    pub(super) fn forget(&self, principal: &Principal) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(principal);
    }

    /// Bytes that the principal may still write. Measures the files if anything was written since the last
    /// measurement.
    pub(super) async fn allowance(&self, principal: &Principal, unlinked: Unlinked<'_>) -> Allowance {
        if !self.watches() {
            return Allowance::Unbound;
        }
        let known = self.measurement(principal);
        let usage = match known.last {
            Some(last) if !self.may_differ(last, known.room) => last,
            _ => {
                let (mut usage, room, begun) = self.measure(principal).await;
                usage.bytes += self.workspaces.device().map_or(0, unlinked);
                self.note(principal, Measurement::at(begun, usage, room));
                usage
            }
        };
        let quota = self.workspaces.quota();
        if quota.is_outgrown_by(usage) {
            return Allowance::Over {
                used: usage.bytes,
                quota: quota.bytes,
                files: usage.files,
                most_files: quota.files,
            };
        }
        match quota.bytes {
            0 => Allowance::Unbound,
            bytes => Allowance::Left(bytes.saturating_sub(usage.bytes)),
        }
    }

    /// Whether this process must enforce a quota because the kernel does not.
    fn watches(&self) -> bool {
        let quota = self.workspaces.quota();
        let bounded = quota.bytes > 0 || quota.files > 0;
        bounded && self.workspaces.keeping() != Keeping::Own && !self.workspaces.kernel_holds_quota()
    }

    /// Whether the usage may differ from `last`: the files were over quota, or free space changed enough.
    fn may_differ(&self, last: Usage, before: Option<FreeSpace>) -> bool {
        let quota = self.workspaces.quota();
        let (Some(before), Some(now)) = (before, self.workspaces.room()) else {
            return true;
        };
        let differs = |bound: u64, used: u64, least: u64, before: u64, now: u64| {
            let unnoticed = (bound.saturating_sub(used) / UNNOTICED).max(least);
            bound > 0 && before.abs_diff(now) > unnoticed
        };
        quota.is_outgrown_by(last)
            || differs(quota.bytes, last.bytes, LEAST_UNNOTICED, before.bytes, now.bytes)
            || differs(
                quota.files,
                last.files,
                LEAST_FILES_UNNOTICED,
                before.files,
                now.files,
            )
    }

    /// Measures the files; also returns the free space before and the start time.
    async fn measure(&self, principal: &Principal) -> (Usage, Option<FreeSpace>, Instant) {
        let (begun, room) = (Instant::now(), self.workspaces.room());
        let (workspaces, whose) = (self.workspaces.clone(), principal.clone());
        let usage = match blocking(move || workspaces.measure(&whose)).await {
            Some(Ok(usage)) => usage,
            Some(Err(error)) => {
                tracing::warn!(%error, "the files of a principal cannot be measured");
                Usage::default()
            }
            None => Usage::default(),
        };
        (usage, room, begun)
    }

    /// Resolves when the files are over quota and have grown. A program that frees space may continue.
    pub(super) async fn outgrown(&self, principal: &Principal) {
        if !self.watches() {
            return std::future::pending().await;
        }
        let quota = self.workspaces.quota();
        loop {
            let known = self.measurement(principal);
            self.wait(&known).await;
            let (usage, room, begun) = self.measure(principal).await;
            self.note(principal, Measurement::at(begun, usage, room));
            if quota.is_outgrown_by(usage) && known.last.is_some_and(|last| has_grown(last, usage)) {
                return;
            }
        }
    }

    /// Waits until a measurement is due, or free space shrank by the principal's remaining quota.
    async fn wait(&self, known: &Measurement) {
        sleep_until(known.earliest.min(known.due)).await;
        let (Some(last), Some(before)) = (known.last, known.room) else {
            return sleep_until(known.due).await;
        };
        let quota = self.workspaces.quota();
        let taken = |bound: u64, used: u64, before: u64, now: u64| {
            bound > 0 && before.saturating_sub(now) > bound.saturating_sub(used)
        };
        while Instant::now() < known.due {
            let Some(now) = self.workspaces.room() else {
                return sleep_until(known.due).await;
            };
            if taken(quota.bytes, last.bytes, before.bytes, now.bytes)
                || taken(quota.files, last.files, before.files, now.files)
            {
                return;
            }
            sleep_until(known.due.min(Instant::now() + GLANCE)).await;
        }
    }

    fn measurement(&self, principal: &Principal) -> Measurement {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(principal.clone()).or_insert_with(|| Measurement {
            due: Instant::now() + FIRST,
            earliest: Instant::now() + FIRST,
            last: None,
            room: None,
        })
    }

    fn note(&self, principal: &Principal, measured: Measurement) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(principal.clone(), measured);
    }
}

impl Measurement {
    /// A measurement that started at `begun`.
    fn at(begun: Instant, usage: Usage, room: Option<FreeSpace>) -> Measurement {
        let (now, pause) = (Instant::now(), begun.elapsed() * SHARE);
        Measurement {
            due: now + pause.max(PERIOD),
            earliest: now + pause,
            last: Some(usage),
            room,
        }
    }
}

/// Whether usage grew by more than an opening session writes. If a part cannot be counted, assume growth.
fn has_grown(before: Usage, now: Usage) -> bool {
    now.bytes > before.bytes + LEAST_UNNOTICED
        || now.files > before.files + LEAST_FILES_UNNOTICED
        || !now.complete
}

//! Sees when a principal's files outgrow their quota during a run, where no kernel holds them to it.
//!
//! Measuring looks at every file, so it is done seldom: each time takes a small part of the time since the last one. In
//! between only the room on the file system is looked at: when it shrinks by what a principal may still write, somebody has.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use types::Principal;
use workspace::{Keeping, Room, Usage, Workspaces};

use super::blocking;

/// Time before the first measure, so that it competes with no launch.
const FIRST: Duration = Duration::from_millis(200);

/// Shortest time between two measures.
const PERIOD: Duration = Duration::from_secs(1);

/// A measure takes at most one part in so many of the time.
const SHARE: u32 = 20;

/// Time between two looks at the room.
const GLANCE: Duration = Duration::from_millis(25);

/// Measures principals that have runs.
#[derive(Debug)]
pub(super) struct Watch {
    workspaces: Workspaces,
    known: Mutex<HashMap<Principal, Known>>,
}

/// What is known of one principal's files.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// When they are to be measured next: by the run that is under way then, so that many short ones do not escape.
    due: Instant,
    /// Before this they are not, whatever happens to the room.
    earliest: Instant,
    last: Option<Usage>,
    /// What there was when they were measured.
    room: Option<Room>,
}

impl Watch {
    pub(super) fn new(workspaces: Workspaces) -> Watch {
        Watch {
            workspaces,
            known: Mutex::default(),
        }
    }

    /// Resolves when the files are over their quota and more than they were: a program that makes room is let do it.
    pub(super) async fn outgrown(&self, principal: &Principal) {
        let quota = self.workspaces.quota();
        let unbounded = quota.bytes == 0 && quota.files == 0;
        if unbounded || self.workspaces.keeping() == Keeping::Own || self.workspaces.kernel_holds_quota() {
            return std::future::pending().await;
        }
        loop {
            let known = self.known(principal);
            self.wait(&known).await;
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
            let pause = begun.elapsed() * SHARE;
            let now = Instant::now();
            let ends = quota.is_outgrown_by(usage) && known.last.is_some_and(|last| has_grown(last, usage));
            self.note(
                principal,
                Known {
                    due: now + pause.max(PERIOD),
                    earliest: now + pause,
                    // What the run still writes until it has ended is not the next one's doing.
                    last: (!ends).then_some(usage),
                    room,
                },
            );
            if ends {
                return;
            }
        }
    }

    /// Waits until a measure is due, or the room has shrunk by what the principal had left.
    async fn wait(&self, known: &Known) {
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

    fn known(&self, principal: &Principal) -> Known {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(principal.clone()).or_insert_with(|| Known {
            due: Instant::now() + FIRST,
            earliest: Instant::now() + FIRST,
            last: None,
            room: None,
        })
    }

    fn note(&self, principal: &Principal, measured: Known) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(principal.clone(), measured);
    }
}

/// What could not be counted may have grown.
fn has_grown(before: Usage, now: Usage) -> bool {
    now.bytes > before.bytes || now.files > before.files || !now.complete
}

//! Sends frames to the guest.

use guest::frames::{self, HostFrame};
use types::{Results, RunLimits};

use super::Conversation;
use super::calls::{Calls, HostCallResult};
use crate::Run;
use crate::guest_processes::GuestProcesses;
use crate::wire::Wire;

/// Most bytes of all results kept in a session together. They also take at most a quarter of the session's memory.
const MOST_KEPT: u64 = 128 * 1024 * 1024;
const KEPT_OF_MEMORY: u64 = 4;

impl<P: GuestProcesses> Conversation<P> {
    /// Sends the program, and the session's settings before the first program.
    pub(super) fn send_run(&mut self, run: &Run, calls: &Calls) {
        if self.runs == 0 {
            self.results = run.profile.results;
            let session = frames::SessionSettings {
                session: &self.session,
                kept: MOST_KEPT.min(self.limits.memory / KEPT_OF_MEMORY),
                places: &self.places,
                limits: felt_inside(&self.limits.of_run(), run.profile.results),
            };
            send(
                &mut self.wire,
                &HostFrame::Open {
                    v: frames::VERSION,
                    session,
                },
            );
        }
        self.runs += 1;
        let limits = run.limits();
        let is_usual = limits == self.limits.of_run() && run.profile.results == self.results;
        let inputs = calls.inputs();
        let frame = HostFrame::Run {
            id: self.runs,
            code: &run.spec.code,
            limits: (!is_usual).then(|| felt_inside(&limits, run.profile.results)),
            surface: run.profile.appearance.told(),
            names: calls.names(),
            inputs: inputs.as_ref(),
        };
        send(&mut self.wire, &frame);
    }

    /// Sends the answer to a call.
    pub(super) fn reply(&mut self, id: u64, answer: HostCallResult) {
        let (ok, err) = match &answer {
            Ok(value) => (Some(value.as_ref()), None),
            Err(error) => (None, Some(error)),
        };
        send(&mut self.wire, &HostFrame::Reply { id, ok, err });
    }
}

pub(super) fn send(wire: &mut Wire, frame: &HostFrame<'_>) {
    // Strings and raw values always serialize.
    if let Ok(body) = serde_json::to_vec(frame) {
        wire.send(&body);
    }
}

/// The limits that the guest itself enforces, so that the program receives an exception.
fn felt_inside(limits: &RunLimits, results: Results) -> frames::RunLimits {
    frames::RunLimits {
        result: match results {
            Results::Whole => None,
            Results::UpTo(most) => Some(most),
        },
        output: limits.output,
        concurrent_calls: limits.concurrent_host_calls,
    }
}

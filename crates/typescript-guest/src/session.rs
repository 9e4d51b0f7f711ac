//! The session of the engine in this process.

use std::io;

use guest_session::{Channel, Limits, RunFrame, SessionEngine};
use rustix::process::{Resource, getrlimit};
use typescript::ProgramValue;

use crate::engine::Engine;
use crate::places::WORKSPACE;
use crate::run::run;

/// Bytes of address space reserved for frames, the transformation and a report.
const RESERVE: u64 = 24 * 1024 * 1024;

/// Warms a process by the code paths of a first program.
const REHEARSAL: &str = include_str!("rehearsal.ts");

/// Name of the engine that is part of this program.
pub const QUICKJS: &str = "QuickJS-ng 0.16";

impl SessionEngine for Engine {
    fn interpreter(&self) -> &str {
        QUICKJS
    }

    fn warm(&mut self, channel: &Channel) -> io::Result<()> {
        rehearse(self, channel)
    }

    fn open(&mut self, _channel: &Channel) -> io::Result<()> {
        rustix::process::chdir(&*self.shared.places.actual(WORKSPACE))?;
        self.limit_memory(memory(self));
        Ok(())
    }

    fn run(&mut self, channel: &Channel, frame: &RunFrame, limits: Limits) -> io::Result<Vec<u8>> {
        run(self, channel, frame, limits)
    }
}

/// Runs a program without a host that answers, and drops the result.
///
/// # Errors
/// As [`run`].
pub fn rehearse(engine: &Engine, channel: &Channel) -> io::Result<()> {
    let frame = RunFrame::of(0, REHEARSAL.to_owned());
    run(engine, channel, &frame, Limits::UNBOUNDED)?;
    let names = typescript::script(REHEARSAL, ProgramValue::Last).map(|script| script.names);
    let forgotten = engine.with(|_, hooks| hooks.call::<()>("forget", (names.unwrap_or_default(),)));
    forgotten.and_then(|done| done).map_err(io::Error::other)?;
    engine.shared.bound.borrow_mut().clear();
    Ok(())
}

/// Maximum bytes of programs' values.
fn memory(engine: &Engine) -> usize {
    let free = engine.shared.memory.unwrap_or_else(free_address_space);
    usize::try_from(free.saturating_sub(RESERVE)).unwrap_or(usize::MAX)
}

/// Bytes left below the process's limit of address space.
fn free_address_space() -> u64 {
    let limit = getrlimit(Resource::As).current.unwrap_or(u64::MAX);
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|statm| statm.split(' ').next()?.parse::<u64>().ok());
    let taken = pages.unwrap_or(0) * u64::try_from(rustix::param::page_size()).unwrap_or(0);
    limit.saturating_sub(taken)
}

/// Whether the process came close to its memory limit.
pub fn is_full(engine: &Engine) -> bool {
    let (limit, peak) = match engine.shared.memory {
        Some(limit) => (limit, jail::usage::usage().peak_memory.max(engine.memory())),
        None => (
            getrlimit(Resource::As).current.unwrap_or(u64::MAX),
            peak_address_space(),
        ),
    };
    peak.saturating_add(2 * RESERVE) >= limit
}

fn peak_address_space() -> u64 {
    const KIB: u64 = 1024;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    peak.unwrap_or(0) * KIB
}

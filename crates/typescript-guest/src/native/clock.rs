//! What the process knows of itself: its times, its directory, its memory; and time zones.

use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rquickjs::{Ctx, Function, Object, Result};

use super::system_error::OrThrow;
use crate::places::WORKSPACE;
use crate::shared::Shared;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "now",
        Function::new(ctx.clone(), move || since(state.began.get()))?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "timeOrigin",
        Function::new(ctx.clone(), move || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            now.as_secs_f64() * 1000.0 - since(state.began.get())
        })?,
    )?;
    native.set("timeZoneOffset", Function::new(ctx.clone(), offset)?)?;
    native.set("processors", Function::new(ctx.clone(), processors)?)?;
    native.set(
        "currentDirectory",
        Function::new(ctx.clone(), current_directory)?,
    )?;
    native.set(
        "changeDirectory",
        Function::new(ctx.clone(), change_directory)?,
    )?;
    native.set("memoryUsage", Function::new(ctx.clone(), memory_usage)?)?;
    native.set("processorTime", Function::new(ctx.clone(), processor_time)?)
}

/// Milliseconds.
fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1000.0
}

/// Minutes that a zone is ahead of UTC at a time; `None` for an unknown zone.
fn offset(zone: String, epoch_milliseconds: f64) -> Option<f64> {
    let zone = TimeZone::get(&zone).ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "times of programs fit, others are at the edge"
    )]
    let at = Timestamp::from_millisecond(epoch_milliseconds as i64).ok()?;
    Some(f64::from(zone.to_offset(at).seconds()) / 60.0)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn current_directory() -> String {
    std::env::current_dir().map_or_else(|_| WORKSPACE.to_owned(), |path| path.display().to_string())
}

fn change_directory(ctx: Ctx<'_>, path: String) -> Result<()> {
    std::env::set_current_dir(path).or_throw(&ctx, "chdir")
}

/// Bytes. The engine does not tell its heap apart.
fn memory_usage<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .unwrap_or(0.0);
    #[expect(clippy::cast_precision_loss, reason = "a page is small")]
    let resident = pages * rustix::param::page_size() as f64;
    let usage = Object::new(ctx)?;
    for name in ["rss", "heapTotal", "heapUsed"] {
        usage.set(name, resident)?;
    }
    usage.set("external", 0)?;
    usage.set("arrayBuffers", 0)?;
    Ok(usage)
}

/// Microseconds of the process in programs and in the system.
fn processor_time<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program ends with the last parenthesis; user and system time are the 12th and 13th after it.
    let after = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = |index: usize| {
        let field = after.split_whitespace().nth(index);
        field.and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0)
    };
    let usage = Object::new(ctx)?;
    for (name, index) in [("user", 11), ("system", 12)] {
        usage.set(name, ticks(index) / TICKS_A_SECOND * 1_000_000.0)?;
    }
    Ok(usage)
}

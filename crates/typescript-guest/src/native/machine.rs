//! What the process knows of itself and of the machine: its directory, its memory, the system.

use std::os::unix::fs::MetadataExt;

use rquickjs::{Ctx, Function, Object, Result};
use rustix::process::{Resource, getrlimit};

use super::system_error::OrThrow;
use crate::places;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("processors", Function::new(ctx.clone(), processors)?)?;
    native.set("currentDirectory", Function::new(ctx.clone(), current_directory)?)?;
    native.set("changeDirectory", Function::new(ctx.clone(), change_directory)?)?;
    native.set("systemInformation", Function::new(ctx.clone(), system)?)?;
    native.set("memoryUsage", Function::new(ctx.clone(), memory_usage)?)?;
    native.set("processorTime", Function::new(ctx.clone(), processor_time)?)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn current_directory() -> String {
    places::current_directory().display().to_string()
}

fn change_directory(ctx: Ctx<'_>, path: String) -> Result<()> {
    rustix::process::chdir(path).or_throw(&ctx, "chdir")
}

/// Bytes of memory that are shown where nothing limits them.
const UNLIMITED: u64 = 8 << 30;

/// What programs see of the system: their own limit of memory in bytes, and nothing of the machine.
fn system<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let own = std::fs::metadata("/proc/self").ok();
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory are exact enough")]
    let memory = getrlimit(Resource::As).current.unwrap_or(UNLIMITED) as f64;
    let system = Object::new(ctx)?;
    system.set("totalMemory", memory)?;
    system.set("freeMemory", memory)?;
    system.set("uptime", 1)?;
    system.set("load", [0.0; 3].to_vec())?;
    system.set("release", "")?;
    system.set("version", "")?;
    system.set("uid", own.as_ref().map_or(0, MetadataExt::uid))?;
    system.set("gid", own.as_ref().map_or(0, MetadataExt::gid))?;
    Ok(system)
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

//! Facts about the process and the system: directory, memory, system.

use std::os::unix::fs::MetadataExt;
use std::rc::Rc;

use jail::usage::usage;
use rquickjs::{Ctx, Function, Object, Result};
use rustix::process::{Resource, getrlimit};

use super::system_error::OrThrow;
use crate::shared::Shared;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "currentDirectory",
        Function::new(ctx.clone(), move || state.places.current_directory())?,
    )?;
    if shared.places.are_moved() {
        let state = Rc::clone(shared);
        native.set(
            "actualPath",
            Function::new(ctx.clone(), move |path: String| {
                state.places.actual(&path).into_owned()
            })?,
        )?;
    }
    native.set("processors", Function::new(ctx.clone(), processors)?)?;
    native.set("changeDirectory", Function::new(ctx.clone(), change_directory)?)?;
    native.set("systemInformation", Function::new(ctx.clone(), system)?)?;
    native.set("memoryUsage", Function::new(ctx.clone(), memory_usage)?)?;
    native.set("processorTime", Function::new(ctx.clone(), processor_time)?)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn change_directory(ctx: Ctx<'_>, path: String) -> Result<()> {
    rustix::process::chdir(path).or_throw(&ctx, "chdir")
}

/// Bytes of memory reported if nothing limits them.
const UNLIMITED: u64 = 8 << 30;

/// The reported system: the session's memory limit in bytes, and no fact of the machine.
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

/// In bytes. The engine does not report its heap separately.
fn memory_usage<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = statm.and_then(|statm| statm.split(' ').nth(1)?.parse::<f64>().ok());
    #[expect(clippy::cast_precision_loss, reason = "bytes of memory are exact enough")]
    let resident = match pages {
        Some(pages) => pages * rustix::param::page_size() as f64,
        None => usage().peak_memory as f64,
    };
    let usage = Object::new(ctx)?;
    for name in ["rss", "heapTotal", "heapUsed"] {
        usage.set(name, resident)?;
    }
    usage.set("external", 0)?;
    usage.set("arrayBuffers", 0)?;
    Ok(usage)
}

/// Microseconds of CPU time in user mode and in the system.
fn processor_time<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let used = usage();
    let time = Object::new(ctx)?;
    for (name, used) in [("user", used.user), ("system", used.system)] {
        time.set(name, (used.as_secs_f64() * 1_000_000.0).round())?;
    }
    Ok(time)
}

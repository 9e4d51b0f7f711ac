//! A disk rate takes effect: read back from the kernel, and measured on a process that forces data to disk.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails here, and waits for what it starts"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jail::cgroup::{Bounds, Disks, Groups};

const MIB: u64 = 1024 * 1024;

/// Waits for a line, then writes 2 MiB in 32 steps and waits for the disk at each.
const WRITES: &str = "read go; dd if=/dev/zero of=\"$1\" bs=65536 count=32 oflag=dsync 2>/dev/null";

/// Least duration at 1 MiB/s.
const AT_LEAST: Duration = Duration::from_millis(1500);
/// Attempts in which an unlimited disk may be slow.
const TRIES: u32 = 10;

fn bounds(disk_rate: Option<u64>) -> Bounds {
    Bounds {
        memory: 256 * MIB,
        processes: 16,
        cpu_rate: 1.0,
        disk_rate,
    }
}

fn groups(directory: &Path, name: &str) -> Result<Groups, String> {
    let disks = Disks::of(&[directory.to_path_buf()]);
    let name = format!("test-{name}-{}", std::process::id());
    let groups = Groups::prepare(&name, disks).map_err(|missing| missing.to_string())?;
    groups.throttles().map_err(|cause| cause.to_string())?;
    Ok(groups)
}

fn start(file: &Path) -> Child {
    let mut shell = Command::new("sh");
    shell.args(["-c", WRITES, "sh"]).arg(file).stdin(Stdio::piped());
    shell.spawn().unwrap()
}

fn writes(mut child: Child) -> Duration {
    let begun = Instant::now();
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
    begun.elapsed()
}

#[test]
fn a_process_that_forces_data_to_disk_is_as_slow_as_the_rate() {
    let directory = tempfile::tempdir().unwrap();
    let groups = match groups(directory.path(), "effect") {
        Ok(groups) => groups,
        Err(cause) => {
            println!("skipped: {cause}");
            return;
        }
    };
    let free = writes(start(&directory.path().join("free")));
    let mut group = groups.create("one", bounds(Some(MIB))).unwrap();
    let child = start(&directory.path().join("bound"));
    group.enter(child.id()).unwrap();
    let bound = writes(child);
    println!(
        "{}: 2 MiB took {free:?} unbound and {bound:?} at 1 MiB/s",
        groups.version()
    );
    assert!(bound > AT_LEAST, "{bound:?}");

    group.bound(bounds(None)).unwrap();
    // On a busy machine the disk itself may take as long, but not every time.
    let is_free = (0..TRIES).any(|number| {
        let child = start(&directory.path().join(format!("again-{number}")));
        group.enter(child.id()).unwrap();
        let again = writes(child);
        println!("2 MiB took {again:?} when the rate was lifted");
        again < AT_LEAST
    });
    assert!(is_free, "without a rate, {TRIES} times as slow as with it");
    assert!(group.remove());
}

#[test]
fn directories_on_no_disk_have_no_rate() {
    let Ok(groups) = Groups::prepare(
        &format!("test-nowhere-{}", std::process::id()),
        Disks::of(&["/proc".into()]),
    ) else {
        println!("skipped: no control groups");
        return;
    };
    let refused = groups.throttles().unwrap_err().to_string();
    assert!(refused.contains("/proc is on no block device"), "{refused}");
}

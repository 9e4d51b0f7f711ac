//! Preconditions of a test run: exclusive use of the output directory, and free disk space.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::layout;
use crate::tasks::say;

const GIB: u64 = 1 << 30;
/// For the tests' own files.
const SPACE_OF_TESTS: u64 = 2 * GIB;
/// For the build, the environments and the servers, which exist after the first run.
const SPACE_OF_SETUP: u64 = 10 * GIB;

/// Waits for any other test run and locks the checkout's output. The lock ends with the file.
///
/// # Errors
/// If the output cannot be written.
pub fn lock() -> Result<File> {
    let target = layout::target();
    let path = target.join("tests.lock");
    fs::create_dir_all(&target).with_context(|| format!("cannot create {}", target.display()))?;
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            say(&format!(
                "waiting for another test run that uses {}; for parallel runs, set another CARGO_TARGET_DIR",
                target.display()
            ));
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).context(format!("cannot lock {}", path.display()));
        }
    }
    Ok(file)
}

/// Checks the free space below the output directory.
///
/// # Errors
/// If there is too little.
pub fn space() -> Result<()> {
    let target = layout::target();
    let disk = rustix::fs::statvfs(&target).with_context(|| format!("cannot read {}", target.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let needed = needed(layout::codeyard().exists() && layout::clients().exists());
    if free < needed {
        bail!("{}", too_little(&target, free, needed));
    }
    Ok(())
}

fn needed(is_set_up: bool) -> u64 {
    match is_set_up {
        true => SPACE_OF_TESTS,
        false => SPACE_OF_SETUP + SPACE_OF_TESTS,
    }
}

fn too_little(target: &Path, free: u64, needed: u64) -> String {
    let tenths = free.saturating_mul(10) / GIB;
    format!(
        "{}: {}.{} GiB are free, and the tests need {}; free some space, or set CARGO_TARGET_DIR to a directory on a larger disk",
        target.display(),
        tenths / 10,
        tenths % 10,
        needed / GIB
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_reported_with_free_and_needed_space() {
        assert_eq!(
            too_little(Path::new("/w/target"), GIB + GIB / 2, needed(false)),
            "/w/target: 1.5 GiB are free, and the tests need 12; free some space, or set CARGO_TARGET_DIR to a \
             directory on a larger disk"
        );
        assert!(needed(true) < needed(false));
    }
}

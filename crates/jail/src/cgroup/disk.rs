//! Disks whose throughput control groups can limit, and the reasons why a limit can be impossible.

use std::fmt::Display;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Least bytes that one disk operation counts as. Small synchronous writes delay other processes as much as large
/// writes.
const OPERATION: u64 = 16 * 1024;

/// Operations per second for a rate of bytes per second.
pub(super) fn operations(rate: u64) -> u64 {
    (rate / OPERATION).max(1)
}

/// Block devices, as `254:0`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disks {
    numbers: Vec<String>,
    /// A directory that is not on a block device, such as on tmpfs or a network file system.
    unknown: Option<PathBuf>,
}

/// Why a disk rate has no effect here; the text ends with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`[limits] disk_rate` cannot be bound here: {0}; it needs the controller `io` (cgroup v2) or `blkio` (v1) and files on \
     block devices; run as root or with `Delegate=io`, or set `disk_rate = \"none\"`"
)]
pub struct Unthrottled(String);

impl Unthrottled {
    /// Wraps the cause.
    pub fn new(cause: impl Display) -> Self {
        Self(cause.to_string())
    }

    /// The cause without the remedy.
    pub fn cause(&self) -> &str {
        &self.0
    }
}

impl Disks {
    /// The disks of directories. A missing directory counts as its nearest existing ancestor.
    pub fn of(directories: &[PathBuf]) -> Self {
        let mut disks = Disks::default();
        for directory in directories {
            match disk(directory) {
                Some(number) if disks.numbers.contains(&number) => {}
                Some(number) => disks.numbers.push(number),
                None => disks.unknown = Some(directory.clone()),
            }
        }
        disks
    }

    /// The numbers, as the kernel writes them.
    pub fn numbers(&self) -> &[String] {
        &self.numbers
    }

    /// Refuses directories whose disks are unknown, because no rate would limit them.
    pub(super) fn known(&self) -> Result<(), Unthrottled> {
        match (&self.unknown, self.numbers.is_empty()) {
            (None, false) => Ok(()),
            (Some(directory), _) => Err(Unthrottled::new(format_args!(
                "{} is on no block device",
                directory.display()
            ))),
            (None, true) => Err(Unthrottled::new("sessions see no files of the host")),
        }
    }

    /// The rate that all disks share. `found` returns a disk's bytes and operations per second.
    pub(super) fn rate(&self, found: impl Fn(&str) -> Option<DiskRates>) -> Option<u64> {
        let mut common = None;
        for disk in &self.numbers {
            let ([read, written], counts) = found(disk)?;
            let rate = read.filter(|_| read == written)?;
            let same = common.is_none_or(|common| common == rate);
            if !same || counts != [Some(operations(rate)); 2] {
                return None;
            }
            common = Some(rate);
        }
        common
    }
}

/// Bytes and operations a second, each for reading and writing.
type DiskRates = ([Option<u64>; 2], [Option<u64>; 2]);

/// The disk of a directory. A partition counts as its whole disk, because the kernel limits only whole disks.
fn disk(directory: &Path) -> Option<String> {
    let found = directory.ancestors().find_map(|path| fs::metadata(path).ok())?;
    let device = found.dev();
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let entry = fs::canonicalize(Path::new("/sys/dev/block").join(&number)).ok()?;
    if !entry.join("partition").exists() {
        return Some(number);
    }
    let whole = fs::read_to_string(entry.parent()?.join("dev")).ok()?;
    Some(whole.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_on_no_block_device_are_named() {
        let disks = Disks::of(&[PathBuf::from("/proc/self")]);
        let refused = disks.known().unwrap_err().to_string();
        assert!(refused.contains("/proc/self is on no block device"), "{refused}");
        assert!(Disks::default().known().is_err());
    }

    #[test]
    fn a_rate_counts_where_all_disks_have_it() {
        let disks = Disks {
            numbers: vec!["8:0".to_owned(), "8:16".to_owned()],
            unknown: None,
        };
        let rate = 1 << 20;
        let bound = |rate| Some(([Some(rate); 2], [Some(operations(rate)); 2]));
        assert_eq!(disks.rate(|_| bound(rate)), Some(rate));
        assert_eq!(
            disks.rate(|disk| bound(if disk == "8:0" { rate } else { 5 })),
            None
        );
        assert_eq!(disks.rate(|_| Some(([Some(rate), None], [None; 2]))), None);
        assert_eq!(disks.rate(|_| None), None);
        assert_eq!(operations(1), 1);
    }
}

//! Facts of this machine and user: control groups, subordinate ids, limits without control groups.

use std::fs;
use std::path::{Path, PathBuf};

use jail::cgroup::{Disks, Groups, NoControlGroups};
use jail::lease::{Lease, USERS};
use jail::machine::Machine;
use types::Limits;

use crate::config::HostConfig;

/// Leases of an ordinary user whose sessions have no users of their own.
pub const USER_LEASES: u32 = 1024;

/// Bounds of a session without a control group: open files and processes. Together they limit a session's kernel
/// memory (socket buffers) to processes × descriptors × the default buffer size.
const UNCOUNTED_OPEN_FILES: u32 = 128;
const UNCOUNTED_PROCESSES: u32 = 16;

/// Facts about this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// The name of the backend's mode, as `doctor` and the documents write it.
    pub mode: &'static str,
    /// The interpreter of sessions.
    pub python: PathBuf,
    /// Whether each session has its own kernel user.
    pub user_per_session: bool,
    /// Whether control groups limit and count memory, processes and CPU.
    pub cgroups: bool,
    /// Whether the managed environment has numpy and pandas.
    pub has_data_packages: bool,
}

/// Directory of an ordinary user's leases.
pub fn user_leases(data: &Path) -> PathBuf {
    data.join("run/leases")
}

/// The control groups of a lease, or the reason why there are none. `throttled` are directories of the host whose
/// disks `disk_rate` limits.
///
/// # Errors
/// If the metadata of the lease file cannot be read.
pub fn cgroups(
    config: &HostConfig,
    lease: &Lease,
    throttled: &[PathBuf],
) -> std::io::Result<Result<Groups, NoControlGroups>> {
    let name = lease.name()?;
    Ok(if config.without_cgroups {
        Err(NoControlGroups::NotWanted)
    } else {
        Groups::prepare(&name, Disks::of(throttled))
    })
}

/// The limits if no control group counts a session's kernel memory.
pub fn limits_without_cgroups(limits: &Limits) -> Limits {
    Limits {
        open_files: limits.open_files.min(UNCOUNTED_OPEN_FILES),
        processes: limits.processes.min(UNCOUNTED_PROCESSES),
        ..limits.clone()
    }
}

/// Subordinate ids that `newuidmap` and `newgidmap` let this user map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubordinateRange {
    /// First user id.
    pub first_user: u32,
    /// First group id.
    pub first_group: u32,
    /// Number of user ids, and of group ids.
    pub count: u32,
}

/// The user's subordinate range, if the helpers are installed and the range is large enough for one lease.
pub fn subordinate_range(machine: &Machine) -> Option<SubordinateRange> {
    if !jail::machine::has_map_helpers(Path::new("/")) {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = user_name(&passwd, machine.user);
    let read = |file: &str| range_of(&fs::read_to_string(file).ok()?, name, machine.user);
    let ((first_user, users), (first_group, groups)) = (read("/etc/subuid")?, read("/etc/subgid")?);
    let count = users.min(groups);
    (count >= USERS).then_some(SubordinateRange {
        first_user,
        first_group,
        count,
    })
}

fn user_name(passwd: &str, user: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _password, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(user)).then_some(name)
    })
}

/// First id and size of the user's largest range in a subuid or subgid file. The file names users by name or number.
pub(crate) fn range_of(text: &str, name: Option<&str>, user: u32) -> Option<(u32, u32)> {
    let ranges = text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (owner, first, count) = (fields.next()?, fields.next()?, fields.next()?);
        let ours = Some(owner) == name || owner.parse() == Ok(user);
        ours.then(|| Some((first.parse().ok()?, count.trim().parse().ok()?)))
            .flatten()
    });
    ranges.max_by_key(|(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_by_name_and_by_number() {
        let text = "ann:100000:65536\n1001:165536:65536\n";
        assert_eq!(range_of(text, Some("ann"), 1000), Some((100_000, 65_536)));
        assert_eq!(range_of(text, Some("bob"), 1001), Some((165_536, 65_536)));
        assert_eq!(range_of(text, None, 7), None);
        assert_eq!(
            range_of("ann:5:10\nann:100:4096\n", Some("ann"), 1),
            Some((100, 4096))
        );
        assert_eq!(user_name("root:x:0:0\nann:x:1000:1000:", 1000), Some("ann"));
    }
}

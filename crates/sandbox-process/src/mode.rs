//! Which of the jail's modes this machine and user are in, and whether it meets what is required.

use std::fs;
use std::path::Path;

use jail::cgroup::{Disks, Groups, Missing, Unthrottled, check_rate};
use jail::lease::{FIRST_USER, Lease, LeaseError, ROOT_LEASES, ROOT_SLOTS, USERS};
use jail::machine::{Absent, Machine};
use jail::spec::{Estate, Identity};
use types::Limits;

use crate::config::{Config, Requirement};

/// Leases of an ordinary user without a subordinate range.
const USER_SLOTS: u32 = 1024;
/// Oldest kernel and Landlock that the jail was proven on.
const OLDEST_KERNEL: (u32, u32) = (6, 1);
const OLDEST_LANDLOCK: u32 = 2;

/// Bounds where nothing counts the memory that a session holds in the kernel, by socket buffers: the product of
/// processes, descriptors and the default buffer is what it can hold at most.
const UNCOUNTED_OPEN_FILES: u32 = 128;
const UNCOUNTED_PROCESSES: u32 = 16;

/// What the backend stands on.
#[derive(Debug)]
pub struct Mode {
    /// The kernel.
    pub machine: Machine,
    /// Who sessions are outside.
    pub identity: Identity,
    /// Where control groups are made, or why there are none.
    pub groups: Result<Groups, Missing>,
    /// Whether an ordinary user's sessions could each have a kernel user, if that were required.
    has_range: bool,
    /// Keeps the users and groups this process's own.
    lease: Lease,
}

/// Why the backend refuses; the text names what is missing and the remedy.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Refusal {
    #[error("the processor is {0}; the sandbox supports x86_64")]
    Architecture(&'static str),
    #[error("the kernel is {0}; the sandbox needs Linux 6.1 or newer")]
    Kernel(String),
    #[error(
        "the kernel has no Landlock version 2 (it has {0}); boot with `lsm=landlock,…` on Linux 6.1 or newer"
    )]
    Landlock(u32),
    #[error(
        "Landlock is switched off in this kernel; boot with `lsm=landlock,…`, the names of `/sys/kernel/security/lsm` \
         after it"
    )]
    LandlockOff,
    #[error(
        "Landlock is not built into this kernel, or a container's filter hides it; use a kernel with \
         CONFIG_SECURITY_LANDLOCK, or `--security-opt seccomp=unconfined`"
    )]
    LandlockNotBuilt,
    #[error(
        "Landlock is forbidden to this process, as by a container's filter; allow landlock_create_ruleset there \
         (`--security-opt seccomp=unconfined`)"
    )]
    LandlockForbidden,
    #[error(
        "/proc is no process file system that shows this process; mount one (`mount -t proc proc /proc`), since \
         sessions are set up and counted through it"
    )]
    NoProc,
    #[error(
        "/proc hides the processes of other users (hidepid) and there are no control groups, so memory and CPU time of \
         sessions cannot be counted; mount /proc without hidepid, or run with control groups"
    )]
    HiddenProcesses,
    #[error("the kernel has no seccomp; use a kernel built with CONFIG_SECCOMP_FILTER")]
    Seccomp,
    #[error("user namespaces are switched off ({0}); as root set it to a higher value with sysctl")]
    UserNamespaces(&'static str),
    #[error(
        "`[sandbox] require = \"tenant-isolation\"` needs a kernel user for each session; run as root, or install \
         `uidmap` and give this user a range in /etc/subuid and /etc/subgid (`codeyard doctor --fix` says how)"
    )]
    NoUserPerSession,
    #[error("`[sandbox] require = \"tenant-isolation\"` needs control groups: {0}")]
    NoGroups(Missing),
    #[error(
        "root here is root of a user namespace, as in a container of an ordinary user, and has not the users and groups {0} \
         to {1} that its sessions would be; run codeyard there as an ordinary user, or as root outside"
    )]
    NestedRoot(u32, u32),
    #[error(
        "root here has no CAP_SYS_ADMIN, as in a container, and cannot attach files to sessions; start the container with \
         --cap-add SYS_ADMIN and an unmasked /proc (podman: --security-opt unmask=ALL, docker: --security-opt \
         systempaths=unconfined), or run codeyard there as an ordinary user"
    )]
    NoAdmin,
    #[error("no lease of users and control groups: {0}")]
    Lease(String),
    #[error(transparent)]
    DiskRate(#[from] Unthrottled),
}

impl Mode {
    /// Examines the machine, leases what sessions need, and refuses what is required and not there.
    pub fn enter(config: &Config) -> Result<Self, Refusal> {
        let (require, data) = (config.require, &config.data);
        let machine = Machine::look();
        supported(&machine)?;
        // Where one tenant is enough, an ordinary user's sessions are that user: so they can be shown its files.
        let available = (machine.user != 0).then(|| subordinate_range(&machine)).flatten();
        let range = available.filter(|_| config.own_users || require == Requirement::TenantIsolation);
        let (directory, slots) = match (machine.user, range) {
            (0, _) => (Path::new(ROOT_LEASES).to_owned(), ROOT_SLOTS),
            (_, Some(range)) => (data.join("run/leases"), range.count / USERS),
            (_, None) => (data.join("run/leases"), USER_SLOTS),
        };
        let lease = Lease::acquire(&directory, slots)
            .map_err(|error| Refusal::Lease(without_lease(&error, machine.user)))?;
        let offset = lease.slot() * USERS;
        let identity = match (machine.user, range) {
            (0, _) => roots_range(FIRST_USER + offset)?,
            (user, Some(range)) => Identity::Subordinate {
                user,
                group: machine.group,
                first_user: range.first_user + offset,
                first_group: range.first_group + offset,
                count: USERS,
            },
            (user, None) => Identity::Single {
                user,
                group: machine.group,
            },
        };
        let name = lease.name().map_err(|error| Refusal::Lease(error.to_string()))?;
        let groups = if config.without_groups {
            Err(Missing::NotWanted)
        } else {
            Groups::prepare(&name, Disks::of(&config.on_disk))
        };
        let mode = Self {
            machine,
            identity,
            groups,
            has_range: available.is_some(),
            lease,
        };
        if mode.groups.is_err() && matches!(identity, Identity::Subordinate { .. }) && hides_others() {
            return Err(Refusal::HiddenProcesses);
        }
        mode.meets(require)?;
        check_rate(config.limits.disk_rate, &mode.groups)?;
        Ok(mode)
    }

    /// What this process leaves if it is killed.
    pub fn estate(&self) -> Estate {
        Estate {
            lease: self.lease.path().to_owned(),
            groups: self.groups.as_ref().map(Groups::parents).unwrap_or_default(),
        }
    }

    /// Whether this mode gives what is required.
    fn meets(&self, require: Requirement) -> Result<(), Refusal> {
        let has_users = self.identity.has_user_per_session();
        if require == Requirement::TenantIsolation && !has_users {
            return Err(Refusal::NoUserPerSession);
        }
        self.could_meet(require)
    }

    /// Whether the mode that this machine and user would be in gives it.
    pub fn could_meet(&self, require: Requirement) -> Result<(), Refusal> {
        if require == Requirement::SingleTenant {
            return Ok(());
        }
        if !self.identity.has_user_per_session() && !self.has_range {
            return Err(Refusal::NoUserPerSession);
        }
        self.groups
            .as_ref()
            .map(drop)
            .map_err(|missing| Refusal::NoGroups(missing.clone()))
    }

    /// The limits as they bind in this mode: without control groups some are lower, none is higher.
    pub fn binding(&self, limits: &Limits) -> Limits {
        match self.groups {
            Ok(_) => limits.clone(),
            Err(_) => without_groups(limits),
        }
    }

    /// The name of the mode in `doctor` and documents.
    pub fn name(&self) -> &'static str {
        match (self.identity, &self.groups) {
            (Identity::Range { .. }, Ok(_)) => "root with control groups",
            (Identity::Range { .. }, Err(_)) => "root without control groups",
            (Identity::Subordinate { .. }, Ok(_)) => "ordinary user with subordinate ids and control groups",
            (Identity::Subordinate { .. }, Err(_)) => "ordinary user with subordinate ids",
            (Identity::Single { .. }, Ok(_)) => "bare ordinary user with control groups",
            (Identity::Single { .. }, Err(_)) => "bare ordinary user",
        }
    }
}

/// The limits as they bind where no control group counts what a session holds in the kernel.
pub fn without_groups(limits: &Limits) -> Limits {
    Limits {
        open_files: limits.open_files.min(UNCOUNTED_OPEN_FILES),
        processes: limits.processes.min(UNCOUNTED_PROCESSES),
        ..limits.clone()
    }
}

/// Refuses machines that the jail was not proven on.
fn supported(machine: &Machine) -> Result<(), Refusal> {
    if machine.architecture != "x86_64" {
        return Err(Refusal::Architecture(machine.architecture));
    }
    if machine.kernel_version < OLDEST_KERNEL {
        return Err(Refusal::Kernel(machine.kernel.clone()));
    }
    match machine.no_landlock {
        Some(Absent::SwitchedOff) => return Err(Refusal::LandlockOff),
        Some(Absent::NotBuilt) => return Err(Refusal::LandlockNotBuilt),
        Some(Absent::Forbidden) => return Err(Refusal::LandlockForbidden),
        None if machine.landlock < OLDEST_LANDLOCK => return Err(Refusal::Landlock(machine.landlock)),
        None => {}
    }
    if !machine.seccomp {
        return Err(Refusal::Seccomp);
    }
    if !machine.proc {
        return Err(Refusal::NoProc);
    }
    for (file, name) in [
        (
            "/proc/sys/user/max_user_namespaces",
            "user.max_user_namespaces = 0",
        ),
        (
            "/proc/sys/kernel/unprivileged_userns_clone",
            "kernel.unprivileged_userns_clone = 0",
        ),
    ] {
        let concerns_us = machine.user != 0 || name.starts_with("user.");
        if concerns_us && fs::read_to_string(file).is_ok_and(|value| value.trim() == "0") {
            return Err(Refusal::UserNamespaces(name));
        }
    }
    if machine.user == 0 {
        // The first lease's; what it leases is looked at again.
        roots_range(FIRST_USER)?;
        if !machine.admin {
            return Err(Refusal::NoAdmin);
        }
    }
    Ok(())
}

/// The range of users that root gives to its sessions, if this root has them to give.
fn roots_range(first: u32) -> Result<Identity, Refusal> {
    if jail::machine::has_numbers(first, USERS) {
        Ok(Identity::Range { first, count: USERS })
    } else {
        Err(Refusal::NestedRoot(first, first + USERS - 1))
    }
}

/// Whether this process may not look at processes of other users, of which the first of all is one.
fn hides_others() -> bool {
    fs::read_to_string("/proc/1/stat").is_err()
}

/// What went wrong, and what to do about it.
fn without_lease(error: &LeaseError, user: u32) -> String {
    let remedy = match (error, user) {
        (LeaseError::Exhausted(_), _) => "end one of them",
        // Root's leases lie in one place, whatever the data directory.
        (LeaseError::Directory { .. }, 0) => "make the directory writable",
        (LeaseError::Directory { .. }, _) => {
            "make the data directory writable, or choose another with --data"
        }
    };
    format!("{error}; {remedy}")
}

/// A subordinate range that the system's helpers let this user map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    first_user: u32,
    first_group: u32,
    count: u32,
}

/// The user's range, if the helpers are there and it holds at least one lease.
fn subordinate_range(machine: &Machine) -> Option<Range> {
    if !jail::machine::has_map_helpers(Path::new("/")) {
        return None;
    }
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = user_name(&passwd, machine.user);
    let read = |file: &str| range_of(&fs::read_to_string(file).ok()?, name, machine.user);
    let ((first_user, users), (first_group, groups)) = (read("/etc/subuid")?, read("/etc/subgid")?);
    let count = users.min(groups);
    (count >= USERS).then_some(Range {
        first_user,
        first_group,
        count,
    })
}

/// The name of a user in a passwd file.
fn user_name(passwd: &str, user: u32) -> Option<&str> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _password, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(user)).then_some(name)
    })
}

/// First id and size of the largest of a user's ranges in a subuid or subgid file, by name or number.
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

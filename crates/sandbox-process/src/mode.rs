//! Which of the jail's modes this machine and user are in, and whether it meets what is required.

use std::fs;
use std::path::Path;

use jail::cgroup::{Groups, Missing};
use jail::lease::{FIRST_USER, Lease, LeaseError, ROOT_LEASES, ROOT_SLOTS, USERS};
use jail::machine::Machine;
use jail::spec::Identity;
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
    _lease: Lease,
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
    #[error("the kernel has no seccomp; use a kernel built with CONFIG_SECCOMP_FILTER")]
    Seccomp,
    #[error("user namespaces are switched off ({0}); as root set it to a higher value with sysctl")]
    UserNamespaces(&'static str),
    #[error(
        "`[sandbox] require = \"tenant-isolation\"` needs a kernel user for each session; run as root, or install \
         `uidmap` and give this user a range in /etc/subuid and /etc/subgid"
    )]
    NoUserPerSession,
    #[error("`[sandbox] require = \"tenant-isolation\"` needs control groups: {0}")]
    NoGroups(Missing),
    #[error("no lease of users and control groups: {0}")]
    Lease(String),
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
            (0, _) => Identity::Range {
                first: FIRST_USER + offset,
                count: USERS,
            },
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
            Groups::prepare(&name)
        };
        let mode = Self {
            machine,
            identity,
            groups,
            has_range: available.is_some(),
            _lease: lease,
        };
        mode.meets(require)?;
        Ok(mode)
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
    if machine.landlock < OLDEST_LANDLOCK {
        return Err(Refusal::Landlock(machine.landlock));
    }
    if !machine.seccomp {
        return Err(Refusal::Seccomp);
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
    Ok(())
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
    let helpers = ["/usr/bin/newuidmap", "/usr/bin/newgidmap"];
    if !helpers.iter().all(|helper| Path::new(helper).exists()) {
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

/// First id and size of a user's range in a subuid or subgid file, by name or number.
fn range_of(text: &str, name: Option<&str>, user: u32) -> Option<(u32, u32)> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (owner, first, count) = (fields.next()?, fields.next()?, fields.next()?);
        let ours = Some(owner) == name || owner.parse() == Ok(user);
        ours.then(|| Some((first.parse().ok()?, count.trim().parse().ok()?)))
            .flatten()
    })
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
        assert_eq!(user_name("root:x:0:0\nann:x:1000:1000:", 1000), Some("ann"));
    }
}

//! The mode in which this machine and user run sessions, and whether it meets the required isolation.

use std::fs;
use std::path::Path;

use jail::cgroup::{Groups, NoControlGroups, Unthrottled, check_rate};
use jail::lease::{FIRST_USER, Lease, LeaseError, ROOT_LEASES, ROOT_SLOTS, USERS};
use jail::machine::{Absent, Machine};
use jail::spec::{CleanupPaths, Identity};
use sandbox_host::facts::{USER_LEASES, cgroups, limits_without_cgroups, subordinate_range, user_leases};
use types::{Limits, RequiredIsolation};

use crate::config::ProcessConfig;

/// Oldest kernel and Landlock version that the jail was tested on.
const OLDEST_KERNEL: (u32, u32) = (6, 1);
const OLDEST_LANDLOCK: u32 = 2;

/// Users, control groups and the lease that reserves them for this process.
#[derive(Debug)]
pub struct Mode {
    pub machine: Machine,
    /// The sessions' users on the host.
    pub identity: Identity,
    pub groups: Result<Groups, NoControlGroups>,
    /// Whether an ordinary user's sessions could each have a kernel user.
    has_range: bool,
    /// Reserves users and control groups for this process.
    lease: Lease,
}

/// Why the backend refuses; the text names what is missing and the remedy.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ModeRefusal {
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
        "/proc is not a process file system that shows this process; mount one (`mount -t proc proc /proc`), since \
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
    NoGroups(NoControlGroups),
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
    /// Examines the machine and leases users and control groups. Refuses if the required isolation cannot be met.
    pub fn enter(config: &ProcessConfig) -> Result<Self, ModeRefusal> {
        let (require, data) = (config.host.require, &config.host.data);
        let machine = Machine::look();
        supported(&machine)?;
        // With single-tenant isolation, an ordinary user's sessions have that user's id, so that they can read and
        // write the user's files.
        let available = (machine.user != 0).then(|| subordinate_range(&machine)).flatten();
        let range =
            available.filter(|_| config.user_per_session || require == RequiredIsolation::TenantIsolation);
        let (directory, slots) = match (machine.user, range) {
            (0, _) => (Path::new(ROOT_LEASES).to_owned(), ROOT_SLOTS),
            (_, Some(range)) => (user_leases(data), range.count / USERS),
            (_, None) => (user_leases(data), USER_LEASES),
        };
        let lease = Lease::acquire(&directory, slots)
            .map_err(|error| ModeRefusal::Lease(lease_failure(&error, machine.user)))?;
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
        let groups = cgroups(&config.host, &lease, &config.host.throttled_directories)
            .map_err(|error| ModeRefusal::Lease(error.to_string()))?;
        let mode = Self {
            machine,
            identity,
            groups,
            has_range: available.is_some(),
            lease,
        };
        if mode.groups.is_err() && matches!(identity, Identity::Subordinate { .. }) && hides_others() {
            return Err(ModeRefusal::HiddenProcesses);
        }
        mode.meets(require)?;
        check_rate(config.host.limits.disk_rate, &mode.groups)?;
        Ok(mode)
    }

    /// What this process leaves behind if killed.
    pub fn cleanup_paths(&self) -> CleanupPaths {
        CleanupPaths {
            lease: self.lease.path().to_owned(),
            groups: self.groups.as_ref().map(Groups::parents).unwrap_or_default(),
        }
    }

    fn meets(&self, require: RequiredIsolation) -> Result<(), ModeRefusal> {
        let has_users = self.identity.has_user_per_session();
        if require == RequiredIsolation::TenantIsolation && !has_users {
            return Err(ModeRefusal::NoUserPerSession);
        }
        self.could_meet(require)
    }

    /// Whether this machine and user could meet the required isolation, in this mode or another.
    pub fn could_meet(&self, require: RequiredIsolation) -> Result<(), ModeRefusal> {
        if require == RequiredIsolation::SingleTenant {
            return Ok(());
        }
        if !self.identity.has_user_per_session() && !self.has_range {
            return Err(ModeRefusal::NoUserPerSession);
        }
        self.groups
            .as_ref()
            .map(drop)
            .map_err(|missing| ModeRefusal::NoGroups(missing.clone()))
    }

    /// The limits in this mode. Without control groups some limits are lower; no limit is higher.
    pub fn effective_limits(&self, limits: &Limits) -> Limits {
        match self.groups {
            Ok(_) => limits.clone(),
            Err(_) => limits_without_cgroups(limits),
        }
    }

    /// Name of the mode, as `doctor` and the documents write it.
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

/// Refuses machines that the jail was not tested on.
fn supported(machine: &Machine) -> Result<(), ModeRefusal> {
    if machine.architecture != "x86_64" {
        return Err(ModeRefusal::Architecture(machine.architecture));
    }
    if machine.kernel_version < OLDEST_KERNEL {
        return Err(ModeRefusal::Kernel(machine.kernel.clone()));
    }
    match machine.no_landlock {
        Some(Absent::SwitchedOff) => return Err(ModeRefusal::LandlockOff),
        Some(Absent::NotBuilt) => return Err(ModeRefusal::LandlockNotBuilt),
        Some(Absent::Forbidden) => return Err(ModeRefusal::LandlockForbidden),
        None if machine.landlock < OLDEST_LANDLOCK => return Err(ModeRefusal::Landlock(machine.landlock)),
        None => {}
    }
    if !machine.seccomp {
        return Err(ModeRefusal::Seccomp);
    }
    if !machine.proc {
        return Err(ModeRefusal::NoProc);
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
            return Err(ModeRefusal::UserNamespaces(name));
        }
    }
    if machine.user == 0 {
        // Check the range of the first lease. The leased range is checked again.
        roots_range(FIRST_USER)?;
        if !machine.admin {
            return Err(ModeRefusal::NoAdmin);
        }
    }
    Ok(())
}

/// The range of users for root's sessions, if the user namespace of this root has these users.
fn roots_range(first: u32) -> Result<Identity, ModeRefusal> {
    if jail::machine::has_numbers(first, USERS) {
        Ok(Identity::Range { first, count: USERS })
    } else {
        Err(ModeRefusal::NestedRoot(first, first + USERS - 1))
    }
}

/// Whether this process may not see other users' processes, such as process 1.
fn hides_others() -> bool {
    fs::read_to_string("/proc/1/stat").is_err()
}

fn lease_failure(error: &LeaseError, user: u32) -> String {
    let remedy = match (error, user) {
        (LeaseError::Exhausted(_), _) => "end one of them",
        // Root's leases are outside the data directory.
        (LeaseError::Directory { .. }, 0) => "make the directory writable",
        (LeaseError::Directory { .. }, _) => {
            "make the data directory writable, or choose another with --data"
        }
    };
    format!("{error}; {remedy}")
}

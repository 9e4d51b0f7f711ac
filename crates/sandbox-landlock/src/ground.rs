//! What this machine and user allow: found once, refused where it is not enough.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use jail::cgroup::{Bounds, Disks, Group, Groups, Missing, Unthrottled, check_rate};
use jail::lease::{FIRST_USER, Lease, ROOT_LEASES, ROOT_SLOTS, USERS};
use jail::machine::Machine;
use jail::spec::Counting;
use sandbox_process::layout::{self, LayoutError};
use sandbox_process::python::{self, Environment, Interpreter};
use sandbox_process::{Appearance, Config, Requirement, without_groups};
use tokio_util::task::TaskTracker;
use types::{Limits, Network};

use crate::place::{Place, PlaceError, closed_above};
use crate::session::memory;
use crate::trees::Trees;

/// The first version of Landlock that keeps signals and abstract sockets of sessions apart.
pub const SCOPING: u32 = 6;
/// Leases of an ordinary user.
const USER_SLOTS: u32 = 1024;

/// What all sessions stand on.
#[derive(Debug)]
pub struct Ground {
    pub machine: Machine,
    pub interpreter: Interpreter,
    pub environment: Option<Environment>,
    /// What sessions read and execute of the host.
    pub readable: Vec<PathBuf>,
    pub groups: Result<Groups, Missing>,
    pub place: Place,
    pub trees: Trees,
    /// Whether sessions may execute files of their own.
    pub exec: bool,
    /// As root, users that no session has now.
    users: Option<Mutex<VecDeque<u32>>>,
    made: AtomicU64,
    /// Sessions that are ending.
    pub ending: TaskTracker,
    _lease: Lease,
}

/// Why nothing is served; the text names what is missing and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the processor is {0}; the sandbox supports x86_64")]
    Architecture(&'static str),
    #[error(
        "the backend `landlock` needs Landlock version {SCOPING}, which scopes signals and abstract sockets, and the kernel has \
         version {0}; use Linux 6.12 or newer with `landlock` in its list of security modules (boot with `lsm=landlock,...`)"
    )]
    Landlock(u32),
    #[error("the kernel has no seccomp; use a kernel built with CONFIG_SECCOMP_FILTER")]
    Seccomp,
    #[error(
        "`[sandbox] require = \"tenant-isolation\"` is never met by `backend = \"landlock\"`: its sessions have no namespaces of \
         their own; use `backend = \"process\"`, or `require = \"single-tenant\"`"
    )]
    TenantIsolation,
    #[error(
        "the backend `landlock` cannot show sessions as a container: they have no mounts and no user namespace of their own; \
         use `backend = \"process\"`"
    )]
    Appearance,
    #[error("`limits.network = \"allow-list\"` is not offered by the backend `landlock`; use \"none\"")]
    Network,
    #[error(
        "root here has no users {0} and above to give to sessions, which are never root: its user namespace maps others; run \
         codeyard as an ordinary user"
    )]
    Unmapped(u32),
    #[error("no lease of users and control groups: {0}")]
    Lease(#[from] jail::lease::LeaseError),
    #[error("the control groups of the lease: {0}")]
    LeaseName(std::io::Error),
    #[error(transparent)]
    DiskRate(#[from] Unthrottled),
    #[error("no place for sessions: {0}")]
    Place(#[from] PlaceError),
    #[error("no Python 3.10 or newer can be used: {0}; install python3, or name one in `[python] path`")]
    NoPython(String),
    #[error(
        "{} cannot be used: sessions are other users than root and cannot pass through {}; install python3 for all users, or name \
         such a one in `[python] path`", .python.display(), .closed.display()
    )]
    ClosedPython { python: PathBuf, closed: PathBuf },
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl Ground {
    /// Examines the machine and takes a lease.
    pub fn find(config: &Config) -> Result<Self, Refusal> {
        let machine = Machine::look();
        supported(&machine)?;
        if config.require == Requirement::TenantIsolation {
            return Err(Refusal::TenantIsolation);
        }
        if config.appearance != Appearance::Codeyard {
            return Err(Refusal::Appearance);
        }
        let is_root = machine.user == 0;
        let interpreter = interpreter(config, is_root)?;
        let environment = python::environment(&config.data, &interpreter)
            .filter(|found| !is_root || closed_above(&found.site_packages).is_none());
        let readable = layout::readable(&interpreter, environment.as_ref())?;
        let (leases, slots) = if is_root {
            (PathBuf::from(ROOT_LEASES), ROOT_SLOTS)
        } else {
            (config.data.join("run/leases"), USER_SLOTS)
        };
        let lease = Lease::acquire(&leases, slots)?;
        let first = FIRST_USER + lease.slot() * USERS;
        if is_root && !jail::machine::has_numbers(first, USERS) {
            return Err(Refusal::Unmapped(first));
        }
        let place = Place::make(&config.data, &lease.slot().to_string(), is_root)?;
        let mut directories = config.on_disk.clone();
        directories.push(place.trees());
        let name = lease.name().map_err(Refusal::LeaseName)?;
        let groups = if config.without_groups {
            Err(Missing::NotWanted)
        } else {
            Groups::prepare(&name, Disks::of(&directories))
        };
        check_rate(config.limits.disk_rate, &groups)?;
        Ok(Self {
            groups,
            trees: Trees::new(place.trees()),
            exec: config.exec,
            users: is_root.then(|| Mutex::new((first + 1..first + USERS).collect())),
            machine,
            interpreter,
            environment,
            readable,
            place,
            made: AtomicU64::new(0),
            ending: TaskTracker::new(),
            _lease: lease,
        })
    }

    /// Whether each session is a user of its own.
    pub fn has_user_per_session(&self) -> bool {
        self.users.is_some()
    }

    /// A number that no session of this process has had.
    pub fn number(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed)
    }

    /// A user for a session: `Some(None)` where it is this process's, `None` if all have one already.
    pub fn take_user(&self) -> Option<Option<u32>> {
        let Some(users) = &self.users else {
            return Some(None);
        };
        let mut users = users.lock().unwrap_or_else(PoisonError::into_inner);
        users.pop_front().map(Some)
    }

    /// Takes a user back.
    pub fn give_back(&self, user: Option<u32>) {
        if let (Some(users), Some(user)) = (&self.users, user) {
            // At the end of the queue: a user comes back as late as possible.
            users
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_back(user);
        }
    }

    /// A control group for a session, where there are any.
    pub fn group(&self, number: u64, limits: &Limits) -> std::io::Result<Option<Group>> {
        let Ok(groups) = &self.groups else { return Ok(None) };
        let bounds = Bounds {
            memory: memory(limits),
            processes: limits.processes,
            cpu_rate: limits.cpu_rate,
            disk_rate: limits.disk_rate,
        };
        groups.create(&format!("s{number}"), bounds).map(Some)
    }

    /// Whether a control group counts what sessions hold in the kernel.
    pub fn counting(&self) -> Counting {
        if self.groups.is_ok() {
            Counting::Counted
        } else {
            Counting::Uncounted
        }
    }

    /// The limits as they bind here: without control groups some are lower, none is higher.
    pub fn binding(&self, limits: &Limits) -> Result<Limits, Refusal> {
        if limits.network != Network::None {
            return Err(Refusal::Network);
        }
        check_rate(limits.disk_rate, &self.groups)?;
        Ok(match self.groups {
            Ok(_) => limits.clone(),
            Err(_) => without_groups(limits),
        })
    }

    /// The name of the mode in `doctor` and documents.
    pub fn mode(&self) -> &'static str {
        match (self.users.is_some(), self.groups.is_ok()) {
            (true, true) => "landlock, root with control groups",
            (true, false) => "landlock, root without control groups",
            (false, true) => "landlock, ordinary user with control groups",
            (false, false) => "landlock, ordinary user",
        }
    }
}

fn supported(machine: &Machine) -> Result<(), Refusal> {
    if machine.architecture != "x86_64" {
        return Err(Refusal::Architecture(machine.architecture));
    }
    if machine.landlock < SCOPING {
        return Err(Refusal::Landlock(machine.landlock));
    }
    if !machine.seccomp {
        return Err(Refusal::Seccomp);
    }
    Ok(())
}

/// The Python that sessions run; as root one that other users can reach.
fn interpreter(config: &Config, is_root: bool) -> Result<Interpreter, Refusal> {
    let settings = python::Settings {
        path: config.python.path.clone(),
        search_path: if is_root {
            config.python.search_path.as_ref().map(open_to_all)
        } else {
            config.python.search_path.clone()
        },
    };
    let found = python::discover(&settings, &config.data);
    let Some(interpreter) = found.interpreter else {
        let skipped: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
        let looked = if skipped.is_empty() {
            "none was found on PATH".to_owned()
        } else {
            skipped.join("; ")
        };
        return Err(Refusal::NoPython(looked));
    };
    let parts = [&interpreter.executable, &interpreter.stdlib];
    let closed = parts.into_iter().find_map(|part| closed_above(part));
    match closed {
        Some(closed) if is_root => Err(Refusal::ClosedPython {
            python: interpreter.executable,
            closed,
        }),
        _ => Ok(interpreter),
    }
}

/// The directories of a search path that everybody may pass through.
fn open_to_all(path: &OsString) -> OsString {
    let open = std::env::split_paths(path).filter(|directory| reaches(directory));
    std::env::join_paths(open).unwrap_or_default()
}

fn reaches(directory: &Path) -> bool {
    directory
        .canonicalize()
        .is_ok_and(|directory| closed_above(&directory).is_none())
}

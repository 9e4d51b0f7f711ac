//! Facts and resources of this machine that all sessions share.
//!
//! The first launch finds them, and fails if they are insufficient.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use jail::cgroup::{Bounds, Group, Groups, NoControlGroups, Unthrottled, check_rate};
use jail::lease::{FIRST_USER, Lease, ROOT_LEASES, ROOT_SLOTS, USERS};
use jail::machine::Machine;
use jail::spec::{Appearance, Counting};
use sandbox_host::HostConfig;
use sandbox_host::facts::{USER_LEASES, cgroups, limits_without_cgroups, user_leases};
use sandbox_host::free_users::FreeUsers;
use sandbox_host::layout::LayoutError;
use sandbox_host::python::{self, Interpreter};
use sandbox_host::shell;
use tokio_util::task::TaskTracker;
use types::{Language, Limits, Network, RequiredIsolation};

use crate::guest_program::{self, GuestProgram, PythonGuest, ShellGuest};
use crate::session_files::total_memory;
use crate::session_root::{RootError, SessionRoot, closed_above};
use crate::tool_trees::ToolTrees;

/// First Landlock version that separates signals and abstract sockets of sessions.
pub const SCOPING: u32 = 6;

#[derive(Debug)]
pub struct HostResources {
    pub machine: Machine,
    /// The Python, or why sessions have none.
    python: Result<PythonGuest, String>,
    /// This program, and how sessions for TypeScript execute it.
    own_program: PathBuf,
    shared_program: OnceLock<Result<PathBuf, String>>,
    shell_settings: shell::ShellFiles,
    shell: OnceLock<Result<ShellGuest, String>>,
    pub groups: Result<Groups, NoControlGroups>,
    pub root: SessionRoot,
    pub tool_trees: ToolTrees,
    /// Whether sessions may execute their own files.
    pub exec: bool,
    /// As root, the users without a session.
    free_users: Option<FreeUsers>,
    sessions_started: AtomicU64,
    /// Cleanup of ending sessions.
    pub ending: TaskTracker,
    _lease: Lease,
}

/// Why the backend refuses; the text names what is missing and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LandlockRefusal {
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
    Root(#[from] RootError),
    #[error("{0}")]
    NoPython(String),
    #[error("sessions cannot execute codeyard itself, which runs TypeScript and starts bash: {0}")]
    OwnProgram(String),
    #[error("{0}")]
    NoShell(String),
    #[error(
        "{} cannot be used: sessions run as other users, who cannot pass through {}; install python3 for all users, or name \
         one in `[python] path`", .python.display(), .closed.display()
    )]
    ClosedPython { python: PathBuf, closed: PathBuf },
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

impl HostResources {
    pub fn find(config: &HostConfig) -> Result<Self, LandlockRefusal> {
        let machine = Machine::look();
        supported(&machine)?;
        if config.require == RequiredIsolation::TenantIsolation {
            return Err(LandlockRefusal::TenantIsolation);
        }
        if config.appearance != Appearance::Codeyard {
            return Err(LandlockRefusal::Appearance);
        }
        let is_root = machine.user == 0;
        let python = python(config, &machine).map_err(|refusal| refusal.to_string());
        let (leases, slots) = if is_root {
            (PathBuf::from(ROOT_LEASES), ROOT_SLOTS)
        } else {
            (user_leases(&config.data), USER_LEASES)
        };
        let lease = Lease::acquire(&leases, slots)?;
        let first = FIRST_USER + lease.slot() * USERS;
        if is_root && !jail::machine::has_numbers(first, USERS) {
            return Err(LandlockRefusal::Unmapped(first));
        }
        let root = SessionRoot::make(&config.data, &lease, &machine)?;
        let mut throttled = config.throttled_directories.clone();
        throttled.push(root.tool_trees());
        let groups = cgroups(config, &lease, &throttled).map_err(LandlockRefusal::LeaseName)?;
        check_rate(config.limits.disk_rate, &groups)?;
        Ok(Self {
            groups,
            tool_trees: ToolTrees::new(root.tool_trees()),
            exec: config.exec,
            free_users: is_root.then(|| FreeUsers::new(first + 1..first + USERS)),
            machine,
            python,
            own_program: config.helper.first().map(PathBuf::from).unwrap_or_default(),
            shared_program: OnceLock::new(),
            shell_settings: config.shell.clone(),
            shell: OnceLock::new(),
            root,
            sessions_started: AtomicU64::new(0),
            ending: TaskTracker::new(),
            _lease: lease,
        })
    }

    /// The Python of sessions.
    pub fn python(&self) -> Result<&PythonGuest, LandlockRefusal> {
        self.python
            .as_ref()
            .map_err(|why| LandlockRefusal::NoPython(why.clone()))
    }

    /// What a session for this language executes. The first call may copy this program.
    pub fn program(&self, language: Language) -> Result<GuestProgram<'_>, LandlockRefusal> {
        if language == Language::Python {
            return self.python().map(GuestProgram::Python);
        }
        let program = self.own_program()?;
        if language == Language::TypeScript {
            return Ok(GuestProgram::TypeScript(program));
        }
        let shell = self
            .shell
            .get_or_init(|| ShellGuest::make(&self.shell_settings, program, &self.root));
        match shell {
            Ok(shell) => Ok(GuestProgram::Shell(shell)),
            Err(why) => Err(LandlockRefusal::NoShell(why.clone())),
        }
    }

    /// This program as sessions execute it.
    fn own_program(&self) -> Result<&Path, LandlockRefusal> {
        let program = self.shared_program.get_or_init(|| {
            let shared = guest_program::share(&self.own_program, &self.machine, &self.root);
            shared.map_err(|error| format!("{}: {error}", self.own_program.display()))
        });
        match program {
            Ok(program) => Ok(program),
            Err(why) => Err(LandlockRefusal::OwnProgram(why.clone())),
        }
    }

    pub fn has_user_per_session(&self) -> bool {
        self.free_users.is_some()
    }

    /// Unique among the sessions of this process.
    pub fn session_number(&self) -> u64 {
        self.sessions_started.fetch_add(1, Ordering::Relaxed)
    }

    /// A user for a session: `Some(None)` if sessions have this process's user, `None` if no user is free.
    pub fn take_user(&self) -> Option<Option<u32>> {
        match &self.free_users {
            Some(users) => users.take().map(Some),
            None => Some(None),
        }
    }

    pub fn return_user(&self, user: Option<u32>) {
        if let (Some(users), Some(user)) = (&self.free_users, user) {
            users.give_back(user);
        }
    }

    /// Makes a control group for a session; `None` on a machine without control groups.
    pub fn group(&self, number: u64, limits: &Limits) -> std::io::Result<Option<Group>> {
        let Ok(groups) = &self.groups else { return Ok(None) };
        let bounds = Bounds {
            memory: total_memory(limits),
            processes: limits.processes,
            cpu_rate: limits.cpu_rate,
            disk_rate: limits.disk_rate,
        };
        groups.create(&format!("s{number}"), bounds).map(Some)
    }

    pub fn counting(&self) -> Counting {
        if self.groups.is_ok() {
            Counting::Counted
        } else {
            Counting::Uncounted
        }
    }

    /// The limits on this machine. Without control groups some limits are lower; no limit is higher.
    pub fn effective_limits(&self, limits: &Limits) -> Result<Limits, LandlockRefusal> {
        if limits.network != Network::None {
            return Err(LandlockRefusal::Network);
        }
        check_rate(limits.disk_rate, &self.groups)?;
        Ok(match self.groups {
            Ok(_) => limits.clone(),
            Err(_) => limits_without_cgroups(limits),
        })
    }

    /// Name of the mode, as `doctor` and the documents write it.
    pub fn mode(&self) -> &'static str {
        match (self.free_users.is_some(), self.groups.is_ok()) {
            (true, true) => "landlock, root with control groups",
            (true, false) => "landlock, root without control groups",
            (false, true) => "landlock, ordinary user with control groups",
            (false, false) => "landlock, ordinary user",
        }
    }
}

fn supported(machine: &Machine) -> Result<(), LandlockRefusal> {
    if machine.architecture != "x86_64" {
        return Err(LandlockRefusal::Architecture(machine.architecture));
    }
    if machine.landlock < SCOPING {
        return Err(LandlockRefusal::Landlock(machine.landlock));
    }
    if !machine.seccomp {
        return Err(LandlockRefusal::Seccomp);
    }
    Ok(())
}

fn python(config: &HostConfig, machine: &Machine) -> Result<PythonGuest, LandlockRefusal> {
    let is_root = machine.user == 0;
    let interpreter = interpreter(config, machine)?;
    let environment = python::environment(&config.data, &interpreter)
        .filter(|found| !is_root || closed_above(&found.site_packages).is_none());
    Ok(PythonGuest::new(interpreter, environment)?)
}

/// The Python of sessions. If this process is root, other users must be able to read the Python.
fn interpreter(config: &HostConfig, machine: &Machine) -> Result<Interpreter, LandlockRefusal> {
    let is_root = machine.user == 0;
    let settings = python::Settings {
        path: config.python.path.clone(),
        search_path: if is_root {
            config.python.search_path.as_ref().map(open_to_all)
        } else {
            config.python.search_path.clone()
        },
    };
    let discovery = python::discover(&settings, &config.data);
    let interpreter = discovery.usable().map_err(LandlockRefusal::NoPython)?;
    let parts = [&interpreter.executable, &interpreter.stdlib];
    let closed = parts.into_iter().find_map(|part| closed_above(part));
    match closed {
        Some(closed) if is_root => Err(LandlockRefusal::ClosedPython {
            python: interpreter.executable,
            closed,
        }),
        _ => Ok(interpreter),
    }
}

/// The directories of a search path that every user may pass through.
fn open_to_all(path: &OsString) -> OsString {
    let open = std::env::split_paths(path).filter(|directory| is_open_to_all(directory));
    std::env::join_paths(open).unwrap_or_default()
}

fn is_open_to_all(directory: &Path) -> bool {
    directory
        .canonicalize()
        .is_ok_and(|directory| closed_above(&directory).is_none())
}

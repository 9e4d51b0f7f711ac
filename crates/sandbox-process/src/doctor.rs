//! Examines this machine: which mode it is in, what holds, what is missing and what to do about it.
//!
//! What can be tried is tried: a session is started and asked what it sees of itself.

mod files;
mod mounts;

use std::time::Duration;

use jail::cgroup::{Groups, Missing, Unthrottled};
use sandbox::{Attachment, Backend, LaunchError, LaunchSpec, Run};
use serde::{Deserialize, Serialize};
use types::{Limits, SessionId};

use crate::backend::{Ground, Process};
use crate::config::{Config, Requirement};
use crate::guards;
use crate::mode::Mode;

pub use self::mounts::overlay;
pub use crate::guards::{Guard, Strength};

/// Run inside.
const PROGRAM: &str = include_str!("doctor.py");
/// How long the session may take on a machine under load.
const PATIENCE: Duration = Duration::from_secs(20);
/// Landlock version from which abstract sockets and signals are scoped.
const SCOPING: u32 = 6;

/// The examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Which of the jail's modes this machine and user are in; absent if they are in none.
    pub mode: Option<String>,
    /// What that mode promises.
    pub guards: Vec<Guard>,
    /// Row by row.
    pub checks: Vec<Check>,
    /// Whether programs can run under the required guarantee.
    pub serves: bool,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was examined.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What to do; empty if there is nothing to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// How a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As strong as it gets.
    Ok,
    /// It works, with a weaker guarantee that the detail states.
    Weaker,
    /// It is missing, and programs cannot run.
    Missing,
}

/// What the program inside answers.
#[derive(Debug, Deserialize)]
struct Inside {
    pid: u32,
    capabilities: String,
    no_new_privileges: bool,
    seccomp_filters: u32,
    shadow: String,
    internet_socket: String,
    write_usr: String,
    write_workspace: String,
    execute_own: String,
    map_own: String,
}

impl Process {
    /// Examines the machine by its own means and by starting sessions, one of which is shown the settings' read-only mounts.
    pub async fn examine(&self, folders: &[Attachment]) -> Report {
        let ground = match self.ground().await {
            Ok(ground) => ground,
            Err(error) => return self.refused(&error),
        };
        let mut checks = machine(ground);
        checks.push(python(ground));
        checks.push(environment(ground));
        checks.push(user(ground));
        checks.push(groups(ground));
        checks.push(disk_rate(&ground.mode.groups, self.config().limits.disk_rate));
        checks.push(requirement(ground, self.requirement()));
        checks.extend(self.session().await);
        checks.push(files::check(self, ground).await);
        let (mounts, promised) = mounts::check(self, folders).await;
        checks.push(mounts);
        let mut guards = guards::of(&ground.mode);
        guards.extend(promised);
        let serves = checks.iter().all(|check| check.state != State::Missing);
        Report {
            mode: Some(ground.mode.name().to_owned()),
            guards,
            checks,
            serves,
        }
    }

    /// What refuses, and which mode there would be if less were required.
    fn refused(&self, error: &LaunchError) -> Report {
        let mode = Mode::enter(&Config {
            require: Requirement::SingleTenant,
            ..self.config().clone()
        })
        .ok();
        Report {
            mode: mode.as_ref().map(|mode| mode.name().to_owned()),
            guards: mode.as_ref().map(guards::of).unwrap_or_default(),
            checks: vec![Check::missing("sandbox", error.to_string())],
            serves: false,
        }
    }

    /// Starts a session and looks at it from inside.
    async fn session(&self) -> Vec<Check> {
        match self.inside().await {
            Ok(inside) => vec![inside.check(), inside.exec(self.config().exec)],
            Err(error) => vec![Check::missing("session", error)],
        }
    }

    /// What a session says of itself.
    async fn inside(&self) -> Result<Inside, String> {
        let spec = LaunchSpec {
            session: SessionId::new("doctor"),
            limits: Limits::default(),
            first_code: String::new(),
            files: Vec::new(),
        };
        let guest = self.launch(spec).await.map_err(|error| error.to_string())?;
        let limits = Limits {
            wall_time: PATIENCE,
            ..Limits::default()
        };
        let answer = sandbox::ask(guest, Run::of(PROGRAM, limits.clone())).await?;
        serde_json::from_value(answer).map_err(|_| "the program inside gave no answer".to_owned())
    }
}

impl Inside {
    /// Whether files of the session's own are executed and mapped as code exactly if the settings say so.
    fn exec(&self, asked: bool) -> Check {
        let met = [&self.execute_own, &self.map_own];
        let as_asked = met.iter().all(|attempt| (*attempt == "allowed") == asked);
        let detail = format!(
            "files on the session's own file system: executing them {}, loading them as code {}",
            self.execute_own, self.map_own
        );
        match (as_asked, asked) {
            (false, _) => Check::missing("exec", detail),
            (true, false) => Check::ok("exec", detail),
            (true, true) => Check::new(
                "exec",
                State::Weaker,
                detail,
                "remove `exec = true` from `[sandbox]` if programs need not run programs that they made",
            ),
        }
    }

    fn check(&self) -> Check {
        let holds = self.pid == 1
            && self.capabilities.trim_start_matches('0').is_empty()
            && self.no_new_privileges
            && self.seccomp_filters >= 2
            && self.write_workspace == "allowed"
            && [&self.shadow, &self.internet_socket, &self.write_usr]
                .iter()
                .all(|attempt| *attempt != "allowed");
        let detail = format!(
            "first process of its own, capabilities {}, seccomp filters {}, /etc/shadow {}, internet socket {}, \
             writing /usr {}, writing /workspace {}",
            self.capabilities,
            self.seccomp_filters,
            self.shadow,
            self.internet_socket,
            self.write_usr,
            self.write_workspace
        );
        if holds {
            Check::ok("session", detail)
        } else {
            Check::missing("session", detail)
        }
    }
}

impl Check {
    fn new(name: &'static str, state: State, detail: String, remedy: &str) -> Self {
        Self {
            name,
            state,
            detail,
            remedy: remedy.to_owned(),
        }
    }

    fn ok(name: &'static str, detail: String) -> Self {
        Self::new(name, State::Ok, detail, "")
    }

    fn missing(name: &'static str, detail: String) -> Self {
        Self::new(name, State::Missing, detail, "")
    }
}

/// Kernel and Landlock; too old ones have refused before.
fn machine(ground: &Ground) -> Vec<Check> {
    let machine = &ground.mode.machine;
    let landlock = if machine.landlock >= SCOPING {
        Check::ok(
            "landlock",
            format!(
                "version {}, abstract sockets and signals scoped",
                machine.landlock
            ),
        )
    } else {
        let detail = format!(
            "version {}: no scoping of abstract sockets; each session's own network namespace keeps them apart",
            machine.landlock
        );
        Check::new(
            "landlock",
            State::Weaker,
            detail,
            "Linux 6.12 or newer scopes them as a second layer",
        )
    };
    vec![
        Check::ok(
            "kernel",
            format!("Linux {} on {}", machine.kernel, machine.architecture),
        ),
        landlock,
    ]
}

fn python(ground: &Ground) -> Check {
    let found = &ground.interpreter;
    Check::ok(
        "python",
        format!("{} ({})", found.executable.display(), found.version_text()),
    )
}

fn environment(ground: &Ground) -> Check {
    match &ground.environment {
        Some(environment) => Check::ok(
            "packages",
            format!("{} installed for programs", environment.packages.len()),
        ),
        None => Check::new(
            "packages",
            State::Weaker,
            "programs have the standard library only".to_owned(),
            "`codeyard python sync` adds numpy, pandas and others",
        ),
    }
}

fn user(ground: &Ground) -> Check {
    if ground.mode.identity.has_user_per_session() {
        let most = ground.mode.identity.sessions();
        return Check::ok(
            "user",
            format!("each session has a kernel user of its own, {most} at once"),
        );
    }
    Check::new(
        "user",
        State::Weaker,
        "all sessions are this user: one can exhaust timers, watches and descriptors in flight of the others and of \
         this user; sessions of one tenant only"
            .to_owned(),
        "run as root; or have an administrator give this user a range (`codeyard doctor --fix` says how), and set \
         `[sandbox] require = \"tenant-isolation\"`",
    )
}

fn groups(ground: &Ground) -> Check {
    match &ground.mode.groups {
        Ok(groups) => Check::ok(
            "cgroup",
            format!("{}: memory, processes and CPU are hard limits", groups.version()),
        ),
        Err(missing) => Check::new(
            "cgroup",
            State::Weaker,
            format!(
                "{missing}. As it is, memory is bound per process and by polling, at most 16 processes and 128 \
                 descriptors, CPU in whole cores"
            ),
            "",
        ),
    }
}

/// Which disks a rate binds, or would bind.
pub fn disk_rate(groups: &Result<Groups, Missing>, rate: Option<u64>) -> Check {
    let bound = match groups {
        Ok(groups) => groups.throttles().map(|disks| disks.numbers().join(", ")),
        Err(missing) => Err(Unthrottled::new(missing)),
    };
    let name = "disk rate";
    match (bound, rate) {
        (Ok(disks), Some(rate)) => {
            let rate = types::units::show_size(rate);
            Check::ok(
                name,
                format!("each session reads and writes at most {rate} a second on {disks}"),
            )
        }
        (Ok(disks), None) => Check::ok(name, format!("unbound; `[limits] disk_rate` would bind {disks}")),
        (Err(cause), _) => Check::new(name, State::Weaker, format!("unbound: {}", cause.cause()), ""),
    }
}

fn requirement(ground: &Ground, require: Requirement) -> Check {
    let strongest = ground.mode.could_meet(Requirement::TenantIsolation);
    match (require, strongest) {
        (Requirement::TenantIsolation, _) | (Requirement::SingleTenant, Ok(())) => {
            Check::ok("require", "tenant-isolation can be met".to_owned())
        }
        (Requirement::SingleTenant, Err(refusal)) => Check::new(
            "require",
            State::Weaker,
            "single-tenant is met; tenant-isolation is not".to_owned(),
            &refusal.to_string(),
        ),
    }
}

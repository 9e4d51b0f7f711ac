//! Examines this machine for `codeyard doctor`: the mode, what works, what is missing and how to fix it.
//!
//! If possible, starts a session that reports what it can do.

mod files;
mod mounts;

use sandbox::{Attachment, LaunchError};
use sandbox_host::HostConfig;
use sandbox_host::doctor::{self, Check, Report};
use serde::Deserialize;
use types::RequiredIsolation;

use crate::backend::{HostResources, Process};
use crate::config::ProcessConfig;
use crate::guards;
use crate::mode::Mode;

pub use self::mounts::why_without_overlay;

const PROGRAM: &str = include_str!("doctor.py");
/// First Landlock version that scopes abstract sockets and signals.
const SCOPING: u32 = 6;
const WITHOUT_CGROUPS: &str = "As it is, memory is bound per process and by polling, at most 16 processes and 128 \
                               descriptors, CPU in whole cores";

/// Answer of `doctor.py`.
#[derive(Debug, Deserialize)]
struct SessionAnswer {
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
    /// Examines the machine and starts sessions. `folders` are the read-only mounts of the settings, attached to one
    /// session.
    pub async fn examine(&self, folders: &[Attachment]) -> Report {
        let host = match self.host().await {
            Ok(host) => host,
            Err(error) => return self.refused(&error),
        };
        let config = &self.config().host;
        let mut checks = vec![
            doctor::kernel(&host.mode.machine),
            landlock(host),
            doctor::python(host.interpreter.as_ref()),
            doctor::packages(
                host.environment.as_ref(),
                "`codeyard python sync` adds numpy, pandas and others",
            ),
            user(host),
            doctor::cgroups(&host.mode.groups, WITHOUT_CGROUPS),
            doctor::disk_rate(&host.mode.groups, config.limits.disk_rate),
            requirement(host, config.require),
        ];
        checks.extend(self.session().await);
        checks.push(files::check(self, host).await);
        let (mounts, mount_guards) = mounts::check(self, folders).await;
        checks.push(mounts);
        let mut guards = guards::of(&host.mode);
        guards.extend(mount_guards);
        Report::of(host.mode.name(), guards, checks)
    }

    fn refused(&self, error: &LaunchError) -> Report {
        let mode = Mode::enter(&ProcessConfig {
            host: HostConfig {
                require: RequiredIsolation::SingleTenant,
                ..self.config().host.clone()
            },
            ..self.config().clone()
        })
        .ok();
        Report {
            mode: mode.as_ref().map(|mode| mode.name().to_owned()),
            guards: mode.as_ref().map(guards::of).unwrap_or_default(),
            ..Report::refused(error.to_string())
        }
    }

    async fn session(&self) -> Vec<Check> {
        match self.session_answer().await {
            Ok(answer) => vec![answer.check(), answer.exec(&self.config().host)],
            Err(error) => vec![Check::missing("session", error)],
        }
    }

    async fn session_answer(&self) -> Result<SessionAnswer, String> {
        let answer = doctor::run_program(self, "doctor", PROGRAM, Vec::new()).await?;
        serde_json::from_value(answer).map_err(|_| "the program inside gave no answer".to_owned())
    }
}

impl SessionAnswer {
    /// Checks that the session can execute and map its own files if the settings allow it, and only then.
    fn exec(&self, config: &HostConfig) -> Check {
        let allowed = config.exec;
        let attempts = [&self.execute_own, &self.map_own];
        let as_configured = attempts.iter().all(|attempt| (*attempt == "allowed") == allowed);
        let detail = format!(
            "files on the session's own file system: executing them {}, loading them as code {}",
            self.execute_own, self.map_own
        );
        match (as_configured, allowed) {
            (false, _) => Check::missing("exec", detail),
            (true, false) => Check::ok("exec", detail),
            (true, true) => Check::weaker(
                "exec",
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

/// The backend has already refused older versions of Landlock.
fn landlock(host: &HostResources) -> Check {
    let version = host.mode.machine.landlock;
    if version >= SCOPING {
        return Check::ok(
            "landlock",
            format!("version {version}, abstract sockets and signals scoped"),
        );
    }
    Check::weaker(
        "landlock",
        format!(
            "version {version}: no scoping of abstract sockets; each session's own network namespace keeps them apart"
        ),
        "Linux 6.12 or newer scopes them as a second layer",
    )
}

fn user(host: &HostResources) -> Check {
    if host.mode.identity.has_user_per_session() {
        let most = host.mode.identity.sessions();
        return Check::ok(
            "user",
            format!("each session has a kernel user of its own, {most} at once"),
        );
    }
    Check::weaker(
        "user",
        "all sessions are this user: one can exhaust timers, watches and descriptors in flight of the others and of \
         this user; sessions of one tenant only",
        "run as root; or have an administrator give this user a range (`codeyard doctor --fix` says how), and set \
         `[sandbox] require = \"tenant-isolation\"`",
    )
}

fn requirement(host: &HostResources, require: RequiredIsolation) -> Check {
    let strongest = host.mode.could_meet(RequiredIsolation::TenantIsolation);
    match (require, strongest) {
        (RequiredIsolation::TenantIsolation, _) | (RequiredIsolation::SingleTenant, Ok(())) => {
            Check::ok("require", "tenant-isolation can be met")
        }
        (RequiredIsolation::SingleTenant, Err(refusal)) => Check::weaker(
            "require",
            "single-tenant is met; tenant-isolation is not",
            refusal.to_string(),
        ),
    }
}

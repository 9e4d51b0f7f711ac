//! Examines this machine for `codeyard doctor`: what this backend needs, what it never offers, and what a session can
//! do.

use sandbox_host::doctor::{self, Check, Report};
use serde::Deserialize;

use crate::backend::Landlock;
use crate::guards;
use crate::guest_program::PythonGuest;
use crate::host::HostResources;

const PROGRAM: &str = include_str!("doctor.py");
const WITHOUT_CGROUPS: &str = "Without it memory and processes are bound by polling, at most 16 processes and 128 \
                               descriptors, CPU in whole cores";

/// Answer of `doctor.py`.
#[derive(Debug, Deserialize)]
struct SessionAnswer {
    user: u32,
    capabilities: bool,
    attempts: std::collections::BTreeMap<String, String>,
    execute_own: String,
}

impl Landlock {
    /// Examines the machine and starts a session.
    pub async fn examine(&self) -> Report {
        let host = match self.host().await {
            Ok(host) => host,
            Err(error) => return Report::refused(error.to_string()),
        };
        let python = match host.python() {
            Ok(python) => python,
            Err(refusal) => return Report::refused(refusal.to_string()),
        };
        let mut checks = machine(&host, python);
        checks.push(doctor::disk_rate(&host.groups, self.config.limits.disk_rate));
        checks.push(self.session(&host).await);
        // The checks list the guards that the backend never offers.
        Report::of(host.mode(), guards::of(&host), checks)
    }

    async fn session(&self, host: &HostResources) -> Check {
        let missing = |detail| Check::missing("session", detail);
        let answer = doctor::run_program(self, "doctor", PROGRAM, Vec::new()).await;
        match answer.map(serde_json::from_value::<SessionAnswer>) {
            Ok(Ok(answer)) => answer.check(host),
            Ok(Err(_)) => missing("the program inside gave no answer".to_owned()),
            Err(error) => missing(error),
        }
    }
}

impl SessionAnswer {
    fn check(self, host: &HostResources) -> Check {
        let refused = |answer: &String| answer != "allowed";
        let has_expected_user = !host.has_user_per_session() || self.user != host.machine.user;
        let executes = !refused(&self.execute_own);
        let holds = !self.capabilities
            && has_expected_user
            && executes == host.exec
            && self.attempts.values().all(refused);
        let attempts: Vec<String> = self
            .attempts
            .iter()
            .map(|(name, answer)| format!("{name} {answer}"))
            .collect();
        let capabilities = if self.capabilities {
            "capabilities"
        } else {
            "no capabilities"
        };
        let detail = format!(
            "user {}, {capabilities}, {}, executing a file of its own: {}",
            self.user,
            attempts.join(", "),
            self.execute_own
        );
        if holds {
            Check::ok("session", detail)
        } else {
            Check::missing("session", detail)
        }
    }
}

fn machine(host: &HostResources, python: &PythonGuest) -> Vec<Check> {
    let without_packages = if host.has_user_per_session() {
        "as root, sessions run as other users: for packages, choose a data directory (--data) that every user may pass \
         through"
    } else {
        "`codeyard python sync` adds numpy, pandas and others"
    };
    vec![
        doctor::kernel(&host.machine),
        Check::weaker(
            "backend",
            "`landlock`: no namespaces. Sessions see names, owners and sizes of the host's files, other processes' numbers and \
             the host's name, and reach none of them; what they write is bound by polling; paths are the host's",
            "where user namespaces are allowed, use `[sandbox] backend = \"process\"`",
        ),
        Check::ok(
            "landlock",
            format!(
                "version {}: files, TCP, abstract sockets and signals",
                host.machine.landlock
            ),
        ),
        doctor::python(Ok(&python.interpreter)),
        doctor::packages(python.environment.as_ref(), without_packages),
        user(host),
        doctor::cgroups(&host.groups, WITHOUT_CGROUPS),
        exec(host),
    ]
}

fn user(host: &HostResources) -> Check {
    if host.has_user_per_session() {
        return Check::ok(
            "user",
            "each session has a kernel user of its own; its files go with it",
        );
    }
    let detail = "all sessions are this user: one can exhaust what the kernel counts by user; sessions of one tenant only";
    Check::weaker("user", detail, "")
}

fn exec(host: &HostResources) -> Check {
    let (detail, remedy) = if host.exec {
        (
            "`[sandbox] exec = true`: programs execute files that they made",
            "",
        )
    } else {
        (
            "programs cannot execute files that they made; without a noexec mount they can still map such files as code",
            "`[sandbox] backend = \"process\"` refuses both",
        )
    };
    Check::weaker("exec", detail, remedy)
}

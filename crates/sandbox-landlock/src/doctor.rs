//! Examines this machine for `codeyard doctor`: what this backend needs, what it lacks by its nature, what a session sees.

use std::time::Duration;

use sandbox::{Backend, LaunchSpec, Run};
use sandbox_process::doctor::{Check, Report, State, disk_rate};
use serde::Deserialize;
use types::{Limits, SessionId};

use crate::backend::Landlock;
use crate::ground::Ground;
use crate::guards;

/// Run inside.
const PROGRAM: &str = include_str!("doctor.py");
/// How long the session may take on a machine under load.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the program inside answers.
#[derive(Debug, Deserialize)]
struct Inside {
    user: u32,
    capabilities: bool,
    attempts: std::collections::BTreeMap<String, String>,
    execute_own: String,
}

impl Landlock {
    /// Examines the machine by its own means and by starting a session.
    pub async fn examine(&self) -> Report {
        let ground = match self.ground().await {
            Ok(ground) => ground,
            Err(error) => {
                return Report {
                    mode: None,
                    guards: Vec::new(),
                    checks: vec![check("sandbox", State::Missing, error.to_string(), "")],
                    serves: false,
                };
            }
        };
        let mut checks = machine(&ground);
        checks.push(disk_rate(&ground.groups, self.config.limits.disk_rate));
        checks.push(self.session(&ground).await);
        Report {
            mode: Some(ground.mode().to_owned()),
            // What it lacks by its nature is in the checks.
            guards: guards::of(&ground),
            serves: checks.iter().all(|check| check.state != State::Missing),
            checks,
        }
    }

    /// Starts a session and looks at it from inside.
    async fn session(&self, ground: &Ground) -> Check {
        let spec = LaunchSpec {
            session: SessionId::new("doctor"),
            limits: Limits::default(),
            first_code: String::new(),
            files: Vec::new(),
        };
        let missing = |detail| check("session", State::Missing, detail, "");
        let guest = match self.launch(spec).await {
            Ok(guest) => guest,
            Err(error) => return missing(error.to_string()),
        };
        let limits = Limits {
            wall_time: PATIENCE,
            ..Limits::default()
        };
        let answer = sandbox::ask(guest, Run::of(PROGRAM, limits.clone())).await;
        match answer.map(serde_json::from_value::<Inside>) {
            Ok(Ok(inside)) => inside.check(ground),
            Ok(Err(_)) => missing("the program inside gave no answer".to_owned()),
            Err(error) => missing(error),
        }
    }
}

impl Inside {
    fn check(self, ground: &Ground) -> Check {
        let refused = |answer: &String| answer != "allowed";
        let own_user = !ground.has_user_per_session() || self.user != ground.machine.user;
        let executes = !refused(&self.execute_own);
        let holds =
            !self.capabilities && own_user && executes == ground.exec && self.attempts.values().all(refused);
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
        let state = if holds { State::Ok } else { State::Missing };
        check("session", state, detail, "")
    }
}

fn check(name: &'static str, state: State, detail: String, remedy: &str) -> Check {
    Check {
        name,
        state,
        detail,
        remedy: remedy.to_owned(),
    }
}

fn machine(ground: &Ground) -> Vec<Check> {
    let machine = &ground.machine;
    let python = &ground.interpreter;
    let packages = match &ground.environment {
        Some(environment) => check(
            "packages",
            State::Ok,
            format!("{} installed for programs", environment.packages.len()),
            "",
        ),
        None => check(
            "packages",
            State::Weaker,
            "programs have the standard library only".to_owned(),
            if ground.has_user_per_session() {
                "as root sessions are other users: they can have the packages of a data directory that everybody may pass through \
                 (--data)"
            } else {
                "`codeyard python sync` adds numpy, pandas and others"
            },
        ),
    };
    vec![
        check(
            "kernel",
            State::Ok,
            format!("Linux {} on {}", machine.kernel, machine.architecture),
            "",
        ),
        check(
            "backend",
            State::Weaker,
            "`landlock`: no namespaces. Sessions see names, owners and sizes of the host's files, other processes' numbers and \
             the host's name, and reach none of them; what they write is bound by polling; paths are the host's"
                .to_owned(),
            "where user namespaces are allowed, use `[sandbox] backend = \"process\"`",
        ),
        check(
            "landlock",
            State::Ok,
            format!("version {}: files, TCP, abstract sockets and signals", machine.landlock),
            "",
        ),
        check(
            "python",
            State::Ok,
            format!("{} ({})", python.executable.display(), python.version_text()),
            "",
        ),
        packages,
        user(ground),
        groups(ground),
        exec(ground),
    ]
}

fn user(ground: &Ground) -> Check {
    if ground.has_user_per_session() {
        return check(
            "user",
            State::Ok,
            "each session has a kernel user of its own; its files go with it".to_owned(),
            "",
        );
    }
    let detail = "all sessions are this user: one can exhaust what the kernel counts by user; sessions of one tenant only";
    check("user", State::Weaker, detail.to_owned(), "")
}

fn exec(ground: &Ground) -> Check {
    let (detail, remedy) = if ground.exec {
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
    check("exec", State::Weaker, detail.to_owned(), remedy)
}

fn groups(ground: &Ground) -> Check {
    match &ground.groups {
        Ok(groups) => {
            let detail = format!("{}: memory, processes and CPU are hard limits", groups.version());
            check("cgroup", State::Ok, detail, "")
        }
        Err(missing) => {
            let detail = format!(
                "{missing}. Without it memory and processes are bound by polling, at most 16 processes and 128 descriptors, CPU in \
                 whole cores"
            );
            check("cgroup", State::Weaker, detail, "")
        }
    }
}

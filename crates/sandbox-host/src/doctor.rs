//! The report of `codeyard doctor`, and the checks that all backends share.

use std::time::Duration;

use jail::cgroup::{Groups, NoControlGroups, Unthrottled};
use sandbox::{Attachment, Backend, LaunchSpec, Run};
use serde::Serialize;
use serde_json::Value;
use types::{Language, Limits, SessionId};

use crate::python::Interpreter;

/// Time limit of a program on a machine under load.
const TIMEOUT: Duration = Duration::from_secs(20);

/// What `codeyard doctor` found on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The backend's mode on this machine; `None` if the backend refuses to serve.
    pub mode: Option<String>,
    /// The guards of the mode.
    pub guards: Vec<Guard>,
    /// In display order.
    pub checks: Vec<Check>,
    /// Whether programs can run with the required isolation.
    pub serves: bool,
}

/// One guard of the table in `docs/sandbox.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guard {
    /// `kernel user`, `counters`, `memory`, `processes`, `cpu`, `files`, `disk`, `mounts ro` or `mounts rw`.
    pub name: &'static str,
    /// Strength in this mode.
    pub strength: Strength,
    /// The promise in one sentence.
    pub promise: String,
}

/// Strength of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Also separates sessions of different tenants.
    Full,
    /// Weaker; the promise says what is missing.
    Weaker,
    /// No promise; the text gives the reason.
    NotPromised,
}

/// A check of one fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The subject.
    pub name: &'static str,
    /// The result.
    pub state: CheckState,
    /// The finding.
    pub detail: String,
    /// The remedy; empty if nothing is to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Full strength.
    Ok,
    /// Works with a weaker guarantee, which the detail states.
    Weaker,
    /// Missing: programs cannot run.
    Missing,
}

impl Report {
    /// The report of a backend that refuses to serve.
    pub fn refused(reason: String) -> Self {
        Self {
            mode: None,
            guards: Vec::new(),
            checks: vec![Check::missing("sandbox", reason)],
            serves: false,
        }
    }

    /// The report of a backend that serves unless a check found something missing.
    pub fn of(mode: &str, guards: Vec<Guard>, checks: Vec<Check>) -> Self {
        Self {
            mode: Some(mode.to_owned()),
            guards,
            serves: checks.iter().all(|check| check.state != CheckState::Missing),
            checks,
        }
    }
}

impl Guard {
    /// A guard of full strength.
    pub fn full(name: &'static str, promise: impl Into<String>) -> Self {
        Self {
            name,
            strength: Strength::Full,
            promise: promise.into(),
        }
    }

    /// A weaker guard.
    pub fn weaker(name: &'static str, promise: impl Into<String>) -> Self {
        Self {
            strength: Strength::Weaker,
            ..Self::full(name, promise)
        }
    }

    /// A guard that this mode does not promise, with the reason.
    pub fn not_promised(name: &'static str, reason: impl Into<String>) -> Self {
        Self {
            strength: Strength::NotPromised,
            ..Self::full(name, reason)
        }
    }
}

impl Check {
    /// A check that found full strength.
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self::weaker(name, detail, "").with_state(CheckState::Ok)
    }

    /// A check that found a weaker guarantee. The remedy may be empty.
    pub fn weaker(name: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            name,
            state: CheckState::Weaker,
            detail: detail.into(),
            remedy: remedy.into(),
        }
    }

    /// A check that found something missing without which programs cannot run.
    pub fn missing(name: &'static str, detail: impl Into<String>) -> Self {
        Self::weaker(name, detail, "").with_state(CheckState::Missing)
    }

    fn with_state(self, state: CheckState) -> Self {
        Self { state, ..self }
    }
}

/// Runs a program in a new session that sees these directories, and returns its answer.
///
/// # Errors
/// Why the session did not start, or the program's error.
pub async fn run_program(
    backend: &dyn Backend,
    session: &str,
    program: &str,
    files: Vec<Attachment>,
) -> Result<Value, String> {
    let spec = LaunchSpec {
        session: SessionId::new(session),
        limits: Limits::default(),
        language: Language::Python,
        first_code: String::new(),
        files,
    };
    let guest = backend.launch(spec).await.map_err(|error| error.to_string())?;
    let limits = Limits {
        wall_time: TIMEOUT,
        ..Limits::default()
    };
    sandbox::ask(guest, Run::of(program, limits)).await
}

/// The kernel and the processor.
pub fn kernel(machine: &jail::machine::Machine) -> Check {
    Check::ok(
        "kernel",
        format!("Linux {} on {}", machine.kernel, machine.architecture),
    )
}

/// The interpreter of sessions, or why there is none.
pub fn python(interpreter: Result<&Interpreter, &String>) -> Check {
    let interpreter = match interpreter {
        Ok(interpreter) => interpreter,
        Err(missing) => return Check::missing("python", missing.clone()),
    };
    let executable = interpreter.executable.display();
    Check::ok("python", format!("{executable} ({})", interpreter.version_text()))
}

/// The packages of the managed environment. `without` is the remedy if there is no environment.
pub fn packages(environment: Option<&crate::python::Environment>, without: &str) -> Check {
    match environment {
        Some(environment) => Check::ok(
            "packages",
            format!("{} installed for programs", environment.packages.len()),
        ),
        None => Check::weaker("packages", "programs have the standard library only", without),
    }
}

/// The control groups. `without` names the limits that apply if there are none.
pub fn cgroups(groups: &Result<Groups, NoControlGroups>, without: &str) -> Check {
    match groups {
        Ok(groups) => Check::ok(
            "cgroup",
            format!("{}: memory, processes and CPU are hard limits", groups.version()),
        ),
        Err(missing) => Check::weaker("cgroup", format!("{missing}. {without}"), ""),
    }
}

/// The disks that `disk_rate` limits, or would limit.
pub fn disk_rate(groups: &Result<Groups, NoControlGroups>, rate: Option<u64>) -> Check {
    let throttled = match groups {
        Ok(groups) => groups.throttles().map(|disks| disks.numbers().join(", ")),
        Err(missing) => Err(Unthrottled::new(missing)),
    };
    let name = "disk rate";
    match (throttled, rate) {
        (Ok(disks), Some(rate)) => {
            let rate = types::units::show_size(rate);
            Check::ok(
                name,
                format!("each session reads and writes at most {rate} a second on {disks}"),
            )
        }
        (Ok(disks), None) => Check::ok(name, format!("unbound; `[limits] disk_rate` would bind {disks}")),
        (Err(cause), _) => Check::weaker(name, format!("unbound: {}", cause.cause()), ""),
    }
}

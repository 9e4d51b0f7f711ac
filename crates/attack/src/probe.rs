//! What a probe's folder says: what it tries, which guards stop it, what it must meet inside and outside.

use serde::Deserialize;

use crate::program;

/// Every file of every probe, by folder.
const FOLDERS: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/probes.rs"));

/// What every probe must meet between two runs, beside what its folder says.
const BETWEEN: &str = include_str!("../probes/between-runs.toml");
/// The probes of all folders that go on between two runs have names that begin so.
pub const BETWEEN_RUNS: &str = "between-runs";

/// Where A sees the folder of H, if its probe asks for that. Backends under attack have this place for a mount.
pub const MOUNT: &str = "/data";

/// One attack.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The folder's name; between two runs, below [`BETWEEN_RUNS`].
    pub name: String,
    /// When it attacks.
    pub when: When,
    /// What `probe.toml` says.
    pub plan: Plan,
    /// The attacker's program.
    pub(crate) guest: &'static str,
    /// What B runs before the attacker; what it prints is given to the attacker.
    pub(crate) before: Option<&'static str>,
    /// What B and H must still be able to do afterwards, while the attacker holds what it took.
    pub(crate) after: Option<&'static str>,
    /// What the attacker runs next in the same session; what it prints counts like the first program's.
    pub(crate) again: Option<&'static str>,
    /// What the next session of the attacker's tenant must be able to do when the attacker is gone.
    pub(crate) later: Option<&'static str>,
}

/// `probe.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// In one sentence.
    pub tries: String,
    /// When it attacks; each makes a probe of its own.
    #[serde(default = "during")]
    pub when: Vec<When>,
    /// CPU time of the attacker's run in milliseconds, if it is less than that of all others.
    pub cpu_time_ms: Option<u64>,
    /// Whether sessions of the backend `landlock` meet the same.
    #[serde(default)]
    pub landlock: bool,
    /// Guards that stop it: with all of these removed, and only then, it gets through. Empty if no guard can be removed
    /// by itself to show it.
    #[serde(default)]
    pub stopped_by: Vec<String>,
    /// Where it is promised that it is stopped.
    #[serde(default)]
    pub promised: Promised,
    /// How the control runs.
    #[serde(default)]
    pub control: Control,
    /// Whether B sees the attacker's files, as another session of the same tenant would.
    #[serde(default)]
    pub same_tenant: bool,
    /// Whether A sees the folder that H has planted, read-only, at [`MOUNT`].
    #[serde(default)]
    pub mounted: bool,
    /// How the attacker's run may end.
    #[serde(default = "completed")]
    pub ends: Vec<String>,
    /// What H looks at besides.
    #[serde(default)]
    pub host: Vec<HostCheck>,
    /// What the attempts must meet.
    pub expect: Vec<Expect>,
}

/// When a probe attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// While its run is under way.
    During,
    /// When the run has been answered and the next has not begun, by what the run has left behind.
    Between,
}

/// Where a promise holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promised {
    /// In every mode.
    #[default]
    Always,
    /// Where each session has a kernel user of its own.
    OwnUsers,
    /// Where control groups count memory and processes.
    Groups,
    /// Where read-only folders are seen through overlays.
    Overlays,
}

/// How a probe's program runs as its own control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// As any program of this user.
    #[default]
    Plain,
    /// As root of namespaces of its own, so that what it mounts and renames is nobody else's.
    Namespaces,
    /// With descriptors that a session must not have.
    Careless,
}

/// What H looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostCheck {
    /// That it holds no more descriptors than before.
    Descriptors,
    /// That reading the attacker's artifacts is soon done and yields nothing of the host.
    Artifacts,
    /// That all of the attacker's processes end when its zygote is killed.
    ZygoteDeath,
    /// That no more of its output is kept than its limit.
    Output,
    /// That no more of its calls arrive than its limit.
    Calls,
    /// That its session uses nothing more between two runs: processors, processes, memory, descriptors, files.
    Idle,
}

/// Attempts that must end alike.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Their names, as the program prints them.
    pub attempts: Vec<String>,
    /// What each must print in a session; `|` stands between alternatives.
    pub inside: String,
    /// The same where nothing counts the memory of the kernel, if that differs.
    pub inside_uncounted: Option<String>,
    /// What the control must print.
    #[serde(default)]
    pub outside: Outside,
    /// Why the control cannot show it; then `outside` does not count.
    pub untested: Option<String>,
}

/// What the same attempt must meet outside of any session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// It succeeds.
    #[default]
    Allowed,
    /// It succeeds for root.
    AllowedForRoot,
    /// It gets past the check that refuses it inside, and fails later: to let it succeed would change the machine.
    Reaches,
    /// As `Reaches`, for root.
    ReachesForRoot,
}

/// A probe that is no probe.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Its plan cannot be read.
    #[error("{probe}/probe.toml: {cause}")]
    Plan {
        /// The folder.
        probe: String,
        /// What is wrong.
        cause: toml::de::Error,
    },
    /// A file is missing.
    #[error("{probe} has no {file}")]
    Missing {
        /// The folder.
        probe: &'static str,
        /// The file.
        file: &'static str,
    },
}

/// All probes, by name; after each those of the same folder that attack at another time.
///
/// # Errors
/// If a folder is no probe; a test of this crate sees to it that none is.
pub fn probes() -> Result<Vec<Probe>, ProbeError> {
    let folders: Result<Vec<_>, _> = FOLDERS.iter().map(|(name, files)| read(name, files)).collect();
    Ok(folders?.into_iter().flatten().collect())
}

/// The probes of one folder: one for each time at which it attacks.
fn read(name: &'static str, files: &[(&str, &'static str)]) -> Result<Vec<Probe>, ProbeError> {
    let find = |wanted: &str| {
        files
            .iter()
            .find(|(file, _)| *file == wanted)
            .map(|(_, text)| *text)
    };
    let must = |file| find(file).ok_or(ProbeError::Missing { probe: name, file });
    let plan = plan(name, must("probe.toml")?)?;
    let during = Probe {
        name: name.to_owned(),
        when: When::During,
        plan,
        guest: must("guest.py")?,
        before: find("before.py"),
        after: find("after.py"),
        again: find("again.py"),
        later: find("later.py"),
    };
    let times = during.plan.when.clone();
    times
        .into_iter()
        .map(|when| match when {
            When::During => Ok(during.clone()),
            When::Between => during.between_runs(),
        })
        .collect()
}

fn plan(probe: &str, text: &str) -> Result<Plan, ProbeError> {
    toml::from_str(text).map_err(|cause| ProbeError::Plan {
        probe: probe.to_owned(),
        cause,
    })
}

impl Probe {
    /// The same acts, by what its run leaves behind.
    fn between_runs(&self) -> Result<Probe, ProbeError> {
        let shared = plan(BETWEEN_RUNS, BETWEEN)?;
        let tries = format!("{}: {}", shared.tries, self.plan.tries);
        Ok(Probe {
            name: format!("{BETWEEN_RUNS}/{}", self.name),
            when: When::Between,
            plan: Plan { tries, ..shared },
            guest: self.guest,
            before: None,
            after: None,
            again: Some(program::FOUND),
            later: None,
        })
    }
}

fn during() -> Vec<When> {
    vec![When::During]
}

fn completed() -> Vec<String> {
    vec!["completed".to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_a_probe_with_attempts_that_its_program_names() {
        for probe in probes().unwrap() {
            let attempts: Vec<&String> = probe.plan.expect.iter().flat_map(|row| &row.attempts).collect();
            assert!(!attempts.is_empty(), "{}", probe.name);
            let mut unique = attempts.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(
                unique.len(),
                attempts.len(),
                "{} names an attempt twice",
                probe.name
            );
        }
    }
}

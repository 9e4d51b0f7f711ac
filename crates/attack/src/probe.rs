//! A probe's folder: the attack, the guards that stop it, the expected results inside and outside.

use serde::{Deserialize, Deserializer};
use types::Language;

use crate::program;

/// Every file of every probe, by folder.
const FOLDERS: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/probes.rs"));

/// The expected results of every probe between two runs, besides its own.
const BETWEEN: &str = include_str!("../probes/between-runs.toml");
/// The prefix of the names of all probes that attack between two runs.
pub const BETWEEN_RUNS: &str = "between-runs";

/// Where A sees H's folder, if the probe asks for it. Backends under attack need this mount point.
pub const MOUNT: &str = "/data";

/// One attack.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The folder's name, prefixed with [`BETWEEN_RUNS`] between two runs.
    pub name: String,
    /// When it attacks.
    pub when: When,
    /// `probe.toml`.
    pub plan: Plan,
    /// The attacker's program.
    pub(crate) guest: &'static str,
    /// B's program before the attack; its output is given to the attacker.
    pub(crate) before: Option<&'static str>,
    /// A program that B and H must still be able to run while the attacker holds its resources.
    pub(crate) after: Option<&'static str>,
    /// The attacker's next run in the same session; its output counts like the first program's.
    pub(crate) again: Option<&'static str>,
    /// What the next session of the attacker's tenant must be able to do after the attacker's end.
    pub(crate) later: Option<&'static str>,
    /// The control, in Python, if it is not the attacker's program itself.
    pub(crate) control: Option<&'static str>,
}

/// `probe.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The attack in one sentence.
    pub tries: String,
    /// Language of the programs of A and B.
    #[serde(default, deserialize_with = "language")]
    pub language: Language,
    /// Each entry makes a separate probe.
    #[serde(default = "during")]
    pub when: Vec<When>,
    /// CPU time of the attacker's run in milliseconds, if below the usual limit.
    pub cpu_time_ms: Option<u64>,
    /// Whether the backend `landlock` must give the same results.
    #[serde(default)]
    pub landlock: bool,
    /// The guards that stop the attack: it succeeds if and only if all of these are removed. Empty
    /// if no guard can be removed to show this.
    #[serde(default)]
    pub stopped_by: Vec<String>,
    /// Where the promise to stop the attack holds.
    #[serde(default)]
    pub promised: Promised,
    /// How the control runs.
    #[serde(default)]
    pub control: Control,
    /// Whether B sees the attacker's files, like another session of the same tenant.
    #[serde(default)]
    pub same_tenant: bool,
    /// Whether A sees H's planted folder, read-only, at [`MOUNT`].
    #[serde(default)]
    pub mounted: bool,
    /// The allowed outcomes of the attacker's run.
    #[serde(default = "completed")]
    pub ends: Vec<String>,
    /// H's additional checks.
    #[serde(default)]
    pub host: Vec<HostCheck>,
    /// The expected results of the attempts.
    pub expect: Vec<Expect>,
}

/// When a probe attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// During its run.
    During,
    /// After the answer to its run and before the next run, through what the run left behind.
    Between,
}

/// Where a promise holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promised {
    /// In every mode.
    #[default]
    Always,
    /// Where each session has its own kernel user.
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
    /// Like any program of this user.
    #[default]
    Plain,
    /// As root of its own namespaces, so that its mounts and renames affect nobody else.
    Namespaces,
    /// With descriptors that a session must not have.
    Careless,
}

/// A check by H.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostCheck {
    /// H holds no more descriptors than before.
    Descriptors,
    /// H reads the attacker's artifacts quickly, and they contain nothing of the host.
    Artifacts,
    /// All processes of the attacker end when its zygote is killed.
    ZygoteDeath,
    /// The kept output is within its limit.
    Output,
    /// The arriving calls are within their limit.
    Calls,
    /// The session's use does not grow between two runs: processors, processes, memory, descriptors, files.
    Idle,
}

/// Attempts with the same expected result.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Names of the attempts, as the program prints them.
    pub attempts: Vec<String>,
    /// The expected answer in a session; `|` separates alternatives.
    pub inside: String,
    /// The expected answer where nothing counts kernel memory, if different.
    pub inside_uncounted: Option<String>,
    /// The expected answer on the backend `landlock`, if different.
    pub inside_landlock: Option<String>,
    /// The expected answer of the control.
    #[serde(default)]
    pub outside: Outside,
    /// Why the control proves nothing; then `outside` does not count.
    pub untested: Option<String>,
}

/// The expected result of the same attempt outside any session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// It succeeds.
    #[default]
    Allowed,
    /// It succeeds for root.
    AllowedForRoot,
    /// The attempt passes the check that refuses it inside, and fails later; success would change
    /// the machine.
    Reaches,
    /// Like `Reaches`, for root.
    ReachesForRoot,
    /// There is no control: the attempt harms nobody, and its success inside shows that the program
    /// could make its other attempts.
    Harmless,
}

/// An invalid probe folder.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The plan cannot be parsed.
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
        file: String,
    },
}

/// All probes, by name; a folder's probes for other times follow its first.
///
/// # Errors
/// If a folder is invalid; a test of this crate prevents this.
pub fn probes() -> Result<Vec<Probe>, ProbeError> {
    let folders: Result<Vec<_>, _> = FOLDERS.iter().map(|(name, files)| read(name, files)).collect();
    Ok(folders?.into_iter().flatten().collect())
}

/// The probes of one folder, one for each time of attack.
fn read(name: &'static str, files: &[(&str, &'static str)]) -> Result<Vec<Probe>, ProbeError> {
    let find = |wanted: &str| {
        files
            .iter()
            .find(|(file, _)| *file == wanted)
            .map(|(_, text)| *text)
    };
    let must = |file: String| find(&file).ok_or(ProbeError::Missing { probe: name, file });
    let plan = plan(name, must("probe.toml".to_owned())?)?;
    let ending = match plan.language {
        Language::Python => "py",
        Language::TypeScript => "ts",
        Language::Shell => "sh",
    };
    let program = |part: &str| format!("{part}.{ending}");
    let during = Probe {
        name: name.to_owned(),
        when: When::During,
        plan,
        guest: must(program("guest"))?,
        before: find(&program("before")),
        after: find(&program("after")),
        again: find(&program("again")),
        later: find(&program("later")),
        control: find("control.py"),
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
    /// The probe of what the run leaves behind.
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
            control: None,
        })
    }
}

fn language<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Language, D::Error> {
    let name = String::deserialize(deserializer)?;
    Language::from_name(&name).map_err(serde::de::Error::custom)
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

    /// Controls and H's programs are Python, and so is what a run leaves behind.
    #[test]
    fn probes_in_typescript_have_the_parts_that_they_can_have() {
        for probe in probes().unwrap() {
            let is_typescript = probe.plan.language == Language::TypeScript;
            assert_eq!(probe.name.starts_with("ts-"), is_typescript, "{}", probe.name);
            if is_typescript {
                assert_eq!(probe.when, When::During, "{}", probe.name);
                assert!(probe.after.is_none(), "{}", probe.name);
                assert!(probe.plan.stopped_by.is_empty(), "{}", probe.name);
            }
        }
    }

    #[test]
    fn what_is_harmless_is_allowed() {
        for probe in probes().unwrap() {
            for row in &probe.plan.expect {
                if row.outside == Outside::Harmless {
                    assert_eq!(row.inside, "allowed", "{}", probe.name);
                }
            }
        }
    }
}

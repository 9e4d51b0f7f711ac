//! What a probe's folder says: what it tries, which guards stop it, what it must meet inside and outside.

use serde::Deserialize;

/// Every file of every probe, by folder.
const FOLDERS: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/probes.rs"));

/// Where A sees the folder of H, if its probe asks for that. Backends under attack have this place for a mount.
pub const MOUNT: &str = "/data";

/// One attack.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The folder's name.
    pub name: &'static str,
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
        probe: &'static str,
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

/// All probes, by name.
///
/// # Errors
/// If a folder is no probe; a test of this crate sees to it that none is.
pub fn probes() -> Result<Vec<Probe>, ProbeError> {
    FOLDERS.iter().map(|(name, files)| read(name, files)).collect()
}

fn read(name: &'static str, files: &[(&str, &'static str)]) -> Result<Probe, ProbeError> {
    let find = |wanted: &str| {
        files
            .iter()
            .find(|(file, _)| *file == wanted)
            .map(|(_, text)| *text)
    };
    let must = |file| find(file).ok_or(ProbeError::Missing { probe: name, file });
    let plan =
        toml::from_str(must("probe.toml")?).map_err(|cause| ProbeError::Plan { probe: name, cause })?;
    Ok(Probe {
        name,
        plan,
        guest: must("guest.py")?,
        before: find("before.py"),
        after: find("after.py"),
        again: find("again.py"),
        later: find("later.py"),
    })
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

//! Reads `codeyard.toml`: limits, policy, sandbox, Python and log.

mod limits;
mod table;

use std::path::{Path, PathBuf};

use types::Limits;

use crate::mistakes::{Findings, nearest};
use table::{Table, Value};

/// The sections of the file, in the order of the documentation.
const SECTIONS: [&str; 5] = ["limits", "policy", "sandbox", "python", "log"];

/// Everything of `codeyard.toml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// `[limits]`.
    pub limits: Limits,
    /// `[policy] allow`.
    pub allow: Vec<String>,
    /// `[policy] deny`.
    pub deny: Vec<String>,
    /// `[sandbox] require`.
    pub require: Require,
    /// `[python]`.
    pub python: Python,
    /// `[log] level`.
    pub log: Option<String>,
}

/// What a sandbox must give, or codeyard refuses to serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Require {
    /// Everything runs for one user, who is protected from programs.
    #[default]
    SingleTenant,
    /// Sessions of several customers are also protected from each other.
    TenantIsolation,
}

/// `[python]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Python {
    /// The interpreter; searched for if absent.
    pub path: Option<PathBuf>,
    /// What is loaded before a session starts.
    pub profile: Profile,
}

/// What is loaded before a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// `Data` if the session's first program needs it, else `Plain`.
    #[default]
    Auto,
    /// The standard library.
    Plain,
    /// numpy and pandas.
    Data,
}

/// Reads the settings of a file.
pub(crate) fn read(file: &Path, text: &str) -> (Settings, Findings) {
    let mut findings = Findings::of(Some(file));
    let mut settings = Settings::default();
    let Some(root) = Table::parse(text, &mut findings) else {
        return (settings, findings);
    };
    let directory = file.parent().unwrap_or(Path::new(""));
    for (name, value) in root.entries() {
        let Some(section) = SECTIONS.into_iter().find(|section| *section == name) else {
            findings.mistake(name, unknown("section", name, SECTIONS));
            continue;
        };
        let Some(table) = value.table() else {
            findings.mistake(name, format!("expected a section, found {}", value.kind()));
            continue;
        };
        for (key, value) in table.entries() {
            let read = match section {
                "limits" => limits::set(&mut settings.limits, key, &value),
                "policy" => policy(&mut settings, key, &value),
                "sandbox" => sandbox(&mut settings, key, &value),
                "python" => python(&mut settings.python, key, &value, directory),
                _ => log(&mut settings, key, &value),
            };
            if let Err(message) = read {
                findings.mistake(&format!("{section}.{key}"), message);
            }
        }
    }
    (settings, findings)
}

fn policy(settings: &mut Settings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "allow" => settings.allow = value.strings()?,
        "deny" => settings.deny = value.strings()?,
        _ => return Err(unknown("key", key, ["allow", "deny"])),
    }
    Ok(())
}

fn sandbox(settings: &mut Settings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "require" => {
            settings.require = value.one_of([
                ("single-tenant", Require::SingleTenant),
                ("tenant-isolation", Require::TenantIsolation),
            ])?;
        }
        _ => return Err(unknown("key", key, ["require"])),
    }
    Ok(())
}

fn python(python: &mut Python, key: &str, value: &Value<'_>, directory: &Path) -> Result<(), String> {
    match key {
        "path" => python.path = Some(directory.join(value.string()?)),
        "profile" => {
            python.profile = value.one_of([
                ("auto", Profile::Auto),
                ("plain", Profile::Plain),
                ("data", Profile::Data),
            ])?;
        }
        _ => return Err(unknown("key", key, ["path", "profile"])),
    }
    Ok(())
}

fn log(settings: &mut Settings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "level" => {
            let level = value.string()?;
            telemetry::check(level).map_err(|error| error.to_string())?;
            settings.log = Some(level.to_owned());
        }
        _ => return Err(unknown("key", key, ["level"])),
    }
    Ok(())
}

/// Refuses a name and says which one may be meant.
fn unknown<const N: usize>(what: &str, name: &str, known: [&str; N]) -> String {
    match nearest(name, known) {
        Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
        None => format!("there is no {what} `{name}`; there is `{}`", known.join("`, `")),
    }
}

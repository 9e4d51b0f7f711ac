//! Reads `codeyard.toml` by sections.
//!
//! Reports all mistakes at once.

mod expose;
mod files;
mod gateway;
mod http;
mod issuers;
mod learned;
mod limits;
mod output;
mod records;
mod sandbox_policy;
mod sessions;
pub(crate) mod sinks;
mod surface;
mod table;
mod tools;
mod traces;

use std::path::{Path, PathBuf};

use environment::Diagnostics;
use sandbox_host::typescript::Engine;
use sandbox_process::Profile;
use types::{Answers, CheckMode, Limit, RequiredIsolation};

pub(crate) use table::unknown;
use table::{Table, Value};

pub use expose::Expose;
pub(crate) use files::UncheckedMount;
pub use files::Workspace;
pub use gateway::Gateway;
pub use http::Http;
pub use learned::Learned;
pub(crate) use limits::ExplicitLimits;
pub use records::Records;
pub use sessions::Sessions;
pub use surface::SurfaceSettings;
pub use tools::Tools;
pub use traces::{Traces, UserAttribute};

/// Sections in the order of the documentation.
pub(crate) const SECTIONS: [&str; 20] = [
    "limits",
    "policy",
    "sandbox",
    "workspace",
    "mounts",
    "pool",
    "sessions",
    "gateway",
    "http",
    "check",
    "output",
    "records",
    "receipts",
    "surface",
    "expose",
    "learned",
    "tools",
    "python",
    "typescript",
    "log",
];

/// All settings of `codeyard.toml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// `[limits]`, `[policy]` and `[sandbox] require`.
    pub policy: policy::PolicyConfig,
    /// `[sandbox] backend`.
    pub backend: Backend,
    /// `[sandbox] exec`.
    pub exec: bool,
    /// `[workspace]`.
    pub workspace: Workspace,
    /// `[[mounts]]` and `--mount`, resolved.
    pub mounts: Vec<workspace::Mount>,
    /// `[pool]`.
    pub pool: sandbox_process::PoolConfig,
    /// `[sessions]`.
    pub sessions: Sessions,
    /// `[gateway]`.
    pub gateway: Gateway,
    /// `[[gateway.sinks]]`.
    pub sinks: Vec<::sinks::SinkConfig>,
    /// `[gateway.traces]`.
    pub traces: Option<Traces>,
    /// `[[gateway.issuers]]`.
    pub issuers: Vec<oidc::IssuerConfig>,
    /// `[http]`.
    pub http: Http,
    /// `[check] default`.
    pub check: CheckMode,
    /// `[output]`.
    pub answers: Answers,
    /// `[records]`.
    pub records: Records,
    /// `[receipts] default`: results have a receipt by default.
    pub receipts: bool,
    /// `[surface]`.
    pub surface: SurfaceSettings,
    /// `[expose]`.
    pub expose: Expose,
    /// `[learned]`.
    pub learned: Learned,
    /// `[tools]` and `--tools`.
    pub tools: Tools,
    /// `[python]`.
    pub python: Python,
    /// `[typescript]`.
    pub typescript: TypeScript,
    /// `[log] level`.
    pub log: Option<String>,
}

/// `[sandbox] backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// Jailed processes in namespaces.
    #[default]
    Process,
    /// Processes without namespaces, for machines that grant none. Weaker isolation, so never a fallback.
    Landlock,
}

/// `[python]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Python {
    /// The interpreter; `None` to search for one.
    pub path: Option<PathBuf>,
    /// Modules loaded before a session starts.
    pub profile: Profile,
}

/// `[typescript]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeScript {
    /// The engine of programs.
    pub engine: Engine,
    /// A directory with `package.json` and `package-lock.json`, whose packages programs can import.
    pub packages: Option<PathBuf>,
}

#[derive(Debug, Default)]
pub(crate) struct SettingsFile {
    /// `None` without a file.
    pub(crate) file: Option<PathBuf>,
    /// All settings except the mounts, whose check needs the data directory.
    pub(crate) settings: Settings,
    /// Mounts to check later.
    pub(crate) mounts: Vec<UncheckedMount>,
    /// Limits set by the file.
    pub(crate) limits: Vec<Limit>,
}

pub(crate) fn read(file: &Path, text: &str) -> (SettingsFile, Diagnostics) {
    let mut diagnostics = Diagnostics::of(Some(file));
    let SettingsFile {
        mut settings,
        mut mounts,
        ..
    } = SettingsFile::default();
    let Some(root) = Table::parse(text, &mut diagnostics) else {
        return (SettingsFile::default(), diagnostics);
    };
    let mut explicit = Vec::new();
    let directory = file.parent().unwrap_or(Path::new(""));
    for (name, value) in root.entries() {
        let Some(section) = SECTIONS.into_iter().find(|section| *section == name) else {
            diagnostics.mistake(name, unknown("section", name, SECTIONS));
            continue;
        };
        if section == "mounts" {
            mounts = files::mounts(&value, file, &mut diagnostics);
            continue;
        }
        let Some(table) = value.table() else {
            diagnostics.mistake(name, format!("expected a section, found {}", value.kind()));
            continue;
        };
        for (key, value) in table.entries() {
            if (section, key) == ("gateway", "sinks") {
                settings.sinks = sinks::read(&value, directory, &mut diagnostics);
                continue;
            }
            if (section, key) == ("gateway", "traces") {
                settings.traces = traces::read(&value, directory, &mut diagnostics);
                continue;
            }
            if (section, key) == ("gateway", "issuers") {
                settings.issuers = issuers::read(&value, &mut diagnostics);
                continue;
            }
            if section == "limits" {
                explicit.extend(Limit::from_name(key));
            }
            let read = match section {
                "limits" => limits::set(&mut settings.policy, key, &value),
                "policy" => access(&mut settings.policy, key, &value),
                "sandbox" => sandbox(&mut settings, key, &value),
                "workspace" => files::set(&mut settings.workspace, key, &value),
                "pool" => sessions::set_pool(&mut settings.pool, key, &value),
                "sessions" => sessions::set(&mut settings.sessions, key, &value),
                "gateway" => gateway::set(&mut settings.gateway, key, &value),
                "http" => http::set(&mut settings.http, key, &value, directory),
                "check" => check(&mut settings.check, key, &value),
                "output" => output::set(&mut settings.answers, key, &value),
                "records" => records::set(&mut settings.records, key, &value),
                "receipts" => receipts(&mut settings.receipts, key, &value),
                "surface" => surface::set(&mut settings.surface, key, &value),
                "expose" => expose::set(&mut settings.expose, key, &value),
                "learned" => learned::set(&mut settings.learned, key, &value),
                "tools" => tools::set(&mut settings.tools, key, &value, directory),
                "python" => python(&mut settings.python, key, &value, directory),
                "typescript" => typescript(&mut settings.typescript, key, &value, directory),
                _ => log(&mut settings, key, &value),
            };
            if let Err(message) = read {
                diagnostics.mistake(&format!("{section}.{key}"), message);
            }
        }
    }
    http::check(&settings.http, &mut diagnostics);
    sinks::check(
        &settings.sinks,
        settings.records.recording.unwrap_or_default(),
        &mut diagnostics,
    );
    if settings.typescript.engine == Engine::QuickJs && settings.typescript.packages.is_some() {
        diagnostics.mistake(
            "typescript.packages",
            "the engine `quickjs` imports no packages; also set `engine = \"node\"` or `engine = \"deno\"`",
        );
    }
    if settings.typescript.engine != Engine::QuickJs && settings.backend == Backend::Landlock {
        diagnostics.mistake(
            "typescript.engine",
            "the backend `landlock` has only the engine `quickjs`; set `[sandbox] backend = \"process\"`, or leave `engine` \
             away",
        );
    }
    if !explicit.contains(&Limit::WallTime) {
        let policy = &mut settings.policy;
        policy.limits.wall_time = policy.limits.wall_time.min(policy.max_wall_time);
    }
    // Check the readable part of the policy too, to report all mistakes at once.
    if let Err(wrong) = policy::Policy::new(settings.policy.clone()) {
        for mistake in wrong.mistakes {
            diagnostics.mistake(&mistake.field, mistake.message);
        }
    }
    let written = SettingsFile {
        file: Some(file.to_path_buf()),
        settings,
        mounts,
        limits: explicit,
    };
    (written, diagnostics)
}

fn access(policy: &mut policy::PolicyConfig, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "allow" => policy.allow = value.strings()?,
        "deny" => policy.deny = value.strings()?,
        _ => return Err(unknown("key", key, ["allow", "deny"])),
    }
    Ok(())
}

fn sandbox(settings: &mut Settings, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "backend" => {
            settings.backend =
                value.one_of([("process", Backend::Process), ("landlock", Backend::Landlock)])?;
        }
        "require" => {
            settings.policy.require = value.one_of([
                ("single-tenant", RequiredIsolation::SingleTenant),
                ("tenant-isolation", RequiredIsolation::TenantIsolation),
            ])?;
        }
        "exec" => settings.exec = value.boolean()?,
        _ => return Err(unknown("key", key, ["backend", "require", "exec"])),
    }
    Ok(())
}

fn check(check: &mut CheckMode, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "default" => *check = value.one_of(CheckMode::ALL.map(|mode| (mode.name(), mode)))?,
        _ => return Err(unknown("key", key, ["default"])),
    }
    Ok(())
}

fn receipts(default: &mut bool, key: &str, value: &Value<'_>) -> Result<(), String> {
    match key {
        "default" => *default = value.boolean()?,
        _ => return Err(unknown("key", key, ["default"])),
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

fn typescript(
    typescript: &mut TypeScript,
    key: &str,
    value: &Value<'_>,
    directory: &Path,
) -> Result<(), String> {
    match key {
        "engine" => typescript.engine = value.one_of(Engine::ALL)?,
        "packages" => typescript.packages = Some(directory.join(value.string()?)),
        _ => return Err(unknown("key", key, ["engine", "packages"])),
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

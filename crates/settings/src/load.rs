//! Reads all files and arguments; reports all mistakes at once.

use std::io;
use std::path::{Path, PathBuf};

use environment::{Diagnostics, Environment, Mistakes, Warning, absolute, config_dir};
use registry::{Sources, load_servers};
use store::{Database, Recording};
use upstream::ServerConfig;

use crate::bridge::{Bridge, Variables};
use crate::code_execution::CodeExecution;
use crate::file::{self, ExplicitLimits, Settings, SettingsFile};
use crate::{database, limit_arguments, mounts, pool_memory};

/// Command-line arguments for the configuration.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// `--config` and `--data`.
    pub sources: Sources,
    /// `--settings`.
    pub settings: Option<PathBuf>,
    /// `--database`.
    pub database: Option<String>,
    /// `--mount`, in order.
    pub mounts: Vec<String>,
    /// `--limit`, in order.
    pub limits: Vec<String>,
    /// `--tools`, in order.
    pub tools: Vec<PathBuf>,
}

/// A valid configuration.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Directory of all stored data.
    pub data_dir: PathBuf,
    /// Database of records, saved values and learned types.
    pub database: Database,
    /// Servers to use, in order of precedence.
    pub servers: Vec<ServerConfig>,
    /// Also use servers that would start codeyard again.
    pub allow_self: bool,
    /// `codeyard.toml`.
    pub settings: Settings,
    /// Ignored settings, with reasons.
    pub warnings: Vec<Warning>,
    /// Servers that are not used because of an unset variable. Each is also a warning.
    pub left_out: Vec<Warning>,
}

/// Reads all files.
pub fn load(arguments: &Arguments, env: &dyn Environment) -> Result<Loaded, Mistakes> {
    let mut diagnostics = Diagnostics::of(None);
    let data_dir = find_data_dir(arguments, env, &mut diagnostics);
    let servers = load_servers(&arguments.sources, &data_dir, env, &mut diagnostics);
    let (settings, _) = load_settings(arguments, &data_dir, env, &mut diagnostics);
    let database = database::find(arguments, &data_dir, env, &mut diagnostics);
    finish(diagnostics, data_dir, database, servers, settings)
}

/// Reads all files, and the variables `CODE_EXECUTION_*` for the gateway.
pub fn load_gateway(
    arguments: &Arguments,
    env: &dyn Environment,
) -> Result<(Loaded, CodeExecution), Mistakes> {
    let mut diagnostics = Diagnostics::of(None);
    let data_dir = find_data_dir(arguments, env, &mut diagnostics);
    let servers = load_servers(&arguments.sources, &data_dir, env, &mut diagnostics);
    let (mut settings, _) = load_settings(arguments, &data_dir, env, &mut diagnostics);
    file::sinks::complete(&mut settings.sinks, env, &mut diagnostics);
    let code_execution = CodeExecution::read(env, &mut diagnostics);
    let recording = &mut settings.records.recording;
    let recording = recording.get_or_insert(Recording::of_gateway());
    if let Recording::On { replay, .. } = recording {
        *replay &= code_execution.replay;
    }
    let database = database::find(arguments, &data_dir, env, &mut diagnostics);
    let loaded = finish(diagnostics, data_dir, database, servers, settings)?;
    Ok((loaded, code_execution))
}

/// Reads all files in spite of mistakes, for read-only commands. Omits invalid servers, and falls back to the default
/// settings after a mistake in the settings.
///
/// # Errors
/// If there is no data directory.
pub fn load_forgiving(arguments: &Arguments, env: &dyn Environment) -> Result<(Loaded, Mistakes), Mistakes> {
    let mut diagnostics = Diagnostics::of(None);
    let data_dir = find_data_dir(arguments, env, &mut diagnostics);
    if !diagnostics.mistakes.is_empty() {
        return Err(Mistakes(diagnostics.mistakes));
    }
    let servers = load_servers(&arguments.sources, &data_dir, env, &mut diagnostics);
    let before = diagnostics.mistakes.len();
    let (mut settings, _) = load_settings(arguments, &data_dir, env, &mut diagnostics);
    if diagnostics.mistakes.len() > before {
        settings = Settings::default();
    }
    let database = database::find(arguments, &data_dir, env, &mut diagnostics);
    let mistakes = Mistakes(std::mem::take(&mut diagnostics.mistakes));
    Ok((
        finish(diagnostics, data_dir, database, servers, settings)?,
        mistakes,
    ))
}

/// Settings and data directory only, for commands without servers.
pub fn load_settings_only(arguments: &Arguments, env: &dyn Environment) -> Result<Loaded, Mistakes> {
    let mut diagnostics = Diagnostics::of(None);
    let data_dir = find_data_dir(arguments, env, &mut diagnostics);
    let (settings, _) = load_settings(arguments, &data_dir, env, &mut diagnostics);
    let database = database::find(arguments, &data_dir, env, &mut diagnostics);
    finish(diagnostics, data_dir, database, Vec::new(), settings)
}

/// Settings with the variables `MCP_BRIDGE_*`, and the data directory, for the surface `bridge`.
/// Its servers are those of [`registry::BridgeDefinitions`].
pub fn load_bridge(arguments: &Arguments, env: &dyn Environment) -> Result<(Loaded, Bridge), Mistakes> {
    let mut diagnostics = Diagnostics::of(None);
    let data_dir = find_data_dir(arguments, env, &mut diagnostics);
    let (mut settings, explicit) = load_settings(arguments, &data_dir, env, &mut diagnostics);
    let variables = Variables::read(env, &mut diagnostics);
    let bridge = variables.apply(&mut settings, &explicit, &mut diagnostics);
    let database = database::find(arguments, &data_dir, env, &mut diagnostics);
    let loaded = finish(diagnostics, data_dir, database, Vec::new(), settings)?;
    let allow_self = bridge.allow_self;
    Ok((Loaded { allow_self, ..loaded }, bridge))
}

fn finish(
    diagnostics: Diagnostics,
    data_dir: PathBuf,
    database: Database,
    servers: Vec<ServerConfig>,
    settings: Settings,
) -> Result<Loaded, Mistakes> {
    if !diagnostics.mistakes.is_empty() {
        // Also report unused servers, so that a person can fix everything at once.
        let all = diagnostics.mistakes.into_iter().chain(diagnostics.left_out);
        return Err(Mistakes(all.collect()));
    }
    Ok(Loaded {
        data_dir,
        database,
        servers,
        allow_self: false,
        settings,
        warnings: diagnostics
            .warnings
            .into_iter()
            .chain(diagnostics.left_out.iter().cloned())
            .collect(),
        left_out: diagnostics.left_out,
    })
}

fn find_data_dir(arguments: &Arguments, env: &dyn Environment, diagnostics: &mut Diagnostics) -> PathBuf {
    arguments.sources.data_directory(env).unwrap_or_else(|| {
        diagnostics.mistake(
            "",
            "there is no data directory: HOME is not set; set it, or name a directory with --data",
        );
        PathBuf::new()
    })
}

fn load_settings(
    arguments: &Arguments,
    data: &Path,
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> (Settings, ExplicitLimits) {
    let SettingsFile {
        file,
        mut settings,
        mut mounts,
        limits: explicit,
    } = read_settings(arguments, env, diagnostics);
    let mut found = Diagnostics::of(file.as_deref());
    pool_memory::check(&settings.pool, env, &mut found);
    let explicit = ExplicitLimits {
        settings: explicit,
        command_line: limit_arguments::apply(&arguments.limits, &mut settings.policy, diagnostics),
    };
    mounts.extend(mounts::from_arguments(&arguments.mounts, env, diagnostics));
    settings.mounts = mounts::resolve(&mounts, data, diagnostics);
    let directories = arguments.tools.iter().map(|directory| absolute(directory, env));
    settings.tools.directories.extend(directories);
    for directory in &settings.tools.directories {
        check_directory(directory, diagnostics);
    }
    diagnostics.merge(found);
    (settings, explicit)
}

fn check_directory(directory: &Path, diagnostics: &mut Diagnostics) {
    let message = match std::fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return,
        Ok(_) => {
            "this is not a directory; name the directory that holds `servers/<server>/<tool>.py`".to_owned()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let fix = "create it, or remove it from `--tools` and `[tools] directories`";
            format!("this directory of tool files does not exist; {fix}")
        }
        Err(error) => format!("this directory of tool files cannot be read: {error}"),
    };
    diagnostics.mistake_in(directory, "", message);
}

fn read_settings(
    arguments: &Arguments,
    env: &dyn Environment,
    diagnostics: &mut Diagnostics,
) -> SettingsFile {
    let read = match &arguments.settings {
        Some(file) => {
            let file = absolute(file, env);
            diagnostics
                .required(&file, env.read(&file))
                .map(|bytes| (file, bytes))
        }
        None => config_dir(env)
            .map(|directory| directory.join("codeyard.toml"))
            .and_then(|file| {
                diagnostics
                    .optional(&file, env.read_protected(&file))
                    .map(|bytes| (file, bytes))
            }),
    };
    let Some((file, bytes)) = read else {
        return SettingsFile::default();
    };
    let Ok(text) = String::from_utf8(bytes) else {
        diagnostics.mistake_in(
            &file,
            "",
            "not valid TOML: it holds bytes that are not valid UTF-8",
        );
        return SettingsFile::default();
    };
    let (written, found) = file::read(&file, &text);
    diagnostics.merge(found);
    written
}

//! Puts everything together: which files count, what they say, every mistake of all of them at once.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use types::{Answers, CheckMode, Principal, ToolRef, ToolRules};
use upstream::ServerConfig;

use crate::bridge::{Bridge, Variables as BridgeVariables};
use crate::consent::Consent;
use crate::host::Host;
use crate::mistakes::{Findings, Mistakes, Warning, why_unreadable};
use crate::named::{Named, named};
use crate::places::{absolute, config_dir, data_dir, resolved};
use crate::secrets::Secrets;
use crate::servers::{self, Entry, Variables};
use crate::settings::{self, Backend, Expose, NamedLimits, Settings, Surface, Written};
use crate::sources::{Origin, possible_files};
use crate::trust::{self, Standing};
use crate::{limits, memory, mounts};

/// What the command line says of configuration.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `--config`, in their order; empty for the default files.
    pub servers: Vec<PathBuf>,
    /// `--settings`.
    pub settings: Option<PathBuf>,
    /// `--data`.
    pub data: Option<PathBuf>,
    /// `--mount`, in their order.
    pub mounts: Vec<String>,
    /// `--limit`, in their order.
    pub limits: Vec<String>,
    /// `--tools`, in their order.
    pub tools: Vec<PathBuf>,
}

/// A configuration without mistakes.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Directory of everything that codeyard keeps.
    pub data_dir: PathBuf,
    /// Servers that are to be used, in their order.
    pub servers: Vec<ServerConfig>,
    /// Whether servers that would start codeyard again are used too.
    pub allow_self: bool,
    /// `codeyard.toml`.
    pub settings: Settings,
    /// What is not used, and why.
    pub warnings: Vec<Warning>,
    /// Servers that are not used because a variable that they refer to is not set; each is a warning too.
    pub left_out: Vec<Warning>,
}

/// What only the running program knows.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its executable, which is also the program of its helper processes.
    pub executable: PathBuf,
}

/// The configuration of each part.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Of the hub.
    pub upstream: upstream::Config,
    /// Of the policy.
    pub policy: policy::Config,
    /// What programs run in.
    pub backend: Backend,
    /// Of the sandbox. The backend `landlock` uses its part `host` only.
    pub sandbox: sandbox_process::Config,
    /// Of the files that sessions keep and see.
    pub workspace: workspace::Config,
    /// Of the sessions.
    pub sessions: session::Config,
    /// What is done with what the check before a run finds.
    pub check: CheckMode,
    /// How results are written for models.
    pub answers: Answers,
    /// Of the records.
    pub records: store::Config,
    /// Whether results say what their runs cost where nothing is said of it.
    pub receipts: bool,
    /// Tools that clients of the surface `code` see beside its own.
    pub expose: Expose,
    /// What clients of the surface `code` see before they ask.
    pub surface: Surface,
    /// Of what is learned of results.
    pub learning: store::Learning,
    /// The database of the tools and memories that programs save.
    pub saved: PathBuf,
    /// Where Python files that are tools are found.
    pub tools: Vec<PathBuf>,
}

impl Loaded {
    /// The files that sessions keep and see.
    pub fn workspace(&self) -> workspace::Config {
        let settings = &self.settings.workspace;
        workspace::Config {
            quota: settings.quota,
            inodes: settings.inodes,
            enforce: settings.enforce,
            keeping: settings.keeping,
            owner: settings
                .owner
                .map_or(workspace::Owner::DataDirectory, workspace::Owner::User),
            mounts: self.settings.mounts.clone(),
            ..workspace::Config::below(&self.data_dir)
        }
    }

    /// What is recorded and where.
    pub fn records(&self) -> store::Config {
        let settings = &self.settings.records;
        store::Config {
            recording: settings.recording,
            keep_for: settings.keep_for,
            keep_size: settings.keep_size,
            ..store::Config::below(&self.data_dir)
        }
    }

    /// Whether results are observed, and where what is learned is kept: beside the records, if there are any.
    pub fn learning(&self) -> store::Learning {
        let records = self.records();
        let is_kept = records.recording != store::Recording::Off;
        store::Learning {
            enabled: self.settings.learned.enabled,
            shared: self.settings.learned.shared,
            file: is_kept.then_some(records.file),
        }
    }

    /// The database of the tools and memories that programs save.
    pub fn saved(&self) -> PathBuf {
        self.data_dir.join(store::FILE)
    }

    /// Whether `[policy]` or the server's own rules keep a tool from every program.
    pub fn forbids(&self, (server, rules): (&str, &ToolRules), tool: &str) -> bool {
        let Ok(policy) = policy::Policy::new(self.settings.policy.clone()) else {
            return false;
        };
        let policy = policy.with_servers([(server, rules)]);
        let tool = ToolRef::new(server, tool);
        policy.admit(&Principal::local(), &tool).is_err()
    }

    /// The directory of the logins to remote servers.
    pub fn logins(&self) -> PathBuf {
        self.data_dir.join("logins")
    }

    /// Hands each part its own.
    pub fn into_parts(self, program: Program, host: &dyn Host) -> Parts {
        let python = python_settings(&self.settings, host);
        let workspace = self.workspace();
        let records = self.records();
        let saved = self.saved();
        let learning = self.learning();
        let logins = self.logins();
        let Settings {
            policy,
            backend,
            exec,
            python: chosen,
            mounts,
            pool,
            sessions,
            check,
            answers,
            tools,
            receipts,
            surface,
            expose,
            ..
        } = self.settings;
        let helper = vec![program.executable.clone().into_os_string()];
        let reveals_host_paths = policy.require == policy::Requirement::SingleTenant;
        let host_links = mounts::host_links(reveals_host_paths, &workspace, &mounts);
        let require = match policy.require {
            policy::Requirement::SingleTenant => sandbox_host::RequiredIsolation::SingleTenant,
            policy::Requirement::TenantIsolation => sandbox_host::RequiredIsolation::TenantIsolation,
        };
        Parts {
            upstream: upstream::Config {
                servers: self.servers,
                cache_dir: Some(self.data_dir.join("cache").join("tools")),
                asks_anew: false,
                log_dir: Some(self.data_dir.join("logs")),
                login_dir: Some(logins),
                supervisor: Vec::new(),
                own_executable: program.executable,
                allow_self: self.allow_self,
            },
            backend,
            sandbox: sandbox_process::Config {
                profile: chosen.profile,
                pool,
                mounts: mounts.into_iter().map(|mount| mount.target).collect(),
                reveals_host_paths,
                host_links,
                owner: workspace.owner_on_disk(),
                ..sandbox_process::Config::new(sandbox_host::HostConfig {
                    require,
                    exec,
                    limits: policy.limits.clone(),
                    throttled_directories: workspace.on_disk(),
                    ..sandbox_host::HostConfig::new(self.data_dir, python, helper)
                })
            },
            workspace,
            sessions: session::Config {
                max_sessions: sessions.max,
                idle_time: sessions.idle_time,
                idle_memory: sessions.idle_memory,
                ..session::Config::default()
            },
            check,
            answers,
            records,
            receipts,
            expose,
            surface,
            learning,
            saved,
            tools: tools.directories,
            policy,
        }
    }
}

impl Loaded {
    /// Hands each part its own, for the surface `bridge`.
    pub fn into_bridge_parts(self, bridge: &Bridge, program: Program, host: &dyn Host) -> Parts {
        let mut parts = self.into_parts(program, host);
        parts.sandbox.host.appearance = bridge.appearance();
        // Programs of that surface reach the servers that a call names, and no other tools.
        parts.tools = Vec::new();
        if let Some(state) = &bridge.state_dir {
            parts.saved = state.join(store::FILE);
        }
        parts
    }
}

/// Where to look for Python.
pub fn python_settings(settings: &Settings, host: &dyn Host) -> sandbox_host::python::Settings {
    sandbox_host::python::Settings {
        path: settings.python.path.clone(),
        search_path: host.var("PATH").ok().flatten().map(OsString::from),
    }
}

/// How names of one file meet those of an earlier one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clash {
    /// Somebody listed both files, so it is a mistake.
    Refuse,
    /// The user's own file goes before the project's.
    FirstWins,
}

/// Reads all files that count.
pub fn load(sources: &Sources, host: &dyn Host) -> Result<Loaded, Mistakes> {
    let mut findings = Findings::of(None);
    let data_dir = find_data_dir(sources, host, &mut findings);
    let servers = load_servers(sources, &data_dir, host, &mut findings);
    let (settings, _) = load_settings(sources, &data_dir, host, &mut findings);
    finish(findings, data_dir, servers, settings)
}

/// What can be used although there are mistakes, for commands that only look: all servers but the mistaken ones, and the
/// default settings if one of them is wrong.
///
/// # Errors
/// If there is no data directory.
pub fn load_forgiving(sources: &Sources, host: &dyn Host) -> Result<(Loaded, Mistakes), Mistakes> {
    let mut findings = Findings::of(None);
    let data_dir = find_data_dir(sources, host, &mut findings);
    if !findings.mistakes.is_empty() {
        return Err(Mistakes(findings.mistakes));
    }
    let servers = load_servers(sources, &data_dir, host, &mut findings);
    let before = findings.mistakes.len();
    let (mut settings, _) = load_settings(sources, &data_dir, host, &mut findings);
    if findings.mistakes.len() > before {
        settings = Settings::default();
    }
    let mistakes = Mistakes(std::mem::take(&mut findings.mistakes));
    Ok((finish(findings, data_dir, servers, settings)?, mistakes))
}

/// Settings and data directory alone, for commands that need no servers.
pub fn load_settings_only(sources: &Sources, host: &dyn Host) -> Result<Loaded, Mistakes> {
    let mut findings = Findings::of(None);
    let data_dir = find_data_dir(sources, host, &mut findings);
    let (settings, _) = load_settings(sources, &data_dir, host, &mut findings);
    finish(findings, data_dir, Vec::new(), settings)
}

/// Settings and data directory as the variables of the bridge change them, for the surface `bridge`. Its servers are
/// those of [`crate::Definitions`].
pub fn load_bridge(sources: &Sources, host: &dyn Host) -> Result<(Loaded, Bridge), Mistakes> {
    let mut findings = Findings::of(None);
    let data_dir = find_data_dir(sources, host, &mut findings);
    let (mut settings, named) = load_settings(sources, &data_dir, host, &mut findings);
    let variables = BridgeVariables::read(host, &mut findings);
    let bridge = variables.lay_over(&mut settings, &named, &mut findings);
    let loaded = finish(findings, data_dir, Vec::new(), settings)?;
    let allow_self = bridge.allow_self;
    Ok((Loaded { allow_self, ..loaded }, bridge))
}

fn finish(
    findings: Findings,
    data_dir: PathBuf,
    servers: Vec<ServerConfig>,
    settings: Settings,
) -> Result<Loaded, Mistakes> {
    if !findings.mistakes.is_empty() {
        // Whoever mends the file sees all there is to mend.
        let all = findings.mistakes.into_iter().chain(findings.left_out);
        return Err(Mistakes(all.collect()));
    }
    Ok(Loaded {
        data_dir,
        servers,
        allow_self: false,
        settings,
        warnings: findings
            .warnings
            .into_iter()
            .chain(findings.left_out.iter().cloned())
            .collect(),
        left_out: findings.left_out,
    })
}

/// Directory of everything that codeyard keeps; empty if nothing says where, which is a mistake for [`load`].
pub fn data_directory(sources: &Sources, host: &dyn Host) -> PathBuf {
    find_data_dir(sources, host, &mut Findings::of(None))
}

pub(crate) fn find_data_dir(sources: &Sources, host: &dyn Host, findings: &mut Findings) -> PathBuf {
    let found = match &sources.data {
        Some(data) => Some(absolute(data, host)),
        None => data_dir(host),
    };
    found.unwrap_or_else(|| {
        findings.mistake(
            "",
            "there is no data directory: HOME is not set; set it, or name a directory with --data",
        );
        PathBuf::new()
    })
}

pub(crate) fn load_servers(
    sources: &Sources,
    data: &Path,
    host: &dyn Host,
    findings: &mut Findings,
) -> Vec<ServerConfig> {
    let mut merged = Merged {
        consent: Consent::load(data, host, findings),
        ..Merged::default()
    };
    let secrets = Secrets::read(data, host, findings);
    for place in possible_files(sources, host) {
        let read = place.read(host);
        // Where it really is: what a person was shown counts from there, and is kept under that name.
        let path = resolved(&place.path, host);
        let (bytes, clash) = match place.origin {
            Origin::Named => (of_named(&path, read, findings), Clash::Refuse),
            Origin::User => (of_optional(&path, read, findings), Clash::FirstWins),
            Origin::Project => {
                let bytes = of_optional(&path, read, findings);
                let trusted = bytes.filter(|bytes| is_trusted(&path, bytes, data, host, findings));
                (trusted, Clash::FirstWins)
            }
        };
        if let Some(bytes) = bytes {
            merged.add(&path, &bytes, clash, &place.origin.variables(&secrets), findings);
        }
    }
    merged.add_named(host, findings);
    merged.servers
}

/// Servers of all files so far.
#[derive(Default)]
struct Merged {
    servers: Vec<ServerConfig>,
    /// Which file a name comes from.
    names: HashMap<String, PathBuf>,
    /// The commands that people agreed to.
    consent: Consent,
}

impl Merged {
    fn add(&mut self, file: &Path, bytes: &[u8], clash: Clash, host: &dyn Host, findings: &mut Findings) {
        let (entries, mut found) = servers::read(file, bytes, Variables::ExpandOrLeave(host));
        let mut own = HashMap::new();
        let held_back = self.held_back(file, bytes);
        for Entry {
            name,
            field,
            server,
            left_out,
        } in entries
        {
            if let Some(first) = self.names.get(&name) {
                let first = first.display();
                match clash {
                    Clash::Refuse => {
                        found.mistake(
                            &field,
                            format!("{first} has a server of this name too; rename one"),
                        );
                    }
                    Clash::FirstWins => found.warning(
                        &field,
                        format!("is not used: {first} has a server of this name and goes first"),
                    ),
                }
                continue;
            }
            let is_whole = server.is_some() || !left_out.is_empty();
            if is_whole && held_back.contains(&name) {
                found.warning(
                    &field,
                    "is not used: it starts something else than what was agreed to; `codeyard servers enable` shows it and asks",
                );
            } else {
                self.servers.extend(server);
                found.left_out.extend(left_out);
            }
            own.insert(name, file.to_path_buf());
        }
        self.names.extend(own);
        findings.absorb(found);
    }
}

impl Merged {
    /// Servers that variables name; those of files go first.
    fn add_named(&mut self, host: &dyn Host, findings: &mut Findings) {
        for Named { variable, server, .. } in named(host, findings) {
            match self.names.get(&server.name) {
                Some(file) => findings.warning(
                    &variable.to_string_lossy(),
                    format!(
                        "is not used: {} has a server of this name and goes first",
                        file.display()
                    ),
                ),
                None => self.servers.push(server),
            }
        }
    }

    /// The servers of a file that would start something else than what a person agreed to.
    /// Names of a file that a person agreed to and that now start something else, or do not say what.
    fn held_back(&self, file: &Path, bytes: &[u8]) -> Vec<String> {
        if !self.consent.knows(file) {
            return Vec::new();
        }
        let (entries, _) = servers::read(file, bytes, Variables::Keep);
        let is_held_back = |entry: &Entry| match &entry.server {
            Some(server) => self.consent.is_changed(file, server),
            None => self.consent.has(file, &entry.name),
        };
        let held_back = entries.into_iter().filter(is_held_back);
        held_back.map(|entry| entry.name).collect()
    }
}

/// Whether a person trusted exactly this content of the project file.
fn is_trusted(file: &Path, bytes: &[u8], data: &Path, host: &dyn Host, findings: &mut Findings) -> bool {
    let message = match trust::standing(file, bytes, data, host, findings) {
        Standing::Trusted => return true,
        Standing::Changed => "has changed since it was trusted, so its servers are not used",
        Standing::Unknown => "is not trusted, so its servers are not used",
    };
    let mut untrusted = Findings::of(Some(file));
    untrusted.warning("", format!("{message}; read it, then run `codeyard trust`"));
    findings.absorb(untrusted);
    false
}

fn load_settings(
    sources: &Sources,
    data: &Path,
    host: &dyn Host,
    findings: &mut Findings,
) -> (Settings, NamedLimits) {
    let Written {
        file,
        mut settings,
        mut mounts,
        limits: named,
    } = read_settings(sources, host, findings);
    let mut found = Findings::of(file.as_deref());
    memory::check(&settings.pool, host, &mut found);
    let named = NamedLimits {
        settings: named,
        command_line: limits::of_command_line(&sources.limits, &mut settings.policy, findings),
    };
    mounts.extend(mounts::of_command_line(&sources.mounts, host, findings));
    settings.mounts = mounts::resolve(&mounts, data, findings);
    let named_here = sources.tools.iter().map(|directory| absolute(directory, host));
    settings.tools.directories.extend(named_here);
    for directory in &settings.tools.directories {
        check_directory(directory, findings);
    }
    findings.absorb(found);
    (settings, named)
}

/// A directory of tools that somebody named must be there when codeyard starts.
fn check_directory(directory: &Path, findings: &mut Findings) {
    let mut found = Findings::of(Some(directory));
    match std::fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => found.mistake(
            "",
            "this is no directory; name the one that holds `servers/<server>/<tool>.py`",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            found.mistake("", "there is no such directory of tool files; make it, or leave it out of `--tools` and `[tools] directories`");
        }
        Err(error) => found.mistake(
            "",
            format!("this directory of tool files cannot be looked at: {error}"),
        ),
    }
    findings.absorb(found);
}

fn read_settings(sources: &Sources, host: &dyn Host, findings: &mut Findings) -> Written {
    let read = match &sources.settings {
        Some(file) => {
            let file = absolute(file, host);
            of_named(&file, host.read(&file), findings).map(|bytes| (file, bytes))
        }
        None => config_dir(host)
            .map(|directory| directory.join("codeyard.toml"))
            .and_then(|file| of_optional(&file, host.read_own(&file), findings).map(|bytes| (file, bytes))),
    };
    let Some((file, bytes)) = read else {
        return Written::default();
    };
    let Ok(text) = String::from_utf8(bytes) else {
        let mut found = Findings::of(Some(&file));
        found.mistake("", "this is no TOML: it holds bytes that are no UTF-8 text");
        findings.absorb(found);
        return Written::default();
    };
    let (written, found) = settings::read(&file, &text);
    findings.absorb(found);
    written
}

/// What a file holds that an option names, so it must be there.
fn of_named(file: &Path, read: io::Result<Vec<u8>>, findings: &mut Findings) -> Option<Vec<u8>> {
    read.map_err(|error| unreadable(file, &error, findings)).ok()
}

/// What a file holds that need not be there; that it cannot be read is a mistake all the same.
fn of_optional(file: &Path, read: io::Result<Vec<u8>>, findings: &mut Findings) -> Option<Vec<u8>> {
    match read {
        Ok(bytes) => Some(bytes),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            None
        }
        Err(error) => {
            unreadable(file, &error, findings);
            None
        }
    }
}

fn unreadable(file: &Path, error: &io::Error, findings: &mut Findings) {
    let mut found = Findings::of(Some(file));
    found.mistake("", why_unreadable(error));
    findings.absorb(found);
}

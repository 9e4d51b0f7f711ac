//! Examines this machine, for `codeyard doctor`.

mod quota;

use std::path::Path;

use sandbox::{Attachment, Backend as _};
use sandbox_host::doctor::{Check, CheckState, Report};
use sandbox_host::typescript;
use sandbox_landlock::Landlock;
use sandbox_process::Process;
use store::Recording;
use workspace::{Keeping, Workspaces};

use self::quota::RequiredQuota;

use crate::guest_files::with_guest_files;

/// File descriptors needed to start a helper with its pipes.
const FEWEST_FILES: u64 = 32;

/// Examines the machine by starting a session under these settings.
pub async fn examine(
    backend: settings::Backend,
    sandbox: sandbox_process::ProcessConfig,
    files: workspace::WorkspaceConfig,
) -> Report {
    let owners = match backend {
        settings::Backend::Landlock if !sandbox_landlock::keeps_files() => None,
        _ => owners(files.clone()),
    };
    let (engines, data) = (sandbox.host.typescript.clone(), sandbox.host.data.clone());
    let engine = tokio::task::spawn_blocking(move || engine(&engines, &data));
    let mut report = match backend {
        settings::Backend::Process => examine_process(sandbox, files).await,
        settings::Backend::Landlock => {
            let landlock = Landlock::new(with_guest_files(sandbox).host);
            let report = landlock.examine().await;
            landlock.close().await;
            report
        }
    };
    report.checks.extend(engine.await);
    if let Some(owners) = owners {
        report.serves &= owners.state != CheckState::Missing;
        report.checks.push(owners);
    }
    report
}

/// The engine of TypeScript. Python runs without it, so a missing one is no reason to refuse all programs.
fn engine(settings: &typescript::Settings, data: &Path) -> Check {
    match typescript::find(settings, data) {
        Ok(None) => Check::ok("typescript", "QuickJS, which is part of codeyard"),
        Ok(Some(found)) => {
            let (engine, version) = (found.engine.name(), &found.version);
            let detail = format!("{engine} {version} ({})", found.executable.display());
            Check::ok("typescript", detail)
        }
        Err(error) => Check::weaker(
            "typescript",
            "programs in TypeScript do not run",
            error.to_string(),
        ),
    }
}

/// Whether kept files belong to their owner; `None` if sessions keep none.
fn owners(files: workspace::WorkspaceConfig) -> Option<Check> {
    let workspaces = Workspaces::new(files);
    if workspaces.keeping() == Keeping::Own {
        return None;
    }
    let (state, detail) = match workspaces.owners() {
        Ok(None) => (
            CheckState::Ok,
            "every file that sessions keep belongs to their user".to_owned(),
        ),
        Ok(Some(foreign)) => (CheckState::Weaker, foreign.to_string()),
        Err(error) => (CheckState::Missing, error.to_string()),
    };
    Some(Check {
        name: "owners",
        state,
        detail,
        remedy: String::new(),
    })
}

async fn examine_process(
    sandbox: sandbox_process::ProcessConfig,
    files: workspace::WorkspaceConfig,
) -> Report {
    let required = match shows_files_apart(&sandbox.host) {
        true => RequiredQuota::Kernel,
        false => RequiredQuota::Any,
    };
    let process = Process::new(with_guest_files(sandbox));
    let read_only = files.mounts.iter().filter(|mount| !mount.writable);
    let folders: Vec<Attachment> = read_only.map(crate::files::attachment).collect();
    let mut report = process.examine(&folders).await;
    process.close().await;
    quota::examine(files, required, &mut report);
    report
}

/// Whether this process runs as root and may change system files.
pub fn is_root() -> bool {
    jail::machine::Machine::look().user == 0
}

/// User id of an ordinary user; `None` for root.
pub fn asking_user() -> Option<String> {
    let user = jail::machine::Machine::look().user;
    (user != 0).then(|| user.to_string())
}

/// The error if the limit of open files is too low for the runtime and one helper.
pub fn too_few_files() -> Option<String> {
    let most = jail::machine::open_files();
    (most < FEWEST_FILES).then(|| {
        format!(
            "this process may have {most} files open, and codeyard needs {FEWEST_FILES} to begin and more to run programs; \
             raise this user's limit of open files (`ulimit -n`)"
        )
    })
}

/// Examines the records under these settings.
pub async fn records(config: &store::RecordsConfig) -> Check {
    let check = |state, detail: String, remedy: &str| Check {
        name: "records",
        state,
        detail,
        remedy: remedy.to_owned(),
    };
    let required = match config.recording {
        Recording::Off => return check(CheckState::Ok, "off: nothing is recorded".to_owned(), ""),
        Recording::On { required, .. } => required,
    };
    match store::examine(config).await {
        Ok(None) => check(CheckState::Ok, "on; nothing has been recorded yet".to_owned(), ""),
        Ok(Some(health)) => {
            let kib = health.bytes / 1024;
            let plural = if health.runs == 1 { "" } else { "s" };
            let detail = format!("{} run{plural} in {}, {kib} KiB", health.runs, config.database);
            check(CheckState::Ok, detail, "")
        }
        Err(trouble) if required => check(CheckState::Missing, trouble.what(), trouble.remedy()),
        Err(trouble) => {
            let detail = format!("programs run without being recorded: {}", trouble.what());
            check(CheckState::Weaker, detail, trouble.remedy())
        }
    }
}

/// Where `codeyard serve` sends records; `None` without a sink.
pub fn sinks(configs: &[::sinks::SinkConfig]) -> Option<Check> {
    let shown: Vec<String> = configs.iter().map(ToString::to_string).collect();
    (!shown.is_empty()).then(|| Check::ok("sinks", shown.join("; ")))
}

/// Whether sessions of mutually isolated tenants write host files; only sessions started by root do.
pub(crate) fn shows_files_apart(sandbox: &sandbox_host::HostConfig) -> bool {
    sandbox.require == types::RequiredIsolation::TenantIsolation
        && sandbox.appearance == jail::spec::Appearance::Codeyard
        && is_root()
}

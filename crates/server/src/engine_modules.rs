//! Gives the backend the guest code that sessions read as files: the modules of an engine of its own, and what bash
//! reads first.

use sandbox_host::typescript::Engine;
use sandbox_host::HostConfig;
use sandbox_host::shell::Settings;
use sandbox_process::ProcessConfig;

/// The configuration with what shells need, and with these modules, if its engine needs them.
pub(crate) fn with_engine_modules(config: ProcessConfig) -> ProcessConfig {
    let mut config = ProcessConfig {
        host: with_shell(config.host),
        ..config
    };
    let typescript = &mut config.host.typescript;
    if typescript.engine != Engine::QuickJs {
        typescript.modules = typescript_guest::engine_files();
    }
    config
}

/// The configuration with what shells need.
pub(crate) fn with_shell(config: HostConfig) -> HostConfig {
    let files = shell_guest::FILES.iter().map(|file| (file.name, file.text));
    let shell = Settings {
        files: files.collect(),
        programs: shell_guest::PROGRAMS.into(),
    };
    HostConfig { shell, ..config }
}

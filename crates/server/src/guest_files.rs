//! Gives the backends the guest code that sessions read as files: the modules of an engine of its own, and what bash
//! reads first.

use sandbox_host::shell::ShellFiles;
use sandbox_host::typescript::Engine;
use sandbox_process::ProcessConfig;

/// The configuration with what shells need, and with the modules of TypeScript, if its engine needs them.
pub(crate) fn with_guest_files(mut config: ProcessConfig) -> ProcessConfig {
    let typescript = &mut config.host.typescript;
    if typescript.engine != Engine::QuickJs {
        typescript.modules = typescript_guest::engine_files();
    }
    config.host.shell = ShellFiles {
        files: shell_guest::FILES.into(),
        programs: shell_guest::PROGRAMS.into(),
    };
    config
}

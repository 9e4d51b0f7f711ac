//! Gives the backend the modules that an engine of its own runs first.

use sandbox_host::typescript::Engine;
use sandbox_process::ProcessConfig;

/// The configuration with these modules, if its engine needs them.
pub(crate) fn with_engine_modules(mut config: ProcessConfig) -> ProcessConfig {
    let typescript = &mut config.host.typescript;
    if typescript.engine != Engine::QuickJs {
        typescript.modules = typescript_guest::engine_files();
    }
    config
}

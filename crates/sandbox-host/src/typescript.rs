//! The configured engine of TypeScript: its location, its installation, and its packages.
//!
//! All functions block: they read files and wait for child processes.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

mod error;
mod find;
mod npm;
mod sync;

pub use error::{EngineError, SyncError};
pub use find::{Found, Package, find, packages};
pub use sync::{SyncRequest, Synced, sync};

/// Name of the directory, in the data directory, that `codeyard typescript sync` fills.
const DIRECTORY: &str = "typescript";

/// `[typescript] engine`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// QuickJS, compiled into this program.
    #[default]
    QuickJs,
    /// The machine's Node.js.
    Node,
    /// Deno, from its npm package or from the machine.
    Deno,
}

/// Settings of TypeScript.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// `[typescript] engine`.
    pub engine: Engine,
    /// `[typescript] packages`: a directory with `package.json` and `package-lock.json`.
    pub packages: Option<PathBuf>,
    /// The value of `PATH`.
    pub search_path: Option<OsString>,
    /// Name and text of the modules that a separate engine runs first.
    pub modules: Vec<(&'static str, String)>,
}

impl Engine {
    /// All engines with their names in the settings.
    pub const ALL: [(&'static str, Engine); 3] = [
        ("quickjs", Engine::QuickJs),
        ("node", Engine::Node),
        ("deno", Engine::Deno),
    ];

    /// The name in the settings.
    pub fn name(self) -> &'static str {
        match self {
            Engine::QuickJs => "quickjs",
            Engine::Node => "node",
            Engine::Deno => "deno",
        }
    }
}

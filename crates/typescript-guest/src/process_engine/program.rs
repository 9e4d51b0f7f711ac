//! The chosen engine, and how to start it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};

use rustix::process::{Resource, getrlimit};
use serde::Deserialize;

use super::tool_modules;

/// Path of the first module that the engine runs.
const MODULES: &str = "/opt/codeyard/engine/main.js";

/// Address space in bytes that an engine reserves without using it. Control groups count only used memory.
pub const RESERVED: u64 = 64 << 30;

/// The engine as the host found it.
#[derive(Debug, Clone, Deserialize)]
pub struct EngineProgram {
    pub kind: EngineKind,
    /// Its path in the session.
    pub program: String,
    /// Name and version, for people.
    pub name: String,
}

/// Engines that run as separate processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    Node,
    Deno,
}

impl EngineProgram {
    /// Starts the engine; `reads` and `writes` are its ends of the message pipes.
    pub fn start(&self, reads: &OwnedFd, writes: &OwnedFd) -> io::Result<Child> {
        #[expect(
            clippy::disallowed_methods,
            reason = "the host ends the session with every process in it"
        )]
        let mut command = Command::new(&self.program);
        let heap = heap_mebibytes();
        match self.kind {
            EngineKind::Node => {
                command
                    .args([
                        "--experimental-vm-modules",
                        "--no-warnings",
                        "--disable-wasm-trap-handler",
                        "--v8-pool-size=1",
                    ])
                    .arg(format!("--max-old-space-size={heap}"))
                    .env("UV_THREADPOOL_SIZE", "2");
            }
            EngineKind::Deno => {
                tool_modules::write_import_map()?;
                command
                    .args([
                        "run",
                        "--allow-all",
                        "--quiet",
                        "--no-remote",
                        "--no-lock",
                        "--unstable-sloppy-imports",
                    ])
                    .arg(format!("--import-map={}", tool_modules::IMPORT_MAP))
                    .arg(format!("--v8-flags=--max-old-space-size={heap}"))
                    .env("DENO_DIR", "/tmp/.deno")
                    .env("DENO_NO_UPDATE_CHECK", "1");
            }
        }
        command
            .arg(MODULES)
            .args([reads.as_raw_fd().to_string(), writes.as_raw_fd().to_string()])
            .env("HOME", "/tmp")
            .env("TZ", "UTC")
            .env("LANG", "C.UTF-8")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    }
}

/// Maximum mebibytes of the engine's values. The control group's limit is reached first.
fn heap_mebibytes() -> u64 {
    let limit = getrlimit(Resource::As).current.unwrap_or(u64::MAX);
    (limit.saturating_sub(RESERVED) >> 20).clamp(64, 1 << 16)
}

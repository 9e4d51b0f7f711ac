//! Reads the bridge's variables.
//!
//! Reports all mistakes at once, each with variable, value and expected form.

use std::path::PathBuf;
use std::time::Duration;

use environment::{Diagnostics, Environment, nearest};

use super::{OutputMode, values};

const PREFIX: &str = "MCP_BRIDGE_";

pub(super) const TIMEOUT: &str = "MCP_BRIDGE_TIMEOUT";
pub(super) const MAX_TIMEOUT: &str = "MCP_BRIDGE_MAX_TIMEOUT";
const IDLE_TIMEOUT: &str = "MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT";
const MEMORY: &str = "MCP_BRIDGE_MEMORY";
const PIDS: &str = "MCP_BRIDGE_PIDS";
const CPUS: &str = "MCP_BRIDGE_CPUS";
const CONTAINER_USER: &str = "MCP_BRIDGE_CONTAINER_USER";
const STATE_DIR: &str = "MCP_BRIDGE_STATE_DIR";
const OUTPUT_MODE: &str = "MCP_BRIDGE_OUTPUT_MODE";
const LOG_LEVEL: &str = "MCP_BRIDGE_LOG_LEVEL";
const ALLOW_SELF_SERVER: &str = "MCP_BRIDGE_ALLOW_SELF_SERVER";
const RUNTIME: &str = "MCP_BRIDGE_RUNTIME";
const IMAGE: &str = "MCP_BRIDGE_IMAGE";
const EXTRA_CONFIG: &str = "MCP_BRIDGE_EXTRA_CONFIG";
pub(super) const SERVERS_CONFIG: &str = "MCP_SERVERS_CONFIG";

/// All variables with [`PREFIX`].
pub(super) const KNOWN: [&str; 14] = [
    TIMEOUT,
    MAX_TIMEOUT,
    IDLE_TIMEOUT,
    MEMORY,
    PIDS,
    CPUS,
    CONTAINER_USER,
    STATE_DIR,
    OUTPUT_MODE,
    LOG_LEVEL,
    ALLOW_SELF_SERVER,
    RUNTIME,
    IMAGE,
    EXTRA_CONFIG,
];

/// The variables' values; `None` for an absent variable.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    /// In whole seconds.
    pub(super) timeout: Option<Duration>,
    /// In whole seconds.
    pub(super) max_timeout: Option<Duration>,
    /// Zero means for ever.
    pub(super) idle_time: Option<Duration>,
    pub(super) memory: Option<u64>,
    pub(super) processes: Option<u32>,
    pub(super) cpu_rate: Option<f64>,
    pub(super) user: Option<(u32, u32)>,
    pub(super) output: Option<OutputMode>,
    pub(super) state_dir: Option<PathBuf>,
    pub(super) container: Option<String>,
    pub(super) log: Option<&'static str>,
    pub(super) allow_self: Option<bool>,
    pub(super) servers_config: Option<PathBuf>,
    pub(super) extra_config: Option<bool>,
}

impl Variables {
    pub(crate) fn read(env: &dyn Environment, diagnostics: &mut Diagnostics) -> Variables {
        let mut reader = VariableReader { env, diagnostics };
        let variables = Variables {
            timeout: reader.timeout(TIMEOUT),
            max_timeout: reader.timeout(MAX_TIMEOUT),
            idle_time: reader.value(IDLE_TIMEOUT, values::idle_time),
            memory: reader.value(MEMORY, values::memory),
            processes: reader.value(PIDS, values::processes),
            cpu_rate: reader.value(CPUS, values::cpus),
            user: reader.value(CONTAINER_USER, values::user),
            output: reader.output(),
            state_dir: reader.path(STATE_DIR),
            container: reader.container(),
            log: reader.value(LOG_LEVEL, values::log_level),
            allow_self: reader.value(ALLOW_SELF_SERVER, values::switch),
            servers_config: reader.path(SERVERS_CONFIG),
            extra_config: reader.value(EXTRA_CONFIG, values::switch),
        };
        reader.check_names();
        variables
    }
}

struct VariableReader<'a> {
    env: &'a dyn Environment,
    diagnostics: &'a mut Diagnostics,
}

impl VariableReader<'_> {
    /// The value; an empty variable counts as absent.
    fn text(&mut self, name: &str) -> Option<String> {
        match self.env.var(name) {
            Ok(value) => value
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty()),
            Err(error) => {
                self.diagnostics.mistake(name, error.to_string());
                None
            }
        }
    }

    fn value<T>(&mut self, name: &str, read: fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.text(name)?;
        read(&text)
            .map_err(|message| self.diagnostics.mistake(name, message))
            .ok()
    }

    /// A duration that clients see in seconds.
    fn timeout(&mut self, name: &str) -> Option<Duration> {
        let timeout = self.value(name, values::timeout)?;
        let whole = values::whole_seconds(timeout);
        if whole != timeout {
            let message = format!("is rounded up to {}s: clients count in seconds", whole.as_secs());
            self.diagnostics.warning(name, message);
        }
        Some(whole)
    }

    fn output(&mut self) -> Option<OutputMode> {
        let text = self.text(OUTPUT_MODE)?;
        let (mode, known) = values::output(&text);
        if !known {
            let message =
                format!("`{text}` is not a mode, so results are TOON; write `compact`, `toon` or `json`");
            self.diagnostics.warning(OUTPUT_MODE, message);
        }
        Some(mode)
    }

    fn path(&mut self, name: &str) -> Option<PathBuf> {
        let text = self.text(name)?;
        values::path(&text, self.env)
            .map_err(|message| self.diagnostics.mistake(name, message))
            .ok()
    }

    /// The variables that request a container.
    fn container(&mut self) -> Option<String> {
        let engine = self.value(RUNTIME, values::runtime).flatten();
        let engine = engine.map(|engine| format!("{RUNTIME}={engine}"));
        let image = self.text(IMAGE).map(|image| format!("{IMAGE}={image}"));
        let variables: Vec<String> = engine.into_iter().chain(image).collect();
        (!variables.is_empty()).then(|| variables.join(" and "))
    }

    /// Warns about unknown variables, which are mistyped or of another version.
    fn check_names(&mut self) {
        for name in self.env.names(PREFIX) {
            if KNOWN.contains(&name.as_str()) {
                continue;
            }
            let words = |name: &'static str| name.strip_prefix(PREFIX).unwrap_or(name);
            let near = nearest(name.strip_prefix(PREFIX).unwrap_or(&name), KNOWN.map(words));
            let message = match near {
                Some(near) => format!("codeyard does not use this variable; did you mean {PREFIX}{near}?"),
                None => "codeyard does not use this variable".to_owned(),
            };
            self.diagnostics.warning(&name, message);
        }
    }
}

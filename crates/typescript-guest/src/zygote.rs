//! The zygote: builds an engine once, and becomes a session in each clone.

use std::io;
use std::os::unix::net::UnixStream;

use jail::own_zygote::{self, OwnFiles};
use serde::Deserialize;
use serde_json::json;

use crate::engine::Engine;
use crate::places::Places;
use crate::process_engine::{EngineProgram, ProcessEngine, RESERVED};
use crate::session::{self, QUICKJS};
use guest_session::{Channel, SessionEngine};

#[derive(Debug, Deserialize)]
pub struct ZygoteSettings {
    /// Whether sessions may execute files that they wrote.
    exec: bool,
    /// A separate engine, if the engine is not QuickJS.
    engine: Option<EngineProgram>,
}

/// Returns the engine in every session.
pub fn become_session(settings: &ZygoteSettings) -> Box<dyn SessionEngine> {
    prepare(settings).unwrap_or_else(|error| give_up(&error))
}

/// Reports why the zygote cannot serve, and exits.
pub fn give_up(error: &str) -> ! {
    own_zygote::give_up(&greeting(&json!({ "error": error })))
}

fn prepare(settings: &ZygoteSettings) -> Result<Box<dyn SessionEngine>, String> {
    if let Some(program) = &settings.engine {
        confine(settings, &program.name)?;
        return Ok(Box::new(ProcessEngine::new(program.clone())));
    }
    let engine = Engine::start(Places::default(), None)?;
    rehearse(&engine).map_err(|error| error.to_string())?;
    // Only before the clone: afterwards it would copy every page of the heap.
    engine.collect_garbage();
    confine(settings, QUICKJS)?;
    engine.shared.open();
    Ok(Box::new(engine))
}

/// Confines this process and returns in a session.
fn confine(settings: &ZygoteSettings, interpreter: &str) -> Result<(), String> {
    let own_files = if settings.exec {
        OwnFiles::Executable
    } else {
        OwnFiles::Data
    };
    let has_engine = settings.engine.is_some();
    let reserved = if has_engine { RESERVED } else { 0 };
    let greet = |address_space: u64| {
        greeting(&json!({
            "interpreter": interpreter,
            "address_space": address_space + reserved,
            "has_engine": has_engine,
        }))
    };
    own_zygote::become_session(own_files, greet).map_err(|error| error.to_string())
}

/// Warms the engine. The channel's other end is silent; both ends are closed before the first clone.
fn rehearse(engine: &Engine) -> io::Result<()> {
    let (channel, _other) = UnixStream::pair()?;
    session::rehearse(engine, &Channel::new(channel))
}

fn greeting(greeting: &serde_json::Value) -> Vec<u8> {
    greeting.to_string().into_bytes()
}

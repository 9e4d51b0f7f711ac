//! The process: builds an engine once, and serves a session in each of its clones.

use std::io;
use std::os::unix::net::UnixStream;

use jail::own_zygote::{self, OwnFiles};
use serde::Deserialize;
use serde_json::json;

use crate::channel::Channel;
use crate::engine::Engine;
use crate::process_engine::{EngineProgram, ProcessEngine, RESERVED};
use crate::session::{self, QUICKJS, SessionEngine};

/// The zygote's settings, as JSON.
#[derive(Debug, Deserialize)]
struct ZygoteSettings {
    /// Whether sessions may execute files that they wrote.
    exec: bool,
    /// The engine, if it is not the one in this program.
    engine: Option<EngineProgram>,
}

/// Runs the process, which never returns.
pub fn main(settings: &str) -> ! {
    // A panic becomes an error of the program; its text would tell of the machine that built this.
    std::panic::set_hook(Box::new(|_| {}));
    match prepare(settings) {
        Ok(mut engine) => {
            let channel = Channel::new(own_zygote::channel());
            // The host sees the end of the process; nobody could read a reason.
            let _ = session::serve(&mut *engine, &channel);
        }
        Err(error) => own_zygote::give_up(&greeting(&json!({ "error": error }))),
    }
    jail::session::exit(1)
}

/// Builds the engine and becomes a session.
fn prepare(settings: &str) -> Result<Box<dyn SessionEngine>, String> {
    let settings: ZygoteSettings = serde_json::from_str(settings).map_err(|error| error.to_string())?;
    own_zygote::share_heap();
    if let Some(program) = settings.engine.clone() {
        confine(&settings, &program.name)?;
        return Ok(Box::new(ProcessEngine::new(program)));
    }
    let engine = Engine::start()?;
    rehearse(&engine).map_err(|error| error.to_string())?;
    confine(&settings, QUICKJS)?;
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

/// Warms the engine. The channel's other end says nothing; both are closed before the first clone.
fn rehearse(engine: &Engine) -> io::Result<()> {
    let (channel, _other) = UnixStream::pair()?;
    session::rehearse(engine, &Channel::new(channel))
}

fn greeting(greeting: &serde_json::Value) -> Vec<u8> {
    greeting.to_string().into_bytes()
}

//! The process: builds an engine once, and serves a session in each of its clones.

use std::io;
use std::os::unix::net::UnixStream;

use jail::own_zygote::{self, OwnFiles};
use serde::Deserialize;
use serde_json::json;

use crate::channel::Channel;
use crate::engine::Engine;
use crate::session::{self, INTERPRETER};

/// The zygote's settings, as JSON.
#[derive(Debug, Deserialize)]
struct ZygoteSettings {
    /// Whether sessions may execute files that they wrote.
    exec: bool,
}

/// Runs the process, which never returns.
pub fn main(settings: &str) -> ! {
    // A panic becomes an error of the program; its text would tell of the machine that built this.
    std::panic::set_hook(Box::new(|_| {}));
    match prepare(settings) {
        Ok(engine) => {
            let channel = Channel::new(own_zygote::channel());
            // The host sees the end of the process; nobody could read a reason.
            let _ = session::serve(&engine, &channel);
        }
        Err(error) => own_zygote::give_up(&greeting(&json!({ "error": error }))),
    }
    jail::session::exit(1)
}

/// Builds the engine and becomes a session.
fn prepare(settings: &str) -> Result<Engine, String> {
    let settings: ZygoteSettings = serde_json::from_str(settings).map_err(|error| error.to_string())?;
    own_zygote::share_heap();
    let engine = Engine::start()?;
    rehearse(&engine).map_err(|error| error.to_string())?;
    let own_files = if settings.exec {
        OwnFiles::Executable
    } else {
        OwnFiles::Data
    };
    let greet =
        |address_space| greeting(&json!({"interpreter": INTERPRETER, "address_space": address_space}));
    own_zygote::become_session(own_files, greet).map_err(|error| error.to_string())?;
    Ok(engine)
}

/// Warms the engine. The channel's other end says nothing; both are closed before the first clone.
fn rehearse(engine: &Engine) -> io::Result<()> {
    let (channel, _other) = UnixStream::pair()?;
    session::rehearse(engine, &Channel::new(channel))
}

fn greeting(greeting: &serde_json::Value) -> Vec<u8> {
    greeting.to_string().into_bytes()
}

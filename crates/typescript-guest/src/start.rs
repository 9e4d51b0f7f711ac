//! The start of the process, as the launcher or the keeper executes it.

use jail::own_zygote;
use serde::Deserialize;

use crate::alone::{self, AloneSettings};
use crate::zygote::{self, ZygoteSettings};
use guest_session::Channel;

/// The settings of the process, as JSON.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StartSettings {
    Zygote(ZygoteSettings),
    Alone(AloneSettings),
}

/// Runs the process named by the arguments of this program, and never returns; does nothing without such arguments.
pub fn dispatch() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|first| first == guest::TYPESCRIPT_ARGUMENT)
    {
        let settings = arguments.next().unwrap_or_default();
        main(&settings.to_string_lossy());
    }
}

/// Runs the process; never returns.
fn main(settings: &str) -> ! {
    // A panic becomes an error of the program; its message would reveal paths of the build machine.
    std::panic::set_hook(Box::new(|_| {}));
    own_zygote::share_heap();
    let engine = match serde_json::from_str(settings) {
        Ok(StartSettings::Zygote(settings)) => Some(zygote::become_session(&settings)),
        Ok(StartSettings::Alone(settings)) => alone::prepare(settings).ok(),
        Err(error) => zygote::give_up(&error.to_string()),
    };
    if let Some(mut engine) = engine {
        let channel = Channel::new(own_zygote::channel());
        // The host notices the end of the process and needs no reason.
        let _ = guest_session::serve(&mut *engine, &channel);
    }
    jail::session::exit(1)
}

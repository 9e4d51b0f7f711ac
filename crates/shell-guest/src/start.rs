//! The start of the process: as the zygote, a session, or a program of the shell.

use guest_session::Channel;
use jail::own_zygote::{self, OwnFiles};
use serde::Deserialize;
use serde_json::json;

use crate::session::{Places, ShellSession};
use crate::settings::ShellSettings;
use crate::{command, jq, rg};

/// Files that bash reads first: name and text.
pub const FILES: [(&str, &str); 2] = [
    ("program", include_str!("../bash/program")),
    ("session.bash", include_str!("../bash/session.bash")),
];

/// Names of the links below [`guest::SHELL_PROGRAMS`], by which the shell executes this program.
pub const PROGRAMS: [&str; 3] = ["mcp", "jq", "rg"];

/// Settings of the process, as JSON.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StartSettings {
    /// Every clone is a session.
    Zygote {
        /// Whether sessions may execute files that they wrote.
        exec: bool,
        shell: ShellSettings,
    },
    /// A session without namespaces.
    Alone {
        /// The real directory of each documented path.
        places: Places,
        shell: ShellSettings,
    },
}

/// Runs the process named by the arguments or its own path, and never returns; otherwise does nothing.
pub fn dispatch() {
    let mut arguments = std::env::args_os();
    arguments.next();
    if let Some(name) = executed_as() {
        let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
        jail::session::exit(execute(name, &arguments.collect::<Vec<_>>()));
    }
    if arguments
        .next()
        .is_some_and(|first| first == guest::SHELL_ARGUMENT)
    {
        let settings = arguments.next().unwrap_or_default();
        main(&settings.to_string_lossy());
    }
}

/// Runs the program of this name; returns its exit status.
fn execute(name: &str, arguments: &[String]) -> i32 {
    match name {
        "jq" => jq::run(arguments),
        "rg" => rg::run(arguments),
        _ => command::run(arguments),
    }
}

/// The name of the link by which the shell executed this program.
fn executed_as() -> Option<&'static str> {
    let path = own_zygote::executed_path()?;
    if !path.parent()?.ends_with(guest::SHELL_PROGRAMS) {
        return None;
    }
    let executed = path.file_name()?.to_str()?;
    PROGRAMS.into_iter().find(|name| *name == executed)
}

/// Runs the process; never returns.
fn main(settings: &str) -> ! {
    // A panic ends the session; its message would reveal paths of the build machine.
    std::panic::set_hook(Box::new(|_| {}));
    own_zygote::share_heap();
    let session = match serde_json::from_str(settings) {
        Ok(StartSettings::Zygote { exec: true, shell }) => become_session(OwnFiles::Executable, shell),
        Ok(StartSettings::Zygote { exec: false, shell }) => become_session(OwnFiles::Data, shell),
        Ok(StartSettings::Alone { places, shell }) => {
            own_zygote::survive_large_files();
            Ok(ShellSession::new(shell, places))
        }
        Err(error) => Err(error.to_string()),
    };
    match session {
        Ok(mut session) => {
            let channel = Channel::new(own_zygote::channel());
            // The host notices the end of the process and needs no reason.
            let _ = guest_session::serve(&mut session, &channel);
        }
        Err(error) => own_zygote::give_up(json!({ "error": error }).to_string().as_bytes()),
    }
    jail::session::exit(1)
}

/// Confines this process; returns in each session.
fn become_session(own_files: OwnFiles, shell: ShellSettings) -> Result<ShellSession, String> {
    let greet = |address_space: u64| {
        let greeting = json!({
            "interpreter": format!("bash {}", shell.version),
            "address_space": address_space,
            "has_engine": true,
        });
        greeting.to_string().into_bytes()
    };
    own_zygote::become_session(own_files, greet).map_err(|error| error.to_string())?;
    Ok(ShellSession::new(shell, Places::default()))
}

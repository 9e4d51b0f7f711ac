//! The first process of a session, whose programs run in bash.

use std::collections::BTreeMap;
use std::io;

use guest_session::{Channel, Limits, RunFrame, SessionEngine};
use rustix::process::Pid;
use serde::Deserialize;

use crate::requests::Requests;
use crate::run;
use crate::settings::ShellSettings;
use crate::shell::{Shell, Standby};

/// Initial directory of programs.
pub const WORKSPACE: &str = "/workspace";
/// Copies of long output.
pub const RESULTS: &str = "/results";
/// Temporary files, shared by the sessions of one name.
pub const SCRATCH: &str = "/scratch";
/// The session's own file system.
const TEMPORARY: &str = "/tmp";

/// Warms a session's first program, including the copy of a shell. Leaves nothing that a program could see.
const REHEARSAL: &str = "(:)";

/// The real directories of documented paths, where they differ.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Places(BTreeMap<String, String>);

impl Places {
    /// The real directory of a documented path.
    pub fn actual<'a>(&'a self, path: &'a str) -> &'a str {
        self.0.get(path).map_or(path, String::as_str)
    }
}

/// One session: its shell, and the requests of its programs.
pub struct ShellSession {
    pub settings: ShellSettings,
    pub places: Places,
    pub shell: Option<Shell>,
    pub requests: Requests,
    interpreter: String,
    /// Becomes `Copy` with the first program that may change how the shell ends, by a function or a trap.
    pub standby: Standby,
    /// The shell whose `RANDOM` a recorded run has seeded. A copy that takes over has another.
    pub seeded: Option<Pid>,
    /// Whether a program has redefined `mcp`.
    pub has_other_mcp: bool,
}

impl ShellSession {
    /// A session whose shell is not started yet.
    pub fn new(settings: ShellSettings, places: Places) -> Self {
        Self {
            interpreter: format!("bash {}", settings.version),
            requests: Requests::new(places.actual(TEMPORARY)),
            settings,
            places,
            shell: None,
            standby: Standby::None,
            seeded: None,
            has_other_mcp: false,
        }
    }

    /// The idle shell. Starts one in the workspace if there is none.
    ///
    /// # Errors
    /// If bash does not start.
    pub fn shell(&mut self, channel: &Channel) -> io::Result<&mut Shell> {
        let mut shell = match self.shell.take() {
            Some(shell) => shell,
            None => {
                let mut shell = self.start(channel)?;
                shell.open(self.places.actual(WORKSPACE))?;
                shell
            }
        };
        shell.until_ready()?;
        Ok(self.shell.insert(shell))
    }

    fn start(&self, channel: &Channel) -> io::Result<Shell> {
        Shell::start(&self.settings, &self.requests, channel.as_fd())
    }
}

impl SessionEngine for ShellSession {
    fn interpreter(&self) -> &str {
        &self.interpreter
    }

    fn begin(&mut self, channel: &Channel) -> io::Result<()> {
        self.shell = Some(self.start(channel)?);
        Ok(())
    }

    fn warm(&mut self, channel: &Channel) -> io::Result<()> {
        let rehearsal = RunFrame::of(0, REHEARSAL.to_owned());
        run::run(self, channel, &rehearsal, Limits::UNBOUNDED).map(drop)
    }

    fn open(&mut self, _channel: &Channel) -> io::Result<()> {
        match &mut self.shell {
            Some(shell) => shell.open(self.places.actual(WORKSPACE)),
            None => Ok(()),
        }
    }

    fn run(&mut self, channel: &Channel, frame: &RunFrame, limits: Limits) -> io::Result<Vec<u8>> {
        run::run(self, channel, frame, limits)
    }
}

//! Node or Deno: an engine in its own process.
//!
//! The session's first process speaks to the host for it.
//!
//! ```text
//! host ◄─ frames ─► this process (reads programs, has them judged) ◄─ lines of JSON ─► Node or Deno
//! ```

mod link;
mod modules;
mod program;
mod run;
mod tool_modules;

use std::cell::RefCell;
use std::io;

use typescript::Bound;

pub use modules::files;
pub use program::{EngineProgram, RESERVED};

use crate::places::WORKSPACE;
use crate::sources::Sources;
use guest_session::SessionEngine;
use guest_session::{Channel, Limits, RunFrame};
use link::Link;

/// The engine of one session.
pub struct ProcessEngine {
    program: EngineProgram,
    link: Option<Link>,
    sources: RefCell<Sources>,
    /// Names that programs have bound at their top level.
    bound: Bound,
    /// Whether the modules of tools are written, for an engine that loads modules itself.
    has_tool_modules: bool,
}

impl ProcessEngine {
    /// An engine that is not started yet.
    pub fn new(program: EngineProgram) -> Self {
        Self {
            program,
            link: None,
            sources: RefCell::default(),
            bound: Bound::new(),
            has_tool_modules: false,
        }
    }

    fn started(&mut self, channel: &Channel) -> io::Result<&mut Link> {
        if self.link.is_none() {
            self.link = Some(Link::start(&self.program, channel.as_fd())?);
        }
        self.link.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl SessionEngine for ProcessEngine {
    fn interpreter(&self) -> &str {
        &self.program.name
    }

    fn warm(&mut self, channel: &Channel) -> io::Result<()> {
        self.started(channel)?.until_ready()
    }

    fn open(&mut self, channel: &Channel) -> io::Result<()> {
        rustix::process::chdir(WORKSPACE)?;
        let link = self.started(channel)?;
        link.until_ready()?;
        link.enter_workspace();
        link.flush()
    }

    fn run(&mut self, channel: &Channel, frame: &RunFrame, limits: Limits) -> io::Result<Vec<u8>> {
        run::run(self, channel, frame, limits)
    }
}

//! Codeyard as a contender: the program over pipes, and the crates in this process.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use sandbox::Guest;
use serde_json::json;
use test_support::{Codeyard, ServerDefinition};
use tokio::runtime::Runtime;

use super::contender::{Class, Contender, Entry, Operation, RivalDirectory};
use crate::guests::{Guests, PLAIN, execute};
use crate::raw::Raw;
use crate::setting::Setting;

const CALLS: u32 = 40;
/// Time for the zygotes to start after the first answer.
const WARM: Duration = Duration::from_secs(2);

pub(super) fn entries(setting: &Setting, rivals: &RivalDirectory) -> Vec<Entry> {
    let entry = |name: &str, class, contender| Entry {
        name: name.to_owned(),
        class,
        contender,
    };
    vec![
        entry("codeyard", Class::Server, Program::start(setting, rivals, PYTHON)),
        entry(
            "codeyard, TypeScript",
            Class::Server,
            Program::start(setting, rivals, TYPESCRIPT),
        ),
        entry("codeyard, library alone", Class::Library, Library::start(setting)),
    ]
}

/// The programs of one language.
#[derive(Clone, Copy)]
struct Programs {
    language: &'static str,
    first: &'static str,
    /// Calls the tool [`CALLS`] times, one after another.
    calls: &'static str,
}

const PYTHON: Programs = Programs {
    language: "python",
    first: PLAIN,
    calls: "for n in range(40):\n    await tools.stub.echo(message='x')",
};

const TYPESCRIPT: Programs = Programs {
    language: "typescript",
    first: "console.log(1 + 1)",
    calls: "for (let n = 0; n < 40; n++) await tools.stub.echo({ message: 'x' })",
};

/// `codeyard mcp` with one upstream server.
struct Program {
    _directories: Codeyard,
    client: Raw,
    programs: Programs,
}

impl Program {
    fn start(setting: &Setting, rivals: &RivalDirectory, programs: Programs) -> Result<Box<dyn Contender>> {
        let (command, args) = rivals.upstream.split_first().context("an upstream server")?;
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let stub = ServerDefinition::new(command, &args);
        let directories = setting.codeyard()?.server("stub", &stub);
        let client = Raw::open(&mut directories.command(["mcp"])?.into_std())?;
        let mut contender = Self {
            _directories: directories,
            client,
            programs,
        };
        contender.sample(Operation::Call)?;
        std::thread::sleep(WARM);
        Ok(Box::new(contender))
    }

    fn live(&mut self, code: &str) -> Result<Duration> {
        let arguments = json!({"code": code, "language": self.programs.language});
        crate::parts::execute(&mut self.client, &arguments)
    }

    fn in_new_session(&mut self) -> Result<Duration> {
        let Programs { language, first, .. } = self.programs;
        let arguments = json!({"code": first, "language": language, "session": "new"});
        crate::parts::execute(&mut self.client, &arguments)
    }
}

impl Contender for Program {
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>> {
        Ok(Some(match operation {
            Operation::Start => self.in_new_session()?,
            Operation::Live => self.live("1 + 1")?,
            Operation::Call => {
                let full = self.live(self.programs.calls)?;
                full.saturating_sub(self.live("1 + 1")?) / CALLS
            }
        }))
    }
}

/// The process backend with a pool, without session table, catalog and protocol.
struct Library {
    runtime: Runtime,
    guests: Guests,
    live: Box<dyn Guest>,
}

impl Library {
    fn start(setting: &Setting) -> Result<Box<dyn Contender>> {
        let runtime = Runtime::new()?;
        let guests = Guests::with_pool(&setting.data, None)?;
        let live = runtime.block_on(async {
            guests.warm(&[]).await?;
            guests.launch(PLAIN, &[]).await
        })?;
        Ok(Box::new(Self {
            runtime,
            guests,
            live,
        }))
    }

    fn run(&mut self, code: &str) -> Result<Duration> {
        let started = Instant::now();
        self.runtime.block_on(execute(self.live.as_mut(), code))?;
        Ok(started.elapsed())
    }
}

impl Contender for Library {
    fn sample(&mut self, operation: Operation) -> Result<Option<Duration>> {
        Ok(Some(match operation {
            Operation::Start => self.runtime.block_on(self.guests.session(PLAIN, &[]))?,
            Operation::Live => self.run("1 + 1")?,
            Operation::Call => {
                let program = format!("for n in range({CALLS}):\n    await tools.bench.echo(n=n)");
                self.run(&program)?.saturating_sub(self.run("1 + 1")?) / CALLS
            }
        }))
    }
}

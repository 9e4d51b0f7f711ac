//! What a program's text shows for certain: the tools it calls, the fields of results it reads, and the names
//! it leaves bound.

mod arguments;
mod asynchronous;
mod bindings;
mod builtins;
mod call;
mod defined;
mod depth;
mod exceptions;
mod expression;
mod facts;
mod guarded;
mod imports;
mod lines;
mod reading;
mod scope;
mod statement;
mod value;
mod walker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use crate::names::Names;

pub use depth::Depth;
pub(crate) use reading::{Call, Given, Import, Mistake, MistakeKind, Use};
pub(crate) use value::{Form, MAX_TEXT, Meaning};

/// Longest program that is read, in bytes; longer ones hold data, not calls.
const MAX_SOURCE: usize = 256 * 1024;

/// Most steps of a light program.
const LIGHT: usize = 5_000;

/// Up to this depth, a program is read on the caller's thread: a thread costs more than reading most
/// programs.
const SHALLOW: usize = 64;

/// Stack of the thread for deeper programs, in bytes: many times the need of the deepest one.
const STACK: usize = 32 * 1024 * 1024;

/// Reason for a program that is too long, too deep or too intricate.
pub(crate) const LARGE: &str = "the program is too large to be checked";

/// Reason for a program that may bind any name.
const DYNAMIC: &str = "the program may change what any name stands for";

/// Reason for a program after one that may have bound any name.
const AFTER_ANYTHING: &str = "an earlier run of the session may have changed what any name stands for";

/// What a program's text shows.
#[derive(Debug, Default)]
pub struct Program {
    pub(crate) calls: Vec<Call>,
    pub(crate) uses: Vec<Use>,
    pub(crate) mistakes: Vec<Mistake>,
    pub(crate) imports: Vec<Import>,
    left: Names,
    /// Why the program is not checked, if so.
    unchecked: Option<&'static str>,
    /// Steps taken to read it.
    steps: usize,
}

// === impl Program ===

impl Program {
    /// Reads a program that runs after others that left `names` bound. A program that does not parse, is very
    /// long or very deep counts as one without calls; Python reports its errors.
    pub fn read(source: &str, names: &Names) -> Program {
        let mut program = Program::followed(source, names);
        program.unchecked = program.unchecked.filter(|_| may_call(source));
        program
    }

    fn followed(source: &str, names: &Names) -> Program {
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        if source.len() > MAX_SOURCE {
            return Program::of_anything(LARGE);
        }
        let read = match Depth::of(source) {
            // A panic of the parser ends only its own work, as it would on another thread.
            Depth::Bounded(..=SHALLOW) => catch_unwind(AssertUnwindSafe(|| read(source, names))).ok(),
            Depth::Bounded(_) => thread::scope(|scope| {
                let reader = thread::Builder::new().stack_size(STACK);
                let reading = reader.spawn_scoped(scope, || read(source, names)).ok()?;
                reading.join().ok()
            }),
            Depth::Deeper => None,
            // None of the program runs.
            Depth::Broken => return Program::default(),
        };
        read.unwrap_or_else(|| Program::of_anything(LARGE))
    }

    /// Why the program is not checked, if it may use tools.
    pub fn unchecked(&self) -> Option<&'static str> {
        self.unchecked
    }

    /// Whether checking takes microseconds, once all its tools are known and their schemas compiled.
    pub fn is_light(&self) -> bool {
        self.steps <= LIGHT
    }

    /// The names that the program leaves bound.
    pub fn left(&self) -> &Names {
        &self.left
    }

    /// Servers and tools called, as written; the server is empty where only the tool is named.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.calls
            .iter()
            .map(|call| (call.server.as_str(), call.tool.as_str()))
    }

    /// Whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.mistakes.is_empty()
    }

    /// A program of which nothing is known.
    pub(crate) fn unreadable(why: &'static str) -> Program {
        Program {
            unchecked: Some(why),
            ..Program::default()
        }
    }

    fn of_anything(why: &'static str) -> Program {
        let mut left = Names::default();
        left.bind_anything();
        Program {
            left,
            unchecked: Some(why),
            ..Program::default()
        }
    }
}

/// Whether the text mentions a tree of tools.
fn may_call(source: &str) -> bool {
    ["tools", "servers", "mcp", "runtime", "__toolcall__"]
        .iter()
        .any(|name| source.contains(name))
}

fn read(source: &str, names: &Names) -> Program {
    match ruff_python_parser::parse_module(source) {
        Ok(parsed) => walker::walk(source, &parsed.syntax().body, names),
        // None of the program runs.
        Err(_) => Program::default(),
    }
}

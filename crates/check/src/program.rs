//! A program as far as its text tells for certain: the tools that it calls, what it reads of results, what it leaves bound.

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

/// Longest program that is read, in bytes; what is longer holds data and not calls.
const MAX_SOURCE: usize = 256 * 1024;

/// Steps of a program that is light.
const LIGHT: usize = 5_000;

/// Depth up to which a program is read where it is: a thread of its own costs more than reading most programs.
const SHALLOW: usize = 64;

/// Stack of the thread that reads a deeper one, in bytes: many times what the deepest one takes.
const STACK: usize = 32 * 1024 * 1024;

/// Why nothing is known of a program that is too long, too deep or too intricate.
const LARGE: &str = "the program is too large to be checked";

/// Why nothing is known of a program that may bind any name.
const DYNAMIC: &str = "the program may change what any name stands for";

/// Why nothing is known of a program that follows such a one.
const AFTER_ANYTHING: &str = "an earlier run of the session may have changed what any name stands for";

/// What a program's text tells.
#[derive(Debug, Default)]
pub struct Program {
    pub(crate) calls: Vec<Call>,
    pub(crate) uses: Vec<Use>,
    pub(crate) mistakes: Vec<Mistake>,
    pub(crate) imports: Vec<Import>,
    left: Names,
    /// Why nothing of it is known, where that is so.
    unchecked: Option<&'static str>,
    /// Steps that it took to follow it.
    steps: usize,
}

// === impl Program ===

impl Program {
    /// Reads a program that runs after others which have left `names` bound. One that does not parse, is very long or
    /// very deep is read as one that calls nothing; Python says what is wrong with it.
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
            // A fault of the parser ends nothing but its own work, as it would on another thread.
            Depth::Bounded(..=SHALLOW) => catch_unwind(AssertUnwindSafe(|| read(source, names))).ok(),
            Depth::Bounded(_) => thread::scope(|scope| {
                let reader = thread::Builder::new().stack_size(STACK);
                let reading = reader.spawn_scoped(scope, || read(source, names)).ok()?;
                reading.join().ok()
            }),
            Depth::Deeper => None,
            // Nothing of it is executed.
            Depth::Broken => return Program::default(),
        };
        read.unwrap_or_else(|| Program::of_anything(LARGE))
    }

    /// Why the program is not checked, where it may use tools and is not.
    pub fn unchecked(&self) -> Option<&'static str> {
        self.unchecked
    }

    /// Whether it is held against the tools within microseconds, where all its tools are known and their schemas compiled.
    pub fn is_light(&self) -> bool {
        self.steps <= LIGHT
    }

    /// What it leaves bound.
    pub fn left(&self) -> &Names {
        &self.left
    }

    /// The servers and tools that it calls, as they are written; the server is empty where only the tool is named.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &str)> {
        self.calls
            .iter()
            .map(|call| (call.server.as_str(), call.tool.as_str()))
    }

    /// Whether there is nothing to hold against the tools there are.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.mistakes.is_empty()
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

/// Whether a program names a tree of tools somewhere.
fn may_call(source: &str) -> bool {
    ["tools", "servers", "mcp", "runtime", "__toolcall__"]
        .iter()
        .any(|name| source.contains(name))
}

fn read(source: &str, names: &Names) -> Program {
    match ruff_python_parser::parse_module(source) {
        Ok(parsed) => walker::walk(source, &parsed.syntax().body, names),
        // Nothing of it is executed.
        Err(_) => Program::default(),
    }
}

//! Frames between host and guest: a little-endian `u32` length, then that many bytes of JSON.
//!
//! The guest's side is `python/codeyard/channel.py`. Hostile code can write the guest's memory, so
//! the host treats every frame after `ready` as untrusted.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use types::{Appearance, Content, HostCallError, Kept, RunInputs, WrittenFile};

mod incoming;
mod measure;
mod parse;

pub use incoming::{Body, HEADER, Incoming, NoFrame};
pub use measure::{Measure, measure};

/// Version of the frames; both sides refuse any other.
pub const VERSION: u32 = 1;

/// Largest body that the guest accepts, in bytes: the largest tool result.
pub const MAX_FRAME: usize = 96 * 1024 * 1024;

/// Largest body that the host accepts, in bytes; a longer one ends the session.
pub const MAX_GUEST_FRAME: usize = 32 * 1024 * 1024;

/// From host to guest.
#[derive(Debug, Serialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum HostFrame<'a> {
    /// Before `open`: runs programs that warm the process for a later session.
    Warm,
    /// First frame of a session.
    Open {
        /// [`VERSION`].
        v: u32,
        /// Settings of the session.
        session: SessionSettings<'a>,
    },
    /// Runs a program; one at a time.
    Run {
        /// Echoed in `done`.
        id: u64,
        /// The program.
        code: &'a str,
        /// Absent for those of `open`.
        #[serde(skip_serializing_if = "Option::is_none")]
        limits: Option<RunLimits>,
        /// The surface with its data; absent on `code`.
        #[serde(skip_serializing_if = "Option::is_none")]
        surface: Option<&'a Appearance>,
        /// All names that the program may begin a call with; absent where the guest has to ask.
        #[serde(skip_serializing_if = "Option::is_none")]
        names: Option<Vec<String>>,
        /// Clock and randomness of a run that is recorded or repeated; absent in others.
        #[serde(skip_serializing_if = "Option::is_none")]
        inputs: Option<&'a RunInputs>,
    },
    /// Answers a `call`.
    Reply {
        /// The call's id.
        id: u64,
        /// The value of a successful call.
        #[serde(skip_serializing_if = "Option::is_none")]
        ok: Option<&'a RawValue>,
        /// The error of a failed call.
        #[serde(skip_serializing_if = "Option::is_none")]
        err: Option<&'a HostCallError>,
    },
}

/// Settings of a session, sent once.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SessionSettings<'a> {
    /// Visible to programs.
    pub session: &'a str,
    /// Most bytes of results kept in the session, all together.
    pub kept: u64,
    /// Host paths of session directories, by their paths in the session; empty where programs are not told.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub places: &'a [(String, String)],
    /// For runs without limits of their own.
    #[serde(flatten)]
    pub limits: RunLimits,
}

/// Limits of a run that the guest enforces.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RunLimits {
    /// Bytes of an output stream that the host keeps; beyond them the guest writes a full copy to `/results`.
    pub output: u64,
    /// Most concurrent host calls; the guest queues more.
    pub concurrent_calls: u32,
    /// Most bytes of a result's JSON; a larger result stays in the guest. Absent where every result is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<u64>,
}

/// From guest to host.
#[derive(Debug)]
pub enum GuestFrame {
    /// A step of the jail failed; the session library sends this in place of `ready`. No user code has run.
    Jail {
        /// Number of the step, see `jail::session`.
        step: u32,
        /// The system's `errno`.
        errno: i32,
    },
    /// The guest is confined and waits for `open`.
    Ready {
        /// [`VERSION`].
        v: u32,
        /// Name and version of the interpreter, such as `CPython 3.11.2`.
        interpreter: String,
    },
    /// Answers `warm`.
    Warmed,
    /// A host call of the program.
    Call {
        /// Chosen by the guest; unique in the session during the call.
        id: u64,
        /// Name of the host call.
        name: String,
        /// Its arguments.
        args: Args,
    },
    /// The run is over.
    Done(Box<Done>),
}

/// Arguments of a host call, kept as text until the call begins.
#[derive(Debug)]
pub struct Args {
    /// Valid JSON.
    pub text: Box<RawValue>,
    /// The cost of a tree of the arguments.
    pub measure: Measure,
}

/// The result of a run.
#[derive(Debug, Default)]
pub enum ResultText {
    /// The program returned no value.
    #[default]
    Absent,
    /// The result, `null` included.
    Value(Value),
    /// Too many values for its length; the tree was not built.
    TooLarge(Measure),
}

/// The end of a run, as the guest reports it.
#[derive(Debug)]
pub struct Done {
    /// The run's id.
    pub id: u64,
    /// What the program returned.
    pub result: ResultText,
    /// The result stays in the guest, beside the part that is sent, if any.
    pub kept: Option<Kept>,
    /// Absent if the program completed.
    pub error: Option<DoneError>,
    /// Content beside text.
    pub content: Vec<Content>,
    /// Content beside text in tools' results that the program did not use, one line a result.
    pub unused: Vec<String>,
    /// Files made or changed by this run.
    pub files: Vec<WrittenFile>,
    /// The streams (`stdout`, `stderr`) whose whole text is in a file.
    pub copied: Vec<String>,
    /// Bytes of the session's files.
    pub disk: Option<u64>,
    /// The process, by its number in the session, that runs the next program; absent where the first process does.
    pub engine: Option<u32>,
    /// Times and random bytes that a recorded program read: for a later guest, in the guest's own form.
    pub reads: Option<Box<RawValue>>,
}

/// An uncaught exception or exit status.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoneError {
    /// Class name, `SystemExit`, `SyntaxError`, `KeyboardInterrupt`, `UnawaitedCall`.
    pub kind: String,
    /// One line.
    pub message: String,
    /// The user's lines of the traceback.
    #[serde(default)]
    pub traceback: String,
    /// The limit behind the error (`memory` for an uncaught MemoryError, `disk` for ENOSPC), see `types::Limit`.
    #[serde(default)]
    pub limit: Option<String>,
    /// Status of a `SystemExit`.
    #[serde(default)]
    pub exit: Option<u8>,
}

//! Frames between host and guest: a little-endian `u32` length, then that many bytes of JSON.
//!
//! The guest's side is `python/codeyard/channel.py`. A guest shares memory with hostile code, so the host
//! treats every frame after `ready` as untrusted input.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use types::{BridgeServers, Content, HostCallError, Kept, WrittenFile};

mod incoming;
mod measure;
mod parse;

pub use incoming::{Body, HEADER, Incoming, NoFrame};
pub use measure::{Measure, measure};

/// Version of the frames; both sides refuse another one.
pub const VERSION: u32 = 1;

/// Largest body in bytes that the guest accepts: the largest tool result.
pub const MAX_FRAME: usize = 96 * 1024 * 1024;

/// Largest body in bytes that the host accepts; a longer one ends the session.
pub const MAX_GUEST_FRAME: usize = 32 * 1024 * 1024;

/// From host to guest.
#[derive(Debug, Serialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum HostFrame<'a> {
    /// Before `open`: run what warms the process, for a session that is not there yet.
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
        /// Where they are not those of `open`.
        #[serde(skip_serializing_if = "Option::is_none")]
        limits: Option<RunLimits>,
        /// The servers of the surface `bridge`; absent on `code`.
        #[serde(skip_serializing_if = "Option::is_none")]
        surface: Option<&'a BridgeServers>,
        /// All names that it may begin a call with; absent where it has to ask.
        #[serde(skip_serializing_if = "Option::is_none")]
        names: Option<Vec<String>>,
    },
    /// Answers a `call`.
    Reply {
        /// The call's id.
        id: u64,
        /// The value, if the call succeeded.
        #[serde(skip_serializing_if = "Option::is_none")]
        ok: Option<&'a RawValue>,
        /// The failure otherwise.
        #[serde(skip_serializing_if = "Option::is_none")]
        err: Option<&'a HostCallError>,
    },
}

/// Settings of a session, sent once.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SessionSettings<'a> {
    /// Name that the program may see.
    pub session: &'a str,
    /// Bytes of results that stay in the session, all together.
    pub kept: u64,
    /// Where directories of the session are on the host, by their paths in the session; empty where programs are not told.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub places: &'a [(String, String)],
    /// Those of every run that has none of its own.
    #[serde(flatten)]
    pub limits: RunLimits,
}

/// The limits of a run that the guest keeps.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RunLimits {
    /// Bytes of one output stream that the host keeps; the guest writes the full copy beyond it to `/results`.
    pub output: u64,
    /// Host calls that may be under way at once; the guest queues more.
    pub concurrent_calls: u32,
    /// A result of more bytes of JSON stays in the guest; absent where every result is sent, whatever it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<u64>,
}

/// From guest to host.
#[derive(Debug)]
pub enum GuestFrame {
    /// A step of the jail failed; sent by the session library instead of `ready`. No user code has run.
    Jail {
        /// Number of the step, see `jail::session`.
        step: u32,
        /// The system's error number.
        errno: i32,
    },
    /// The guest is confined and waits for `open`.
    Ready {
        /// [`VERSION`].
        v: u32,
        /// Version of the interpreter, as in `3.11.2`.
        python: String,
    },
    /// What `warm` asked for is done.
    Warmed,
    /// The program asks the host.
    Call {
        /// Chosen by the guest, unique within the session while the call is under way.
        id: u64,
        /// Name of the host call.
        name: String,
        /// Its arguments.
        args: Args,
    },
    /// The run is over.
    Done(Box<Done>),
}

/// Arguments of a host call, as text until the call begins.
#[derive(Debug)]
pub struct Args {
    /// Valid JSON.
    pub text: Box<RawValue>,
    /// What it would cost as a tree.
    pub measure: Measure,
}

/// The result of a run.
#[derive(Debug, Default)]
pub enum ResultText {
    /// The program gave none.
    #[default]
    Absent,
    /// The result, `null` included.
    Value(Value),
    /// It has too many values for its length; they were not built.
    TooLarge(Measure),
}

/// How a run ended, in the guest's own words.
#[derive(Debug)]
pub struct Done {
    /// The run's id.
    pub id: u64,
    /// What the program returned.
    pub result: ResultText,
    /// The result stays in the guest, beside what is sent of it if anything is.
    pub kept: Option<Kept>,
    /// Absent if the program completed.
    pub error: Option<DoneError>,
    /// What is shown beside text.
    pub content: Vec<Content>,
    /// What tools gave beside text and the program did not use, a line a result.
    pub unused: Vec<String>,
    /// Files made or changed by this run.
    pub files: Vec<WrittenFile>,
    /// The streams, `stdout` or `stderr`, of which all that the program printed is in a file.
    pub copied: Vec<String>,
    /// Bytes held by the session's files.
    pub disk: Option<u64>,
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
    /// Name of the limit behind it (`memory` for an uncaught MemoryError, `disk` for ENOSPC), see `types::Limit`.
    #[serde(default)]
    pub limit: Option<String>,
    /// Status of a `SystemExit`.
    #[serde(default)]
    pub exit: Option<u8>,
}

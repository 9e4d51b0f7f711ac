//! The composition root: builds the parts from their configuration, joins them, and runs until drained.
//!
//! It makes no decisions: `policy` decides, `broker` calls, `session` runs, `surfaces` answer,
//! `gateway` carries.

mod api;
pub mod attack;
mod bridge;
mod call_error;
mod caller;
mod calls;
mod check;
mod cluster;
pub mod control;
mod counter;
mod cpu_quota;
mod declarations;
pub mod doctor;
mod downstreams;
mod execution_metrics;
mod expose;
mod fair_turns;
mod files;
mod guest_files;
mod host;
mod key_rotation;
mod local_log;
mod meta_tools;
mod programs;
mod receipts;
mod replays;
mod run_admission;
mod run_counts;
mod run_recordings;
mod run_traces;
mod serve;
mod served;
pub mod servers;
mod service;
mod signals;
mod span_outlet;
mod standard;
mod stored_windows;
mod tasks;
mod tools;
mod user_logins;
mod virtual_host;

use std::ffi::OsString;
use std::path::Path;

pub use api::{CHANGES_SEEN_AFTER, GatewayApi, GatewayTables, SinkStartError, audit_view};
pub use call_error::CallError;
pub use caller::Caller;
pub use calls::{Printed, RecordedCall};
pub use cluster::{Cluster, ClusterError};
pub use declarations::{Declarations, Wrappers};
pub use expose::NotExposed;
pub use host::{Host, StartError};
pub use key_rotation::{KeysAfter, RotatedKeys, RotationError, place_of_keys, rotate_keys};
pub use programs::{NotRun, Program, ProgramResult};
pub use replays::{RepeatedRun, ReplayMode};
pub use run_recordings::{KeyDoubt, KeysError, ReplayError};
pub use serve::{BridgeSurface, ServeError, Surface};
pub use signals::{Ending, Signals};
pub use span_outlet::SpanOutlet;
pub use tasks::{TaskReport, TaskRequest, TaskResult, TaskStep};
pub use tools::{Finding, Listing, NamedServer, ToolLine, ToolView};
pub use user_logins::revoke_login;

// A release build must never start guests without confinement; benchmarks link the backend without `server`.
const _: () = assert!(
    cfg!(debug_assertions) || !jail::HAS_UNCONFINED_GUESTS,
    "the feature `unconfined-guests` is for benchmarks: build `codeyard` without it"
);

/// Runs the helper process named by the arguments and never returns; does nothing without such arguments. Call this
/// first in `main`, before any thread exists.
pub fn dispatch_helpers() {
    jail::dispatch();
    typescript_guest::dispatch();
    shell_guest::dispatch();
    meta_tools::jq_process::inside::dispatch();
}

/// First words of a command that must end together with this process, however this process ends.
pub fn supervisor(executable: &Path) -> Vec<OsString> {
    vec![
        executable.as_os_str().to_owned(),
        OsString::from(jail::supervise::ARGUMENT),
        OsString::from("--"),
    ]
}

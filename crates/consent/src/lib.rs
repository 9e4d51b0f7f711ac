//! What a person agreed to: the content of project files, and the commands that `codeyard servers
//! add` showed.
//!
//! Both are state files of the data directory. This crate compares and stores hashes; it reads no
//! definitions.

mod commands;
mod digest;
mod trust;

pub use commands::{
    AcceptedCommands, accept_command, files_with_accepted_commands, fingerprint, forget_command,
};
pub use digest::digest;
pub use trust::{TrustState, trust, trust_state, trusted_files};

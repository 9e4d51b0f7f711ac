//! Consent of a person: to the content of project files, and to commands that `codeyard servers add` showed.
//!
//! Both are state files in the data directory. This crate compares and stores hashes, and never reads definitions.

mod commands;
mod digest;
mod trust;

pub use commands::{
    AcceptedCommands, accept_command, files_with_accepted_commands, fingerprint, forget_command,
};
pub use digest::digest;
pub use trust::{TrustState, trust, trust_state, trusted_files};

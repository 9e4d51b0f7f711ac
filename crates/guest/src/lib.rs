//! What runs inside a sandbox: the embedded Python package, and the frames between host and guest.

pub mod frames;
mod python;

/// First argument by which this program becomes the zygote of TypeScript; the second holds the zygote's settings.
pub const TYPESCRIPT_ARGUMENT: &str = "__typescript";

/// First argument by which this program becomes the first process of shell sessions; the second holds its settings.
pub const SHELL_ARGUMENT: &str = "__shell";

/// Last components of the directory with links to this program, by which shells execute it as other programs.
pub const SHELL_PROGRAMS: &str = "codeyard/programs";

pub use python::{GuestFile, python_files};

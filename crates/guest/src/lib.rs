//! What runs inside a sandbox: the embedded Python package, and the frames between host and guest.

pub mod frames;
mod python;

/// First argument by which this program becomes the zygote of TypeScript; the second holds the zygote's settings.
pub const TYPESCRIPT_ARGUMENT: &str = "__typescript";

pub use python::{GuestFile, python_files};

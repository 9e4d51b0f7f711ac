//! What runs inside a sandbox: the embedded Python package, and the frames between host and guest.

pub mod frames;
mod python;

pub use python::{GuestFile, python_files};

//! placeholder

pub mod python;

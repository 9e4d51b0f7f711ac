//! placeholder

pub mod supervise;

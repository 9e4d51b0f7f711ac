//! The surface `server` over the binary, its standard streams and HTTP, with real servers: the acceptance cases by name,
//! and what system 0 did otherwise.

pub mod commands;
pub mod files;
mod languages;
mod page;
mod policy;
pub mod programs;
mod records;
mod served;
mod tools;

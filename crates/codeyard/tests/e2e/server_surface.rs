//! The surface `server` over the binary, its standard streams and HTTP, with real servers: the acceptance cases by
//! name, and the differences from system 0.

pub mod commands;
pub mod files;
mod languages;
mod page;
mod policy;
pub mod programs;
mod records;
mod served;
mod tools;

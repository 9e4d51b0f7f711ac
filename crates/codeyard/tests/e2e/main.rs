//! End-to-end tests over the binary, its standard streams and its addresses, with real servers; a module for each
//! subject.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot continue fails here"
)]

mod acceptance;
mod adopt;
mod advice;
mod attack;
mod bridge;
mod clients;
mod commands;
mod documents;
mod endings;
mod fix;
mod gateway;
mod hostile;
mod http;
mod hub;
mod kernels;
mod landlock;
mod learned;
mod limits;
mod login;
mod observed;
mod output;
mod own_programs;
mod receipts;
mod records;
mod remote;
mod server_surface;
mod servers;
mod servers_command;
mod shell;
mod standard;
mod surface;
mod tasks;
mod tool_files;
mod top;
mod typescript;
mod workspaces;

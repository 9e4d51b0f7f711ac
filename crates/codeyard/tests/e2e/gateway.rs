//! `codeyard serve` from the outside: the acceptance cases of the gateway by name, over REST, JSON-RPC and MCP.

mod actors;
mod databases;
mod files;
mod limits;
mod encrypted;
mod forwarded;
mod installed;
mod mcp;
mod objects;
mod page;
mod policy;
mod process;
mod programs;
mod records;
mod roles;
mod rpc;
mod running;
mod sessions;
mod several;

//! `codeyard serve` from the outside: the acceptance cases of the gateway by name, over REST, JSON-RPC and MCP.

mod actors;
mod audit;
mod bridge;
mod cpu_quota;
mod databases;
mod encrypted;
mod files;
mod forwarded;
mod installed;
mod limits;
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
mod sinks;
mod upstream_limits;
mod upstream_rights;
mod upstreams;

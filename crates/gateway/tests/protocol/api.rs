//! The gateway over HTTP: real sockets, and an `Api` whose tokens and servers the tests change.

#[path = "api/access.rs"]
mod access;
#[path = "api/bodies.rs"]
mod bodies;
#[path = "api/drain.rs"]
mod drain;
#[path = "api/fake.rs"]
mod fake;
#[path = "api/http_client.rs"]
mod http_client;
#[path = "api/mcp.rs"]
mod mcp;
#[path = "api/single.rs"]
mod single;
#[path = "api/sse.rs"]
mod sse;
#[path = "api/streams.rs"]
mod streams;

//! What the tests share: upstream servers of every behaviour, a client that sends raw lines, and
//! isolated codeyards.
//!
//! | to get | use |
//! |---|---|
//! | the `stub` server of the acceptance cases, a misbehaving one, one that replays a catalogue | [`ServerDefinition`] |
//! | a server over HTTP, in each era, correct or broken | [`RemoteServer`] |
//! | a server that requires tokens of a real authorization server, and a browser to log in with | [`oauth`] |
//! | a real issuer of OpenID Connect with the habits of a product, and its users | [`Issuer`] |
//! | nine real servers, with their own data | [`real_servers`], [`Codeyard::real_servers`] |
//! | a real server over HTTP that can be restarted | [`RealRemote`] |
//! | variables and files in memory | [`FakeEnvironment`] |
//! | a client over stdio, in both eras, that can also send garbage | [`McpClient`] |
//! | codeyard's binary with its own directories | [`Codeyard`] |
//! | to run programs as a model does, and check the results | [`CodeClient`] |
//! | the same on the surface `bridge` | [`BridgeClient`] |
//! | the same on the surface `server` | [`MetaToolsClient`] |
//! | to look at processes from outside | [`descendants`] |
//! | what this machine and user support | [`Mode`] |
//! | to check a backend at every limit | [`limits`] |
//! | to check that a codeyard left nothing behind | [`Traces`] |
//! | to check Python and TypeScript | [`checkers`] |
//! | input that makes parsers allocate more than its bytes | [`amplify`], [`ServerDefinition::amplify`] |
//! | a Postgres server that can be killed, and a pooler in front of it | [`PostgresServer`] |
//! | `codeyard serve` and connections to it | [`gateway`] |
//! | load on a gateway that is killed | [`GatewayLoad`] |
//! | two groups of users that must see nothing of each other | [`isolation`] |
//! | more work than in the suite | [`long_form`] |
//! | to wait for a condition | [`wait_until`] |

pub mod amplify;
mod bridge;
pub mod catalogue;
mod checkers;
mod client;
mod client_libraries;
mod code;
mod codeyard;
mod definition;
mod ended;
mod fake_environment;
pub mod gateway;
mod gateway_load;
mod isolation;
mod issuer;
pub mod limits;
mod long_form;
mod meta_tools;
mod mode;
mod postgres;
mod processes;
mod programs;
mod remote;
pub mod servers;
mod traces;
mod upstreams;
mod wait;

pub use bridge::{BridgeClient, BridgeResult};
pub use checkers::checkers;
pub use client::{Era, McpClient};
pub use client_libraries::{ClientLibrary, client_libraries};
pub use code::{CodeClient, CodeResult};
pub use codeyard::Codeyard;
pub use definition::ServerDefinition;
pub use ended::{CommandOutput, run};
pub use fake_environment::FakeEnvironment;
pub use gateway_load::{GatewayLoad, WorkingLoad};
pub use isolation::{IsolationReport, IsolationScale, isolation};
pub use issuer::{Issuer, UserLogin};
pub use long_form::long_form;
pub use meta_tools::{MetaToolResult, MetaTools, MetaToolsClient};
pub use mode::Mode;
pub use postgres::{Pooler, PostgresServer};
pub use processes::{Process, descendants, peak_memory, status_field};
pub use programs::{codeyard_binary, managed_data, stub_server};
pub use remote::oauth;
pub use remote::{Certificate, CertificateFiles, RemoteServer, Seen, Way};
pub use traces::Traces;
pub use upstreams::{RealRemote, real_servers};
pub use wait::{is_gone, wait_until};

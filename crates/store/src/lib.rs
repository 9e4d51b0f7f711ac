//! Records of runs, values that programs save, observed results, users and API tokens: all SQL of the workspace.
//!
//! ```text
//! Records ─► Queue ─► writer task ─► one connection: batches of rows, retention
//! Reader  ─► a connection of its own: data of `codeyard runs`
//! ServerRecords ─► a connection of its own: runs and security events of the gateway's virtual servers
//! Audit   ─► a connection of its own: administrative changes and refused attempts, chained by hash
//! Accounts ─► two connections of its own: users, teams and tokens; lookups of tokens
//! UserLogins ─► a connection of its own: users' logins to upstream servers, encrypted
//! SignOns ─► two connections of its own: users who signed on at an issuer, and sign-ons that issuers ended
//! VirtualServers ─► a connection of its own: virtual servers of the gateway
//! UpstreamServers ─► a connection of its own: upstream servers that users of the gateway define
//! RateWindows ─► a connection of its own: grants of rate limits
//! CpuDebts ─► a connection of its own: CPU debts of users and tenants
//! SessionLeases ─► a connection of its own: the process that runs a user's sessions
//! Sinks   ─► a connection of its own: positions of sinks in the records
//! Saved   ─► a connection of its own: tools and memories, committed before the answer
//! Shapes  ─► a connection of its own: observed shapes of results, merged over processes
//! ```
//!
//! A [`Database`] is an SQLite file or a database on a Postgres server; `connection` runs the same
//! statements on both.
//!
//! A recording task waits for the disk only if the queue is full or the configuration requires a commit. If rows
//! cannot be written, the error is reported once and the rows are counted. The loss is recorded when the database is
//! writable again.

pub mod accounts;
mod arguments;
pub mod audit;
mod backoff;
mod clock;
mod config;
mod connection;
pub mod cpu_debts;
mod database;
mod execution;
mod health;
mod insert;
pub mod learned;
mod lease;
pub mod logins;
mod page;
mod partitions;
mod prune;
mod queue;
pub mod rate_windows;
mod reader;
mod receipts;
mod record;
mod recordings;
mod records;
mod rows;
pub mod saved;
mod saved_error;
pub mod server_records;
pub mod session_leases;
pub mod sign_ons;
pub mod sinks;
mod slot;
mod traffic;
mod transfer;
mod trouble;
pub mod upstream_servers;
pub mod virtual_servers;
mod work;
mod writer;

pub use accounts::Accounts;
pub use arguments::Arguments;
pub use audit::Audit;
pub use config::{
    ArgumentDetail, DEFAULT_KEEP_FOR, DEFAULT_KEEP_SIZE, ExecutionDetail, FILE, Recording, RecordsConfig,
};
pub use database::{Database, DatabaseUrlError, PostgresDatabase};
pub use execution::Execution;
pub use health::{Health, examine};
pub use learned::{Learning, Shapes};
pub use queue::RecordsQueue;
pub use rate_windows::RateWindows;
pub use reader::{CallView, EventView, Filter, Opened, Reader, RunDeeds, RunDetail, RunView};
pub use record::{RunRecord, SessionRecord};
pub use recordings::{KEY_CHARACTERS, Recordings, SealedRecording, StoredRecording};
pub use records::{NotRecorded, Records};
pub use rows::{Attempt, CallMade, Change, Code, FILE_DENIED, Front, RUN_REFUSED, Refused, Searched};
pub use saved::Saved;
pub use saved_error::SavedError;
pub use server_records::ServerRecords;
pub use session_leases::SessionLeases;
pub use sign_ons::SignOns;
pub use sinks::Sinks;
pub use traffic::Traffic;
pub use transfer::{TransferError, TransferredTable, transfer};
pub use trouble::Trouble;
pub use upstream_servers::UpstreamServers;
pub use virtual_servers::VirtualServers;

//! The only path of a host call: finds the tool, checks the policy and the arguments, calls the upstream, records the
//! call.
//!
//! ```text
//! HostCalls::call ─► run.rs (by name) ─┬─► call.rs: log in → resolve → admit → validate → authorize → call → record
//!                                      │                ├─► learner.rs, beside it: what results look like
//!                                      │                └─► observer.rs: tells an observer of each call, for receipts
//!                                      ├─► answers: servers, tools, search, manual
//!                                      ├─► offers.rs: resources and prompts, relayed by call.rs
//!                                      └─► saved.rs, on the bridge: tools and memories for later sessions
//! ```

mod answered_calls;
mod answers;
mod broker;
mod call;
mod check;
mod checks;
mod client;
mod core;
mod error;
mod error_words;
mod files;
mod learner;
mod local;
mod log_in;
mod mounts;
mod observer;
mod offers;
mod record;
mod rules;
mod run;
mod saved;
mod saved_values;
mod scope;
mod seen_snapshots;
mod server_summaries;
mod snapshot;
mod visible_servers;

pub use answered_calls::AnsweredCalls;
pub use answers::{Detail, FoundTool, SearchAnswer, ServerAnswer, ToolAnswer, ToolsAnswer};
pub use broker::Broker;
pub use call::RelayError;
pub use client::{LinkQuestion, Person, PersonAnswer, RunClient, RunPerson};
pub use learner::LearnedTypes;
pub use observer::{CallEnd, CallObserver, ObservedCall};
pub use rules::CallRules;
pub use scope::{RunScope, RunTrace};
pub use server_summaries::ServerSummary;
pub use visible_servers::VisibleServers;

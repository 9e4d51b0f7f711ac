//! The words everyone shares: ids, principals, tools, limits, runs, content and outcomes; no I/O, no async.

mod activity;
mod address_range;
mod answers;
pub mod bulk;
mod check;
mod content;
mod file;
mod file_bounds;
mod found_call;
mod host_call;
mod ids;
mod isolation;
mod kept;
mod language;
mod limits;
pub mod numbers;
mod outcome;
mod principal;
mod rules;
mod run;
mod run_inputs;
mod search;
mod tool;
mod trace_context;
mod tree_file;
pub mod units;
mod unseen;
mod upstream_server;
mod virtual_server;
mod written;

pub use activity::Activity;
pub use address_range::{AddressRange, BadRange};
pub use answers::{Answers, Format};
pub use check::CheckMode;
pub use content::{Body, Content};
pub use file::{WrittenFile, size_in_words};
pub use file_bounds::{EntryBounds, FileBounds};
pub use found_call::{CHECK_CALL, CheckAnswer, FoundArguments, FoundCall, FoundCalls, MAX_FOUND_CALLS};
pub use host_call::{Fault, HostCallError, HostCallErrorKind};
pub use ids::{RunId, ServerId, SessionId, SessionName, TeamId, TenantId, UserId};
pub use isolation::RequiredIsolation;
pub use kept::Kept;
pub use language::{Language, UnknownLanguage};
pub use limits::{Granted, Limit, Limits, Network, RunLimits};
pub use outcome::{GuestError, Outcome, SessionFate, Status, Text, Threads, Usage};
pub use principal::{BadPrincipal, Principal};
pub use rules::ToolRules;
pub use run::{
    Appearance, BridgeServer, BridgeServers, Reach, Results, RunProfile, RunSpec, Selector, Validation,
};
pub use run_inputs::RunInputs;
pub use search::{MAX_FOUND, MAX_QUERY, USUALLY_FOUND};
pub use tool::{ANY_RESULT, DefinitionError, ServerTools, Tool, ToolRef};
pub use trace_context::TraceContext;
pub use tree_file::{TreeFile, WRITTEN_AT};
pub use unseen::{is_reordering, is_unseen, spelled_out};
pub use upstream_server::{Ownership, UpstreamServer};
pub use virtual_server::{
    BadScope, CodeDefaults, CodeSettings, CodeSurface, FileGlobs, MountRules, MountableTool, PersonalData,
    PolicyNumber, Runtime, SandboxPolicy, ServerKind, ServerSettings, SkillsScope, Tokenization, ToolGlobs,
    VirtualServer, Visibility,
};
pub use written::Written;

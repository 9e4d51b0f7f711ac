//! What a caller asks of one run, and what its surface means by it: built once at the edge and passed down
//! unchanged.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{CheckMode, Granted, Language, SessionName};

/// A caller's request: a program, its session, and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSpec {
    /// Source text.
    pub code: String,
    /// Of `code`.
    pub language: Language,
    /// Where the program runs.
    pub session: Selector,
    /// Limits of the run, and of the session if the run opens one.
    pub granted: Granted,
}

/// Which session a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Selector {
    /// The session of a principal who names none.
    #[default]
    Default,
    /// Opened or continued by its name.
    Named(SessionName),
    /// A new session with a generated name.
    New,
}

/// What a surface means by a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunProfile {
    /// What happens with the findings of the check before the run.
    pub check: CheckMode,
    /// Which results leave the session.
    pub results: Results,
    /// Who judges the arguments of tool calls.
    pub validate: Validation,
    /// Which servers the program may call.
    pub reach: Reach,
    /// What the program sees of its surface.
    pub appearance: Appearance,
}

/// Which results leave the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Results {
    /// Every result, as it is.
    #[default]
    Whole,
    /// Results of at most this many bytes of JSON. A larger result, or one that may not be text, stays in the
    /// session under a name.
    UpTo(u64),
}

/// Who validates the arguments of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// Codeyard, by the tool's schema, before it sends the call.
    #[default]
    BySchema,
    /// The upstream server alone.
    ByServer,
}

/// Which servers a program may call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reach {
    /// Every server that the policy allows.
    #[default]
    All,
    /// Only servers with these configured names.
    Only(Arc<BTreeSet<String>>),
}

/// What a program sees of its surface. Guests receive it as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Appearance {
    /// The functions of `code`: search, descriptions, `/results`.
    #[default]
    Code,
    /// The functions of the one-tool bridge: two lists of servers, saved tools and memories, no `/results`.
    Bridge(Arc<BridgeServers>),
    /// The functions of `code`, with system 0's results of tools and values of programs.
    Server,
}

/// The servers that a program on `bridge` sees.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BridgeServers {
    /// Servers that the program may call.
    pub loaded: Vec<BridgeServer>,
    /// All existing servers, as many as fit.
    pub discovered: Vec<BridgeServer>,
}

/// One server's two names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BridgeServer {
    /// The name in the configuration.
    pub name: String,
    /// The name in programs.
    pub alias: String,
}

impl RunSpec {
    /// A Python program in its caller's default session.
    pub fn python(code: impl Into<String>, granted: Granted) -> Self {
        Self {
            code: code.into(),
            language: Language::Python,
            session: Selector::Default,
            granted,
        }
    }
}

impl Reach {
    /// Whether a program may call the server with this configured name.
    pub fn holds(&self, server: &str) -> bool {
        match self {
            Reach::All => true,
            Reach::Only(names) => names.contains(server),
        }
    }

    /// Whether everything that `other` allows is allowed.
    pub fn includes(&self, other: &Reach) -> bool {
        match (self, other) {
            (Reach::All, _) => true,
            (Reach::Only(_), Reach::All) => false,
            (Reach::Only(names), Reach::Only(others)) => others.is_subset(names),
        }
    }

    /// Servers that both allow.
    #[must_use]
    pub fn intersection(&self, other: &Reach) -> Reach {
        match (self, other) {
            (Reach::All, reach) | (reach, Reach::All) => reach.clone(),
            (Reach::Only(names), Reach::Only(others)) => {
                Reach::Only(Arc::new(names.intersection(others).cloned().collect()))
            }
        }
    }
}

impl Appearance {
    /// The reach of a program that saw this: on `bridge` only the loaded servers.
    pub fn reach(&self) -> Reach {
        match self {
            Appearance::Code | Appearance::Server => Reach::All,
            Appearance::Bridge(servers) => {
                let names = servers.loaded.iter().map(|server| server.name.clone());
                Reach::Only(Arc::new(names.collect()))
            }
        }
    }

    /// Who judges the arguments of such a program's calls.
    pub fn validation(&self) -> Validation {
        match self {
            Appearance::Code | Appearance::Server => Validation::BySchema,
            Appearance::Bridge(_) => Validation::ByServer,
        }
    }

    /// What guests are told; nothing on `code`.
    pub fn told(&self) -> Option<&Appearance> {
        (*self != Appearance::Code).then_some(self)
    }
}

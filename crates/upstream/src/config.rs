//! What the hub is given: the definitions of servers and where it keeps what it learns of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use jail::confinement::Confinement;
use types::ToolRules;

/// Everything the hub needs to know, validated by `config`.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The servers, in the order of the configuration; names are unique.
    pub servers: Vec<ServerConfig>,
    /// Directory of cached tool lists; without it every process asks each server anew.
    pub cache_dir: Option<PathBuf>,
    /// Whether every server is asked for its list, whatever the last process remembered of it.
    pub asks_anew: bool,
    /// Directory of what servers write to standard error; without it only the last of it is kept, for messages.
    pub log_dir: Option<PathBuf>,
    /// Directory of the logins to remote servers; without it nobody is logged in.
    pub login_dir: Option<PathBuf>,
    /// First words of the command that runs `jail::supervise`; empty means this executable with `__supervise`.
    pub supervisor: Vec<OsString>,
    /// The running executable, so that a definition that would start it again is recognised.
    pub own_executable: PathBuf,
    /// Whether definitions that would start it again are used all the same, a few levels deep.
    pub allow_self: bool,
}

/// One server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerConfig {
    /// The server's name in the configuration.
    pub name: String,
    /// What it is for; else the server's own words.
    pub description: Option<String>,
    /// Longest wait for an answer or for progress; 60 seconds if absent.
    pub timeout: Option<Duration>,
    /// Whether what it says of its tools is believed: a call of one that changes nothing, or the same when it is repeated, is
    /// repeated after a failure on the way.
    pub trusted: bool,
    /// Calls at the same time; 128 if absent. Others wait.
    pub max_calls: Option<NonZeroU32>,
    /// How long it may run without a call before it is ended until the next one; 10 minutes if absent, never if zero.
    pub idle_stop: Option<Duration>,
    /// Which of its tools may be called; the hub itself calls any.
    pub tools: ToolRules,
    /// How it is reached.
    pub transport: Transport,
    /// What of it is known to be secret.
    pub secrets: SecretValues,
}

/// Values that stand in a definition, whole or as a part, and that no message, warning or log may show.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretValues(pub BTreeSet<String>);

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretValues({})", self.0.len())
    }
}

impl ServerConfig {
    /// The server's name and what it says of its own tools.
    pub fn rules(&self) -> (&str, &ToolRules) {
        (&self.name, &self.tools)
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A process of ours, over its standard input and output.
    Stdio(Stdio),
    /// Somebody else's, over HTTP.
    Http(Http),
}

impl Default for Transport {
    fn default() -> Transport {
        Transport::Stdio(Stdio::default())
    }
}

impl Transport {
    /// Its name, for people: `stdio`, `http` or `sse`.
    pub fn name(&self) -> &'static str {
        match self {
            Transport::Stdio(_) => "stdio",
            Transport::Http(Http {
                kind: HttpKind::Sse, ..
            }) => "sse",
            Transport::Http(_) => "http",
        }
    }

    /// The process to start, if it is one.
    pub fn stdio(&self) -> Option<&Stdio> {
        match self {
            Transport::Stdio(stdio) => Some(stdio),
            Transport::Http(_) => None,
        }
    }
}

/// A server that is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stdio {
    /// Program to start: a path, or a name that is looked up on `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables beside the minimal environment.
    pub env: BTreeMap<String, String>,
    /// Where it runs; the hub's own current directory if absent.
    pub cwd: Option<PathBuf>,
    /// What it may read, write and connect to, unless it may do all that its user may. It is not started where that cannot be
    /// enforced.
    pub sandbox: Option<Confinement>,
    /// What it and all that it starts may take together.
    pub limits: ServerLimits,
}

/// Bounds of one server with all that it starts, held by a control group where there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerLimits {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
}

impl ServerLimits {
    /// Whether there is nothing to be held.
    pub fn is_empty(self) -> bool {
        self == ServerLimits::default()
    }
}

/// A server that is connected to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Http {
    /// Its address; `check_url` says whether it can be used. It may hold a secret in its query.
    pub url: String,
    /// Which of the protocol's two ways over HTTP it speaks.
    pub kind: HttpKind,
    /// Headers that are sent with every request, by their names in lower case; they often hold secrets.
    pub headers: BTreeMap<String, String>,
    /// File with a token that is sent as `Authorization: Bearer`; it is read at each request, and nobody else may read it.
    pub bearer_token_file: Option<PathBuf>,
    /// How somebody logs in to it.
    pub oauth: OAuth,
}

/// What a definition says of logging in; everything may be absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// What codeyard is called by the authorization server, if it was registered there; the `https:` address of a document
    /// about the client is one too.
    pub client_id: Option<String>,
    /// File with the secret that belongs to it; nobody else may read it.
    pub client_secret_file: Option<PathBuf>,
    /// What a login is to allow; if empty, what the server asks for.
    pub scopes: Vec<String>,
}

/// Which of the protocol's ways over HTTP a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpKind {
    /// Streamable HTTP, or HTTP with SSE if it refuses the first `initialize`.
    #[default]
    Any,
    /// Streamable HTTP.
    Streamable,
    /// HTTP with SSE, as of 2024-11-05.
    Sse,
}

impl Http {
    /// Whether a login lets us in: the definition has nothing that does.
    pub fn takes_login(&self) -> bool {
        self.bearer_token_file.is_none() && !self.headers.contains_key("authorization")
    }

    /// The address without what may be secret in it, for people.
    pub fn address(&self) -> &str {
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        &self.url[..end]
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("url", &self.address())
            .field("kind", &self.kind)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("bearer_token_file", &self.bearer_token_file)
            .field("oauth", &self.oauth)
            .finish()
    }
}

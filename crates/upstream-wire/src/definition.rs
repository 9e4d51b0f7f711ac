//! How a server is reached: the part of a definition that a connection needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use jail::confinement::Confinement;

use crate::http_client::address;

/// Values of a definition that no message, warning or log may show, not even in part.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretValues(pub BTreeSet<String>);

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretValues({})", self.0.len())
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// Codeyard starts a process and speaks over its standard input and output.
    Stdio(Stdio),
    /// Codeyard connects to a remote server over HTTP.
    Http(Http),
}

impl Default for Transport {
    fn default() -> Transport {
        Transport::Stdio(Stdio::default())
    }
}

impl Transport {
    /// The word in settings: `stdio`, `http` or `sse`.
    pub fn name(&self) -> &'static str {
        match self {
            Transport::Stdio(_) => "stdio",
            Transport::Http(Http {
                kind: HttpKind::Sse, ..
            }) => "sse",
            Transport::Http(_) => "http",
        }
    }

    /// The process to start; `None` for a remote server.
    pub fn stdio(&self) -> Option<&Stdio> {
        match self {
            Transport::Stdio(stdio) => Some(stdio),
            Transport::Http(_) => None,
        }
    }
}

/// A server that Codeyard starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stdio {
    /// A path, or a name that is looked up on `PATH`.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Variables in addition to the minimal environment.
    pub env: BTreeMap<String, String>,
    /// Working directory; if absent, that of this process.
    pub cwd: Option<PathBuf>,
    /// What the server may read, write and connect to; if absent, everything that its user may. If the
    /// confinement cannot be enforced, the server does not start.
    pub sandbox: Option<Confinement>,
    /// Limits for the server and all processes that it starts.
    pub limits: ServerLimits,
}

/// Limits of one server with all its processes, enforced by a control group where the machine has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerLimits {
    /// In bytes.
    pub memory: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
}

impl ServerLimits {
    /// Whether no limit is set.
    pub fn is_empty(self) -> bool {
        self == ServerLimits::default()
    }
}

/// A server that Codeyard connects to.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Http {
    /// Address of the server, see [`check_url`](crate::check_url). Its query may hold a secret.
    pub url: String,
    /// Which of the protocol's two transports over HTTP the server speaks.
    pub kind: HttpKind,
    /// Headers of every request, keyed by lower-case name. They often hold secrets.
    pub headers: BTreeMap<String, String>,
    /// File with the token for `Authorization: Bearer`, accessible only to its owner. Each request reads it.
    pub bearer_token_file: Option<PathBuf>,
    /// How a person logs in.
    pub oauth: OAuth,
    /// Whose credentials requests carry.
    pub login: LoginOwner,
}

/// Whose credentials the requests of a server carry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoginOwner {
    /// All requests carry the credentials of the definition, or else the login of the user who runs Codeyard.
    #[default]
    Shared,
    /// The requests of each gateway user carry the user's own login.
    User,
}

/// Settings of the login to a server; all are optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// Codeyard's client id, if it is registered at the authorization server; or the `https:` address of a
    /// client id metadata document.
    pub client_id: Option<String>,
    /// File with the client secret, accessible only to its owner.
    pub client_secret_file: Option<PathBuf>,
    /// Scopes to ask for; if empty, those that the server names.
    pub scopes: Vec<String>,
}

/// Which of the protocol's transports over HTTP a server speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HttpKind {
    /// Streamable HTTP; HTTP with SSE if the server refuses the first `initialize`.
    #[default]
    Any,
    /// Streamable HTTP.
    Streamable,
    /// HTTP with SSE of revision 2024-11-05.
    Sse,
}

impl Http {
    /// Whether requests use a stored login, because the definition holds no credentials.
    pub fn takes_login(&self) -> bool {
        self.bearer_token_file.is_none() && !self.headers.contains_key("authorization")
    }

    /// Whether each gateway user has an own login.
    pub fn is_of_users(&self) -> bool {
        self.login == LoginOwner::User
    }

    /// Scheme, host and port; the address as written if it is not a URL.
    pub fn origin(&self) -> String {
        let parsed = address::parse(&self.url).map(|url| url.origin().ascii_serialization());
        parsed.unwrap_or_else(|_| self.url.clone())
    }

    /// The address without query and fragment, which may hold secrets.
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
            .field("login", &self.login)
            .finish()
    }
}

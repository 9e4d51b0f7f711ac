//! The routes of the gateway as one table: method, path and required permission.

use std::fmt;

use crate::{Denied, Identity, Permission};

use Method::{Delete, Get, Post, Put};
use RouteAccess::{AnyToken, Anyone, Needs};

/// Methods of HTTP that routes use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates or acts.
    Post,
    /// Replaces.
    Put,
    /// Removes.
    Delete,
}

/// The requirement of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteAccess {
    /// No token: the answer holds no user data.
    Anyone,
    /// Any valid token.
    AnyToken,
    /// This permission on any object. [`Identity::decide`] checks the object.
    Needs(Permission),
}

/// Why a route refuses a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RouteRefusal {
    /// 401: the token is missing.
    #[error("a token is required; send it as `Authorization: Bearer cyd_…`")]
    NoToken,
    /// 403.
    #[error(transparent)]
    Denied(#[from] Denied),
}

/// A variant is a row of the table, so no route lacks its permission.
macro_rules! routes {
    ($($(#[$about:meta])* $route:ident = $method:ident $path:literal, $access:expr;)+) => {
        /// One method of one path. The transport matches on this enum to find the handler.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Route {
            $($(#[$about])* $route,)+
        }

        impl Route {
            /// Every route, in the order of the table.
            pub const ALL: &'static [Route] = &[$(Route::$route,)+];

            /// The method.
            pub const fn method(self) -> Method {
                match self {
                    $(Route::$route => $method,)+
                }
            }

            /// The path; `{id}` stands for one segment.
            pub const fn path(self) -> &'static str {
                match self {
                    $(Route::$route => $path,)+
                }
            }

            /// The requirement.
            pub const fn access(self) -> RouteAccess {
                match self {
                    $(Route::$route => $access,)+
                }
            }
        }
    };
}

routes! {
    /// Reports that the process answers.
    Health = Get "/healthz", Anyone;
    /// Reports whether the process serves requests.
    Ready = Get "/readyz", Anyone;
    /// A page for people, the same in every deployment. The page asks for a token.
    Docs = Get "/docs", Anyone;
    /// RFC 9728: where tokens for the gateway come from.
    ResourceMetadata = Get "/.well-known/oauth-protected-resource", Anyone;
    /// RFC 9728: the same for a virtual server over Streamable HTTP.
    McpResourceMetadata = Get "/.well-known/oauth-protected-resource/servers/{id}/mcp", Anyone;
    /// RFC 9728: the same for a virtual server over the older transport.
    SseResourceMetadata = Get "/.well-known/oauth-protected-resource/servers/{id}/sse", Anyone;
    /// OpenID Connect: an issuer reports that a user has signed out. The token in the body proves it.
    BackChannelLogout = Post "/sign-on/logout", Anyone;
    /// A page that names the user and the server of a login, and asks for the user's token.
    LoginLink = Get "/logins/link/{secret}", Anyone;
    /// Sends the browser to an upstream server's authorization server. The user's token in the form admits.
    LoginStart = Post "/logins/link/{secret}", Anyone;
    /// The browser returns from the authorization server. Its cookie and the state admit.
    LoginCallback = Get "/logins/callback", Anyone;
    /// The description of these routes.
    OpenApi = Get "/openapi.json", AnyToken;
    /// Counters for Prometheus.
    Metrics = Get "/metrics", Needs(Permission::MetricsRead);

    /// S0-15: lists virtual servers.
    ListServers = Get "/servers", Needs(Permission::ServersRead);
    /// S0-08: creates a virtual server.
    CreateServer = Post "/servers", Needs(Permission::ServersCreate);
    /// S0-15: reads a virtual server.
    ReadServer = Get "/servers/{id}", Needs(Permission::ServersRead);
    /// S0-16: changes a virtual server.
    UpdateServer = Put "/servers/{id}", Needs(Permission::ServersUpdate);
    /// S0-16: removes a virtual server.
    DeleteServer = Delete "/servers/{id}", Needs(Permission::ServersDelete);
    /// S0-17: lists the tools of a virtual server.
    ListServerTools = Get "/servers/{id}/tools", Needs(Permission::ServersRead);

    /// Lists upstream servers with their health.
    ListUpstreams = Get "/upstreams", Needs(Permission::UpstreamsRead);
    /// Defines an upstream server.
    CreateUpstream = Post "/upstreams", Needs(Permission::UpstreamsCreate);
    /// Reads an upstream server with its health.
    ReadUpstream = Get "/upstreams/{name}", Needs(Permission::UpstreamsRead);
    /// Changes an upstream server.
    UpdateUpstream = Put "/upstreams/{name}", Needs(Permission::UpstreamsUpdate);
    /// Removes an upstream server.
    DeleteUpstream = Delete "/upstreams/{name}", Needs(Permission::UpstreamsDelete);
    /// Connects to an upstream server and lists its tools.
    TestUpstream = Post "/upstreams/{name}/test", Needs(Permission::UpstreamsUpdate);

    /// S0-76: lists runs.
    ListRuns = Get "/servers/{id}/code/runs", Needs(Permission::ServersRead);
    /// S0-79: repeats a run as the caller.
    ReplayRun = Post "/servers/{id}/code/runs/{run}/replay", Needs(Permission::ServersUse);
    /// S0-77: lists sessions.
    ListSessions = Get "/servers/{id}/code/sessions", Needs(Permission::ServersRead);
    /// S0-78: lists security events.
    ListSecurityEvents = Get "/servers/{id}/code/security-events", Needs(Permission::ServersRead);

    /// S0-27: one request of JSON-RPC.
    Rpc = Post "/rpc", Needs(Permission::ServersUse);
    /// S0-28: a message of Streamable HTTP.
    McpMessage = Post "/servers/{id}/mcp", Needs(Permission::ServersUse);
    /// S0-28: the stream of Streamable HTTP.
    McpStream = Get "/servers/{id}/mcp", Needs(Permission::ServersUse);
    /// S0-28: ends a session of Streamable HTTP.
    McpEnd = Delete "/servers/{id}/mcp", Needs(Permission::ServersUse);
    /// S0-28: the stream of the older transport.
    SseStream = Get "/servers/{id}/sse", Needs(Permission::ServersUse);
    /// S0-28: a message of the older transport.
    SseMessage = Post "/servers/{id}/message", Needs(Permission::ServersUse);

    /// Lists API tokens, without secrets.
    ListTokens = Get "/tokens", Needs(Permission::TokensRead);
    /// Creates an API token and shows the secret once.
    CreateToken = Post "/tokens", Needs(Permission::TokensCreate);
    /// Revokes an API token.
    RevokeToken = Delete "/tokens/{id}", Needs(Permission::TokensRevoke);

    /// Lists users' logins to upstream servers, without secrets.
    ListLogins = Get "/logins", Needs(Permission::ServersUse);
    /// Stores the caller's key for an upstream server.
    SetLogin = Put "/logins/{name}", Needs(Permission::ServersUse);
    /// Revokes a login.
    RevokeLogin = Delete "/logins/{name}", Needs(Permission::ServersUse);

    /// Lists users.
    ListUsers = Get "/users", Needs(Permission::UsersRead);
    /// Creates a user.
    CreateUser = Post "/users", Needs(Permission::UsersCreate);
    /// Reads a user.
    ReadUser = Get "/users/{email}", Needs(Permission::UsersRead);
    /// Changes a user's role, or disables a user.
    UpdateUser = Put "/users/{email}", Needs(Permission::UsersUpdate);
    /// Removes a user.
    DeleteUser = Delete "/users/{email}", Needs(Permission::UsersDelete);

    /// Lists teams.
    ListTeams = Get "/teams", Needs(Permission::TeamsRead);
    /// Creates a team.
    CreateTeam = Post "/teams", Needs(Permission::TeamsCreate);
    /// Reads a team.
    ReadTeam = Get "/teams/{id}", Needs(Permission::TeamsRead);
    /// Renames a team.
    UpdateTeam = Put "/teams/{id}", Needs(Permission::TeamsUpdate);
    /// Removes a team.
    DeleteTeam = Delete "/teams/{id}", Needs(Permission::TeamsDelete);
    /// Lists the members of a team.
    ListMembers = Get "/teams/{id}/members", Needs(Permission::TeamsRead);
    /// Adds a member to a team, or changes a member's role.
    SetMember = Put "/teams/{id}/members/{email}", Needs(Permission::TeamsUpdate);
    /// Removes a member from a team.
    RemoveMember = Delete "/teams/{id}/members/{email}", Needs(Permission::TeamsUpdate);

    /// Lists administrative changes and refused attempts at them.
    ListAudit = Get "/audit", Needs(Permission::AuditRead);
}

// === impl Route ===

impl Route {
    /// Whether the caller may use the route: with the identity of a valid token, or without one.
    ///
    /// # Errors
    /// 401 without a token, 403 without the permission.
    pub fn admit(self, identity: Option<&Identity>) -> Result<(), RouteRefusal> {
        match (self.access(), identity) {
            (Anyone, _) | (AnyToken, Some(_)) => Ok(()),
            (AnyToken | Needs(_), None) => Err(RouteRefusal::NoToken),
            (Needs(permission), Some(identity)) => Ok(identity.may(permission)?),
        }
    }
}

// === impl Method ===

impl Method {
    /// The word in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Get => "GET",
            Post => "POST",
            Put => "PUT",
            Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method(), self.path())
    }
}

impl fmt::Display for RouteAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Anyone => f.pad("anyone"),
            AnyToken => f.pad("any token"),
            Needs(permission) => f.pad(permission.name()),
        }
    }
}

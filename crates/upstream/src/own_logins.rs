//! Servers whose definition asks for each user's own login, as each user reaches them.
//!
//! Such a server has one managed server for each user, with the user's login and the user's tool list, beside the one of
//! the definition, which is never started. INVARIANT: no two users share a connection or a list.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use types::{Principal, Tool};
use upstream_wire::oauth::{LoginName, LoginState, LoginVault, state_in_vault};
use upstream_wire::{Http, Transport};

use crate::error::UpstreamError;
use crate::hub::Hub;
use crate::server::ManagedServer;

/// Interval at which a waiting call looks for its user's login, which any process may store.
const LOGIN_POLL: Duration = Duration::from_millis(500);

impl Hub {
    /// Keeps the logins of users here. Only the first call takes effect.
    pub fn keep_logins_in(&self, vault: Arc<dyn LoginVault>) {
        let _ = self.vault().set(vault);
    }

    /// The definition of the server, if it requires each user's own login. `None` if this process has no vault.
    pub fn user_login(&self, server: &str) -> Option<Http> {
        self.vault().get()?;
        let server = self.server(server).ok()?;
        match &server.shared.config.transport {
            Transport::Http(http) if http.is_of_users() => Some(http.clone()),
            _ => None,
        }
    }

    /// Names of the servers at which each user has an own login.
    pub fn servers_with_user_logins(&self) -> Vec<String> {
        let servers = self.servers();
        let names = servers.iter().map(|server| server.shared.config.name.clone());
        names.filter(|name| self.user_login(name).is_some()).collect()
    }

    /// The tools that this server lists for `user`; `None` while they are unknown, or if all users see the same.
    pub fn tools_of(&self, user: &Principal, server: &str) -> Option<Arc<[Arc<Tool>]>> {
        self.server(server).ok()?.of_users.get(user)?.shared.tools()
    }

    /// The server that all users share.
    pub(crate) fn common_server(&self, name: &str) -> Result<Arc<ManagedServer>, UpstreamError> {
        match self.user_login(name) {
            Some(_) => Err(no_logins(name, "this request belongs to no user")),
            None => self.server(name),
        }
    }

    /// The server as `user` reaches it.
    pub(crate) async fn server_of(
        &self,
        user: &Principal,
        name: &str,
    ) -> Result<Arc<ManagedServer>, UpstreamError> {
        let server = self.server(name)?;
        let Some(http) = self.user_login(name) else {
            return Ok(server);
        };
        let Some(vault) = self.vault().get() else {
            return Ok(server);
        };
        if !self.has_login(user, name, &http).await? {
            self.end_user(&server, user);
            return Err(self.needs_login(user, name).await);
        }
        let make = || self.of_user(&server, user, Arc::clone(vault));
        let (own, ended) = server.of_users.get_or_make(user, make);
        if let Some(ended) = ended {
            self.retire_in_background(ended);
        }
        Ok(own)
    }

    /// Whether the server takes each user's own login, and this user has none.
    pub async fn awaits_login(&self, user: &Principal, server: &str) -> bool {
        match self.user_login(server) {
            Some(http) => matches!(self.has_login(user, server, &http).await, Ok(false)),
            None => false,
        }
    }

    /// Waits until [`Hub::awaits_login`] is false. The caller limits the wait.
    pub async fn logged_in(&self, user: &Principal, server: &str) {
        while self.awaits_login(user, server).await {
            sleep(LOGIN_POLL).await;
        }
    }

    /// A link with which the user logs in to the server.
    ///
    /// # Errors
    /// If no link can be made.
    pub async fn login_link(&self, user: &Principal, server: &str) -> Result<String, UpstreamError> {
        match self.needs_login(user, server).await {
            UpstreamError::NeedsLogin { link, .. } => Ok(link),
            failed => Err(failed),
        }
    }

    /// The servers as `user` reaches them, without those at which the user has not logged in.
    pub(crate) async fn reached_by(
        &self,
        user: Option<&Principal>,
        servers: impl Iterator<Item = &Arc<ManagedServer>>,
    ) -> Vec<Arc<ManagedServer>> {
        let mut reached = Vec::new();
        for server in servers {
            let name = &server.shared.config.name;
            let Some(http) = self.user_login(name) else {
                reached.push(Arc::clone(server));
                continue;
            };
            let Some(user) = user else { continue };
            if matches!(self.has_login(user, name, &http).await, Ok(true)) {
                reached.extend(self.server_of(user, name).await);
            }
        }
        reached
    }

    /// Replaces the error of a call by a request to log in, if the login ended during the call.
    pub(crate) async fn explain(&self, user: &Principal, name: &str, error: UpstreamError) -> UpstreamError {
        let Some(http) = self.user_login(name) else {
            return error;
        };
        match self.has_login(user, name, &http).await {
            Ok(false) => self.needs_login(user, name).await,
            Ok(true) | Err(_) => error,
        }
    }

    /// Ends the connections and calls of users whose login is gone.
    pub async fn end_logged_out(&self) {
        for server in self.servers() {
            let name = &server.shared.config.name;
            let Some(http) = self.user_login(name) else {
                continue;
            };
            for user in server.of_users.users() {
                if matches!(self.has_login(&user, name, &http).await, Ok(false)) {
                    self.end_user(&server, &user);
                }
            }
        }
    }

    /// Ends a user's connection in the background: a server that does not answer must not delay the end of others.
    fn end_user(&self, server: &ManagedServer, user: &Principal) {
        if let Some(ended) = server.of_users.remove(user) {
            ended.shared.wake();
            self.stop_in_background(ended);
        }
    }

    async fn has_login(&self, user: &Principal, name: &str, http: &Http) -> Result<bool, UpstreamError> {
        let Some(vault) = self.vault().get() else {
            return Ok(false);
        };
        let state = state_in_vault(&**vault, &login_name(user, name), http).await;
        let state = state.map_err(|cause| no_logins(name, &cause))?;
        Ok(state.is_some_and(|state| state != LoginState::Ended))
    }

    async fn needs_login(&self, user: &Principal, name: &str) -> UpstreamError {
        let Some(vault) = self.vault().get() else {
            return no_logins(name, "this process keeps none");
        };
        let server = name.to_owned();
        match vault.link(&login_name(user, name)).await {
            Ok(link) => UpstreamError::NeedsLogin { server, link },
            Err(cause) => no_logins(name, &cause),
        }
    }
}

fn login_name(user: &Principal, server: &str) -> LoginName {
    LoginName {
        principal: user.clone(),
        server: server.to_owned(),
    }
}

fn no_logins(server: &str, cause: &str) -> UpstreamError {
    UpstreamError::NoLogins {
        server: server.to_owned(),
        cause: cause.to_owned(),
    }
}

//! The access token of one server's login.
//!
//! Each request reads the login file, so that a login by another process counts at once.

use std::fmt;
use std::sync::Arc;

use reqwest::Url;
use tokio::sync::Mutex;

use super::fetch::Fetch;
use super::login_file::{Login, StoredLogin, Tokens};
use super::login_home::{LoginHome, LoginLock};
use super::logins::Logins;
use super::logout;
use super::token::{self, TokenError};
use crate::notifications::Notifications;

#[derive(Debug)]
pub(crate) enum AccessError {
    /// A person has to log in again.
    Ended(String),
    /// A later attempt may succeed.
    Transient(String),
}

/// The access tokens for one server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct AccessTokens {
    shared: Arc<SharedLogin>,
}

struct SharedLogin {
    home: LoginHome,
    /// Address in the definition.
    server: String,
    fetch: Fetch,
    notifications: Arc<Notifications>,
    /// Lets one task of this connection at a time wait for the lock.
    turn: Mutex<()>,
}

impl AccessTokens {
    pub(crate) fn new(
        logins: &Logins,
        name: &str,
        url: Url,
        address: &str,
        notifications: Arc<Notifications>,
    ) -> AccessTokens {
        AccessTokens {
            shared: Arc::new(SharedLogin {
                home: logins.home(name),
                server: address.to_owned(),
                fetch: Fetch::new(url),
                notifications,
                turn: Mutex::default(),
            }),
        }
    }

    /// The token, renewed if it expires soon; `None` without a login.
    pub(crate) async fn token(&self) -> Result<Option<String>, AccessError> {
        let Some(login) = self.shared.read().await? else {
            return match self.shared.home.is_required() {
                true => Err(AccessError::Ended("its user has not logged in".to_owned())),
                false => Ok(None),
            };
        };
        let Some(tokens) = login.tokens else {
            return Err(ended());
        };
        if !tokens.expires_soon() {
            return Ok(Some(tokens.access));
        }
        match self.renew(Stale::Soon).await {
            // The token has not expired yet.
            Err(AccessError::Transient(_)) if !tokens.is_expired() => Ok(Some(tokens.access)),
            renewed => renewed,
        }
    }

    /// Replaces a token that the server has refused; `None` if there is no other.
    pub(crate) async fn replace(&self, refused: &str) -> Result<Option<String>, AccessError> {
        let renewed = self.renew(Stale::Refused(refused.to_owned())).await?;
        Ok(renewed.filter(|token| token != refused))
    }

    /// Ends a user's login after the server refused its renewed token as well. The next call then returns a login link.
    /// Does nothing for a login file, because the error names the command to run.
    pub(crate) async fn end(&self, refused: &str) -> Result<(), AccessError> {
        if !self.shared.home.is_required() {
            return Ok(());
        }
        let (shared, refused) = (Arc::clone(&self.shared), refused.to_owned());
        let ended = tokio::spawn(async move { shared.end(&refused).await }).await;
        ended.unwrap_or_else(|_panic| Err(AccessError::Transient("it could not be ended".to_owned())))
    }

    /// Whether a person logs in by a link, not by a command.
    pub(crate) fn is_of_user(&self) -> bool {
        self.shared.home.is_required()
    }

    /// Renews the login, unless another task or process already has. The renewal continues if its caller is
    /// cancelled: a refresh token may work only once, so its answer must not be lost.
    async fn renew(&self, stale: Stale) -> Result<Option<String>, AccessError> {
        let shared = Arc::clone(&self.shared);
        let renewed = tokio::spawn(async move { shared.renew(&stale).await }).await;
        renewed.unwrap_or_else(|_panic| Err(AccessError::Transient("it could not be renewed".to_owned())))
    }
}

impl fmt::Debug for AccessTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessTokens")
            .field("home", &self.shared.home)
            .finish_non_exhaustive()
    }
}

enum Stale {
    Soon,
    Refused(String),
}

impl Stale {
    fn is(&self, tokens: &Tokens) -> bool {
        match self {
            Stale::Soon => tokens.expires_soon(),
            Stale::Refused(refused) => tokens.access == *refused,
        }
    }
}

// === impl SharedLogin ===

impl SharedLogin {
    async fn read(&self) -> Result<Option<Login>, AccessError> {
        match self.home.read().await {
            Ok(StoredLogin::Login(login)) if login.server == self.server => Ok(Some(*login)),
            // A login for another address does not count.
            Ok(StoredLogin::Login(_) | StoredLogin::Nothing) => Ok(None),
            Ok(StoredLogin::SetAside(warning)) => {
                self.notifications.warn(warning);
                Ok(None)
            }
            Err(error) => Err(AccessError::Transient(format!(
                "its login cannot be read: {error}"
            ))),
        }
    }

    async fn renew(&self, stale: &Stale) -> Result<Option<String>, AccessError> {
        let _turn = self.turn.lock().await;
        let lock = self.lock().await?;
        let Some(mut login) = self.read().await? else {
            return Ok(None);
        };
        let Some(tokens) = login.tokens.clone() else {
            return Err(ended());
        };
        if !stale.is(&tokens) {
            return Ok(Some(tokens.access));
        }
        let Some(refresh) = &tokens.refresh else {
            // Without a refresh token, use the access token until it expires. Its user gets a link once it is refused.
            let is_refused = self.home.is_required() && matches!(stale, Stale::Refused(_));
            if is_refused {
                login.tokens = None;
                self.write(&lock, login).await;
                return Err(ended());
            }
            return if tokens.is_expired() {
                Err(ended())
            } else {
                Ok(Some(tokens.access))
            };
        };
        // The authorization server may echo these values.
        let secrets = &self.notifications.secrets;
        for secret in login.client.secret.iter().chain([refresh]) {
            secrets.learn(secret);
        }
        match token::renew(&self.fetch, &login, refresh).await {
            Ok(granted) => {
                let access = granted.tokens.access.clone();
                login.scopes = granted.scopes.unwrap_or(login.scopes);
                login.tokens = Some(granted.tokens);
                match self.write(&lock, login.clone()).await {
                    true => Ok(Some(access)),
                    false => self.give_up(login).await,
                }
            }
            Err(TokenError::Ended(why)) => {
                login.tokens = None;
                self.write(&lock, login).await;
                Err(AccessError::Ended(secrets.hide(&format!(
                    "its login has ended, because it could not be renewed ({why})"
                ))))
            }
            Err(TokenError::Transient(why)) => Err(AccessError::Transient(
                secrets.hide(&format!("its login could not be renewed: {why}")),
            )),
        }
    }

    async fn end(&self, refused: &str) -> Result<(), AccessError> {
        let _turn = self.turn.lock().await;
        let lock = self.lock().await?;
        let Some(mut login) = self.read().await? else {
            return Ok(());
        };
        if login
            .tokens
            .as_ref()
            .is_some_and(|tokens| tokens.access == refused)
        {
            login.tokens = None;
            self.write(&lock, login).await;
        }
        Ok(())
    }

    async fn lock(&self) -> Result<LoginLock, AccessError> {
        let lock = self.home.lock().await;
        lock.map_err(|error| AccessError::Transient(format!("its login cannot be locked: {error}")))
    }

    /// Revokes new tokens whose login ended during the renewal. Returns the token of the login that replaced it, if any.
    async fn give_up(&self, renewed: Login) -> Result<Option<String>, AccessError> {
        if let Err(why) = logout::revoke(&renewed).await {
            tracing::warn!(server = %self.server, "the new tokens of an ended login were not revoked: {why}");
        }
        let other = self.read().await?.and_then(|login| login.tokens);
        other.map_or_else(|| Err(ended()), |tokens| Ok(Some(tokens.access)))
    }

    /// Stores a renewed login; `false` if the login ended or was replaced during the renewal.
    async fn write(&self, lock: &LoginLock, login: Login) -> bool {
        match lock.update(login).await {
            Ok(is_stored) => is_stored,
            Err(error) => {
                let warning = format!("its renewed login could not be saved: {error}");
                tracing::warn!("{warning}");
                self.notifications.warn(warning);
                true
            }
        }
    }
}

fn ended() -> AccessError {
    AccessError::Ended("its login has ended".to_owned())
}

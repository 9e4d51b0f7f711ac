//! The login of one server as its requests use it: read at each of them, so that a login made elsewhere counts at once.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use reqwest::Url;
use tokio::task::spawn_blocking;

use super::fetch::Fetch;
use super::stored::{Found, Login, LoginFile, Tokens};
use super::token::{self, Failure};
use crate::transport::Traffic;

/// Why no token can be sent.
#[derive(Debug)]
pub(crate) enum Denied {
    /// A person has to log in again.
    Ended(String),
    /// It may go better later.
    Transient(String),
}

/// Access to the login of one server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Access {
    shared: Arc<Shared>,
}

struct Shared {
    file: LoginFile,
    /// Its address as its definition has it.
    server: String,
    fetch: Fetch,
    traffic: Arc<Traffic>,
}

impl Access {
    pub(crate) fn new(
        directory: &Path,
        name: &str,
        url: Url,
        address: &str,
        traffic: Arc<Traffic>,
    ) -> Access {
        Access {
            shared: Arc::new(Shared {
                file: LoginFile::new(directory, name),
                server: address.to_owned(),
                fetch: Fetch::new(url),
                traffic,
            }),
        }
    }

    /// The token of a request, renewed if it ends soon; `None` where nobody has logged in.
    pub(crate) async fn token(&self) -> Result<Option<String>, Denied> {
        let Some(login) = self.shared.read().await? else {
            return Ok(None);
        };
        let Some(tokens) = login.tokens else {
            return Err(ended());
        };
        if !tokens.ends_soon() {
            return Ok(Some(tokens.access));
        }
        match self.renew(Stale::Soon).await {
            // What is not over yet may still be good.
            Err(Denied::Transient(_)) if !tokens.is_over() => Ok(Some(tokens.access)),
            renewed => renewed,
        }
    }

    /// A token in the place of one that the server has refused; `None` if there is no other.
    pub(crate) async fn replace(&self, refused: &str) -> Result<Option<String>, Denied> {
        let renewed = self.renew(Stale::Refused(refused.to_owned())).await?;
        Ok(renewed.filter(|token| token != refused))
    }

    /// Renews the login, unless somebody else has. It goes on if nobody waits any more: a token that can be used once only
    /// must not be lost with its answer.
    async fn renew(&self, stale: Stale) -> Result<Option<String>, Denied> {
        let shared = Arc::clone(&self.shared);
        let renewed = tokio::spawn(async move { shared.renew(&stale).await }).await;
        renewed.unwrap_or_else(|_panic| Err(Denied::Transient("it could not be renewed".to_owned())))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("file", &self.shared.file)
            .finish_non_exhaustive()
    }
}

/// Which tokens are to be replaced.
enum Stale {
    Soon,
    Refused(String),
}

impl Stale {
    fn is(&self, tokens: &Tokens) -> bool {
        match self {
            Stale::Soon => tokens.ends_soon(),
            Stale::Refused(refused) => tokens.access == *refused,
        }
    }
}

// === impl Shared ===

impl Shared {
    async fn read(&self) -> Result<Option<Login>, Denied> {
        let file = self.file.clone();
        let found = spawn_blocking(move || file.read()).await;
        match found {
            Ok(Ok(Found::Login(login))) if login.server == self.server => Ok(Some(*login)),
            // One for another address is none.
            Ok(Ok(Found::Login(_) | Found::Nothing)) => Ok(None),
            Ok(Ok(Found::SetAside(told))) => {
                self.traffic.warn(told);
                Ok(None)
            }
            Ok(Err(error)) => Err(Denied::Transient(format!("its login cannot be read: {error}"))),
            Err(_panic) => Err(Denied::Transient("its login cannot be read".to_owned())),
        }
    }

    async fn renew(&self, stale: &Stale) -> Result<Option<String>, Denied> {
        let file = self.file.clone();
        let _lock = spawn_blocking(move || file.lock())
            .await
            .map_err(std::io::Error::other)
            .and_then(|lock| lock)
            .map_err(|error| Denied::Transient(format!("its login cannot be locked: {error}")))?;
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
            // Nothing renews it; it is of use until its end.
            return if tokens.is_over() {
                Err(ended())
            } else {
                Ok(Some(tokens.access))
            };
        };
        // The authorization server may say again what it was sent.
        let secrets = &self.traffic.secrets;
        for secret in login.client.secret.iter().chain([refresh]) {
            secrets.learn(secret);
        }
        match token::renew(&self.fetch, &login, refresh).await {
            Ok(granted) => {
                let access = granted.tokens.access.clone();
                login.scopes = granted.scopes.unwrap_or(login.scopes);
                login.tokens = Some(granted.tokens);
                self.write(login).await;
                Ok(Some(access))
            }
            Err(Failure::Ended(why)) => {
                login.tokens = None;
                self.write(login).await;
                Err(Denied::Ended(secrets.hide(&format!(
                    "its login has ended, because it could not be renewed ({why})"
                ))))
            }
            Err(Failure::Transient(why)) => Err(Denied::Transient(
                secrets.hide(&format!("its login could not be renewed: {why}")),
            )),
        }
    }

    async fn write(&self, login: Login) {
        let file = self.file.clone();
        let written = spawn_blocking(move || file.write(login)).await;
        let written = written.map_err(std::io::Error::other).and_then(|written| written);
        if let Err(error) = written {
            let told = format!("its renewed login could not be kept: {error}");
            tracing::warn!("{told}");
            self.traffic.warn(told);
        }
    }
}

fn ended() -> Denied {
    Denied::Ended("its login has ended".to_owned())
}

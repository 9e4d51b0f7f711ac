//! Each user's own logins to upstream servers: encrypted in the database, begun by links.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures_util::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use store::audit::AuditActor;
use store::logins::{LoginLeaseId, LoginRow, UserLogins};
use store::{Database, Trouble};
use tokio::time::sleep;
use types::Principal;
use upstream_wire::oauth::{self, LoggedOut, LoginLease, LoginName, LoginVault};

use crate::run_recordings::KeySource;

/// Bytes of a link's secret.
const SECRET: usize = 32;

/// A link is given out again for this long, so that a program with many calls makes few links.
const REPEATED: Duration = Duration::from_secs(5 * 60);

/// Links that are remembered to be given out again.
const MOST_LINKS: usize = 10_000;

/// Interval at which a task asks whether another process has renewed the login.
const LOCK_EVERY: Duration = Duration::from_millis(100);

/// The logins of the gateway's users. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LoginStore {
    pub(crate) table: UserLogins,
    keys: Arc<KeySource>,
    /// The gateway's address, without a path.
    url: Arc<OnceLock<String>>,
    links: Arc<Mutex<HashMap<LoginName, (String, Instant)>>>,
    /// Hash of the login under way that [`LoginStore::store`] completes; `None` for personal keys.
    begun: Option<Arc<str>>,
}

impl LoginStore {
    pub(crate) fn new(table: UserLogins, keys: Arc<KeySource>) -> LoginStore {
        LoginStore {
            table,
            keys,
            url: Arc::default(),
            links: Arc::default(),
            begun: None,
        }
    }

    /// A store that stores a login only while the login under way with this hash has not ended.
    pub(crate) fn of_begun(&self, hash: &str) -> LoginStore {
        LoginStore {
            begun: Some(hash.into()),
            ..self.clone()
        }
    }

    /// Links begin with this address. Only the first call takes effect.
    pub(crate) fn serve_at(&self, url: &str) {
        let _ = self.url.set(url.trim_end_matches('/').to_owned());
    }

    pub(crate) fn url(&self) -> &str {
        self.url.get().map_or("", String::as_str)
    }

    pub(crate) fn seal(&self, row: &LoginRow, login: String) -> Result<String, String> {
        let keys = self.keys.get().map_err(|error| error.to_string())?;
        let sealed = keys.seal(&context(row), login.into_bytes());
        Ok(STANDARD.encode(sealed.map_err(|error| error.to_string())?))
    }

    pub(crate) fn open(&self, row: &LoginRow, sealed: &str) -> Result<String, String> {
        let keys = self.keys.get().map_err(|error| error.to_string())?;
        let sealed = STANDARD.decode(sealed).map_err(|_| "it was altered")?;
        let text = keys.open(&context(row), &sealed);
        String::from_utf8(text.map_err(|error| error.to_string())?).map_err(|_| "it was altered".to_owned())
    }

    /// Stores a login in place of an earlier one.
    pub(crate) async fn store(
        &self,
        actor: &AuditActor,
        row: &LoginRow,
        login: String,
    ) -> Result<(), String> {
        let sealed = self.seal(row, login)?;
        match self
            .table
            .insert(actor, row, &sealed, self.begun.as_deref())
            .await
        {
            Ok(true) => Ok(()),
            Ok(false) if self.begun.is_some() => Err("the user or this login has ended meanwhile".to_owned()),
            Ok(false) => Err(format!("{} is disabled or unknown", row.user.user())),
            Err(trouble) => Err(trouble.to_string()),
        }
    }

    /// Removes a login here, then revokes its tokens at the authorization server; `None` if there was none.
    pub(crate) async fn revoke(
        &self,
        actor: &AuditActor,
        row: &LoginRow,
    ) -> Result<Option<LoggedOut>, Trouble> {
        let sealed = self.table.read(row).await?;
        if !self.table.revoke(actor, row).await? {
            return Ok(None);
        }
        let text = sealed.map(|sealed| self.open(row, &sealed));
        Ok(Some(match text {
            Some(Ok(text)) => oauth::revoke_text(&text).await,
            Some(Err(why)) => LoggedOut::NotRevoked(why),
            None => LoggedOut::Forgotten,
        }))
    }

    fn links(&self) -> MutexGuard<'_, HashMap<LoginName, (String, Instant)>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A link that was given out lately and is still open.
    async fn known_link(&self, name: &LoginName) -> Option<String> {
        let known = self.links().get(name).cloned();
        let (secret, made) = known?;
        let open = self.table.link(&hash(&secret)).await.ok()?;
        (made.elapsed() < REPEATED && open.is_some()).then_some(secret)
    }

    async fn new_link(&self, name: &LoginName) -> Result<String, String> {
        let secret = random_text()?;
        let added = self.table.add_link(&row(name), &hash(&secret)).await;
        added.map_err(|trouble| trouble.to_string())?;
        let mut links = self.links();
        if links.len() >= MOST_LINKS {
            links.clear();
        }
        links.insert(name.clone(), (secret.clone(), Instant::now()));
        Ok(secret)
    }
}

/// Removes a user's login for the command line, and revokes its tokens; `None` if there was none. The keys are those of
/// `directory` or of the variable.
///
/// # Errors
/// If the database cannot be used.
pub async fn revoke_login(
    database: Database,
    directory: &Path,
    variable: Option<String>,
    row: &LoginRow,
) -> Result<Option<LoggedOut>, Trouble> {
    let keys = Arc::new(KeySource::new(directory.to_owned(), variable));
    let logins = LoginStore::new(UserLogins::new(database), keys);
    let revoked = logins.revoke(&AuditActor::command_line(), row).await;
    logins.table.close().await;
    revoked
}

impl fmt::Debug for LoginStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginStore").finish_non_exhaustive()
    }
}

impl LoginVault for LoginStore {
    fn lock<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<Box<dyn LoginLease>, String>> {
        Box::pin(async move {
            let row = row(name);
            loop {
                let leased = self.table.lease(&row).await;
                if let Some(id) = leased.map_err(|trouble| trouble.to_string())? {
                    let store = self.clone();
                    return Ok(Box::new(StoredLease { store, row, id }) as Box<dyn LoginLease>);
                }
                sleep(LOCK_EVERY).await;
            }
        })
    }

    fn read<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<Option<String>, String>> {
        Box::pin(async move {
            let row = row(name);
            let sealed = self.table.read(&row).await;
            let sealed = sealed.map_err(|trouble| trouble.to_string())?;
            sealed.map(|sealed| self.open(&row, &sealed)).transpose()
        })
    }

    fn insert<'a>(&'a self, name: &'a LoginName, login: String) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let actor = AuditActor::in_browser(&name.principal);
            self.store(&actor, &row(name), login).await
        })
    }

    fn link<'a>(&'a self, name: &'a LoginName) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let secret = match self.known_link(name).await {
                Some(secret) => secret,
                None => self.new_link(name).await?,
            };
            Ok(format!("{}/logins/link/{secret}", self.url()))
        })
    }
}

/// A lease in the database, released on drop.
struct StoredLease {
    store: LoginStore,
    row: LoginRow,
    id: LoginLeaseId,
}

impl LoginLease for StoredLease {
    fn update(&self, login: String) -> BoxFuture<'_, Result<bool, String>> {
        Box::pin(async move {
            let sealed = self.store.seal(&self.row, login)?;
            let stored = self.store.table.update(&self.row, &sealed, self.id).await;
            stored.map_err(|trouble| trouble.to_string())
        })
    }
}

impl Drop for StoredLease {
    fn drop(&mut self) {
        let (table, row, id) = (self.store.table.clone(), self.row.clone(), self.id);
        // If this fails, the lease expires by itself.
        tokio::spawn(async move { table.release(&row, id).await });
    }
}

/// Binds a login to its user and server.
pub(crate) fn context(row: &LoginRow) -> String {
    format!("login of {} to {}", row.user, row.server)
}

fn row(name: &LoginName) -> LoginRow {
    LoginRow {
        user: Principal::clone(&name.principal),
        server: name.server.clone(),
    }
}

/// 256 random bits, for addresses and cookies.
pub(crate) fn random_text() -> Result<String, String> {
    let mut bytes = [0; SECRET];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What is stored of a secret.
pub(crate) fn hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret.as_bytes()))
}

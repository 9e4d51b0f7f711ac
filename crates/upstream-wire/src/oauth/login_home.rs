//! Where one login is kept: a file, or a vault.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::login_file::{Login, LoginFile, StoredLogin, document, read_document};
use super::vault::{LoginLease, LoginName, LoginVault};

/// The place of one login. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum LoginHome {
    File(LoginFile),
    Vault(Arc<dyn LoginVault>, LoginName),
}

/// Keeps other tasks and processes from renewing a login, until it is dropped.
pub(crate) enum LoginLock {
    File {
        file: LoginFile,
        _lock: Box<dyn Send + Sync>,
    },
    Vault(Box<dyn LoginLease>),
}

impl LoginLock {
    /// Stores the renewed login; `false` if the login ended or was replaced during the renewal.
    pub(crate) async fn update(&self, login: Login) -> io::Result<bool> {
        match self {
            LoginLock::File { file, .. } => file.blocking(|file| file.write(login)).await.map(|()| true),
            LoginLock::Vault(lease) => lease.update(document(login)?).await.map_err(io::Error::other),
        }
    }
}

impl LoginHome {
    pub(crate) async fn read(&self) -> io::Result<StoredLogin> {
        match self {
            LoginHome::File(file) => file.blocking(|file| file.read()).await,
            LoginHome::Vault(vault, name) => match vault.read(name).await.map_err(io::Error::other)? {
                None => Ok(StoredLogin::Nothing),
                Some(text) => Ok(match read_document(text.as_bytes()) {
                    Ok(login) => StoredLogin::Login(Box::new(login)),
                    Err(why) => StoredLogin::SetAside(format!("the stored login is not used, because {why}")),
                }),
            },
        }
    }

    pub(crate) async fn lock(&self) -> io::Result<LoginLock> {
        match self {
            LoginHome::File(file) => {
                let _lock = Box::new(file.blocking(|file| file.lock()).await?);
                Ok(LoginLock::File {
                    file: file.clone(),
                    _lock,
                })
            }
            LoginHome::Vault(vault, name) => {
                let lease = vault.lock(name).await.map_err(io::Error::other)?;
                Ok(LoginLock::Vault(lease))
            }
        }
    }

    /// Stores a new login.
    pub(crate) async fn insert(&self, login: Login) -> io::Result<()> {
        match self {
            LoginHome::File(file) => file.blocking(|file| file.write(login)).await,
            LoginHome::Vault(vault, name) => vault
                .insert(name, document(login)?)
                .await
                .map_err(io::Error::other),
        }
    }

    /// Whether the definition requires each user's own login, so that requests without one must not be sent.
    pub(crate) fn is_required(&self) -> bool {
        matches!(self, LoginHome::Vault(..))
    }

    /// The path of the login file.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            LoginHome::File(file) => Some(file.path()),
            LoginHome::Vault(..) => None,
        }
    }
}

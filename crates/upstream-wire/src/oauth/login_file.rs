//! Login files: one per server, readable only by its owner, replaced atomically.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::clock::now;
use crate::logs::file_name;

/// Files with another version are set aside.
const FORMAT: u32 = 1;
/// In bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// A token is renewed this many seconds before it expires.
const RENEWAL_MARGIN: u64 = 30;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Login {
    /// Address in the definition. The login counts for no other address.
    pub(crate) server: String,
    /// As the server spells it.
    pub(crate) resource: String,
    /// As the authorization server spells it.
    pub(crate) issuer: Option<String>,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) client: ClientIdentity,
    pub(crate) scopes: Vec<String>,
    /// Absent once the login has ended.
    pub(crate) tokens: Option<Tokens>,
}

/// Codeyard as a client of the authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ClientIdentity {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    /// Whether requests carry the secret in the body instead of a header.
    pub(crate) in_body: bool,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    /// Seconds since 1970.
    pub(crate) received_at: u64,
    /// Seconds since 1970; absent if the server named no end.
    pub(crate) expires_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct LoginDocument {
    format: u32,
    #[serde(flatten)]
    login: Login,
}

/// The state of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// There is a refresh token.
    Renewable,
    /// The access token expires at this time, in seconds since 1970. Without a time, the server decides.
    Until(Option<u64>),
    /// The login has ended.
    Ended,
}

#[derive(Debug)]
pub(crate) enum StoredLogin {
    Nothing,
    Login(Box<Login>),
    /// The file could not be trusted or read, and was renamed; holds a warning for people.
    SetAside(String),
}

#[derive(Debug, Clone)]
pub(crate) struct LoginFile {
    path: PathBuf,
}

/// The login as it is stored.
pub(super) fn document(login: Login) -> io::Result<String> {
    let format = FORMAT;
    Ok(serde_json::to_string_pretty(&LoginDocument { format, login })?)
}

/// Reads a stored login; the error completes "because".
pub(super) fn read_document(text: &[u8]) -> Result<Login, &'static str> {
    match serde_json::from_slice::<LoginDocument>(text) {
        Ok(LoginDocument { format, login }) if format == FORMAT => Ok(login),
        Ok(_) => Err("it was written by another version of codeyard"),
        Err(error) if error.is_eof() => Err("it is truncated"),
        Err(_) => Err("it is damaged"),
    }
}

// === impl Login ===

impl Login {
    /// A key that no authorization server knows.
    pub(super) fn of_key(server: &str, key: &str) -> Result<Login, String> {
        let is_usable = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_usable {
            return Err("must be visible ASCII characters without blanks".to_owned());
        }
        Ok(Login {
            server: server.to_owned(),
            resource: String::new(),
            issuer: None,
            token_endpoint: String::new(),
            revocation_endpoint: None,
            client: ClientIdentity {
                id: String::new(),
                secret: None,
                in_body: false,
            },
            scopes: Vec::new(),
            tokens: Some(Tokens {
                access: key.to_owned(),
                refresh: None,
                received_at: now(),
                expires_at: None,
            }),
        })
    }

    pub(crate) fn state(&self) -> LoginState {
        match &self.tokens {
            None => LoginState::Ended,
            Some(tokens) if tokens.refresh.is_some() => LoginState::Renewable,
            Some(tokens) if tokens.is_expired() => LoginState::Ended,
            Some(tokens) => LoginState::Until(tokens.expires_at),
        }
    }
}

// === impl Tokens ===

impl Tokens {
    pub(crate) fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|end| end <= now())
    }

    /// Whether the token should be renewed now.
    pub(crate) fn expires_soon(&self) -> bool {
        self.expires_at.is_some_and(|end| {
            let quarter = end.saturating_sub(self.received_at) / 4;
            end <= now() + quarter.min(RENEWAL_MARGIN)
        })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientIdentity")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

// === impl LoginFile ===

impl LoginFile {
    pub(crate) fn new(directory: &Path, server: &str) -> LoginFile {
        LoginFile {
            path: directory.join(format!("{}.json", file_name(server))),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames a file that is damaged, or that other users can read or own.
    pub(crate) fn read(&self) -> io::Result<StoredLogin> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(StoredLogin::Nothing),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return self.set_aside("it belongs to another user");
        }
        if metadata.mode() & 0o077 != 0 {
            return self.set_aside("others may read it");
        }
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text)?;
        match read_document(&text) {
            Ok(login) => Ok(StoredLogin::Login(Box::new(login))),
            Err(why) => self.set_aside(why),
        }
    }

    fn set_aside(&self, why: &str) -> io::Result<StoredLogin> {
        let aside = self.path.with_extension(format!("json.unusable-{}", now()));
        fs::rename(&self.path, &aside)?;
        let warning = format!(
            "the login in {} is not used, because {why}; it was renamed to {}",
            self.path.display(),
            aside.display()
        );
        tracing::warn!("{warning}");
        Ok(StoredLogin::SetAside(warning))
    }

    pub(crate) fn write(&self, login: Login) -> io::Result<()> {
        let directory = self.directory()?;
        // A temporary file is readable only by its owner.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(document(login)?.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// Returns whether the file existed.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        operation: impl FnOnce(LoginFile) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let file = self.clone();
        spawn_blocking(move || operation(file)).await?
    }

    /// Locks the login against other tasks and processes until the returned file is dropped.
    pub(crate) fn lock(&self) -> io::Result<File> {
        self.directory()?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(self.path.with_extension("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn directory(&self) -> io::Result<&Path> {
        let directory = self.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
        Ok(directory)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The token has this many seconds to live.
    pub(crate) fn login(seconds: u64, refresh: Option<&str>) -> Login {
        Login {
            server: "https://example.com/mcp".to_owned(),
            resource: "https://example.com".to_owned(),
            issuer: Some("https://as.example.com".to_owned()),
            token_endpoint: "https://as.example.com/token".to_owned(),
            revocation_endpoint: None,
            client: ClientIdentity {
                id: "us".to_owned(),
                secret: Some("s3cret-client".to_owned()),
                in_body: false,
            },
            scopes: Vec::new(),
            tokens: Some(Tokens {
                access: "s3cret-access".to_owned(),
                refresh: refresh.map(str::to_owned),
                received_at: now(),
                expires_at: Some(now() + seconds),
            }),
        }
    }

    #[test]
    fn a_login_is_kept_for_its_user_alone_and_shown_to_nobody() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = LoginFile::new(&directory.path().join("logins"), "a/b");
        assert!(matches!(file.read(), Ok(StoredLogin::Nothing)));
        assert!(!file.remove().expect("nothing to remove"));
        let login = login(3600, Some("s3cret-refresh"));
        file.write(login.clone()).expect("written");
        assert!(file.path.ends_with("logins/a%2fb.json"));
        for (path, mode) in [
            (&*file.path, 0o600),
            (file.path.parent().expect("a parent"), 0o700),
        ] {
            let found = fs::metadata(path).expect("there").permissions().mode();
            assert_eq!(found & 0o777, mode, "{}", path.display());
        }
        let Ok(StoredLogin::Login(read)) = file.read() else {
            panic!("no login");
        };
        assert_eq!(read.tokens, login.tokens);
        assert!(!format!("{read:?}").contains("s3cret"));
        assert!(file.remove().expect("removed"));
    }

    #[test]
    fn what_cannot_be_trusted_is_set_aside() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = LoginFile::new(directory.path(), "far");
        let whole = serde_json::to_string(&LoginDocument {
            format: FORMAT,
            login: login(60, None),
        })
        .expect("JSON");
        let check = |text: &str, mode: u32, why: &str| {
            fs::write(&file.path, text).expect("written");
            fs::set_permissions(&file.path, fs::Permissions::from_mode(mode)).expect("set");
            let Ok(StoredLogin::SetAside(warning)) = file.read() else {
                panic!("{text} was read");
            };
            assert!(
                warning.contains(why) && warning.contains("renamed to"),
                "{warning}"
            );
            assert!(!file.path.exists());
        };
        check(&whole[..whole.len() / 2], 0o600, "truncated");
        check("", 0o600, "truncated");
        check("[]", 0o600, "damaged");
        check(
            &whole.replace("\"format\":1", "\"format\":2"),
            0o600,
            "another version",
        );
        check(&whole, 0o644, "others may read it");
    }

    #[test]
    fn a_token_is_renewed_before_it_ends() {
        let check = |seconds, expires_soon| {
            let tokens = login(seconds, None).tokens.expect("tokens");
            assert_eq!(tokens.expires_soon(), expires_soon, "{seconds} s");
        };
        check(3600, false);
        check(0, true);
        // A token with a short life is used for three quarters of it.
        check(8, false);
        let mut tokens = login(60, None).tokens.expect("tokens");
        tokens.received_at = now() - 3600;
        assert!(!tokens.expires_soon());
        tokens.expires_at = Some(now() + 20);
        assert!(tokens.expires_soon() && !tokens.is_expired());
        assert_eq!(login(60, Some("x")).state(), LoginState::Renewable);
        assert_eq!(login(0, None).state(), LoginState::Ended);
    }
}

//! Logins at rest: one file for each server, that only its user may read, written whole or not at all.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::now;
use crate::config::Http;
use crate::logs::file_name;

/// Raised when the meaning of a field changes; files of other formats are set aside.
const FORMAT: u32 = 1;
/// Longer files are not ours.
const MAX_BYTES: u64 = 1024 * 1024;
/// A token that has less than this left is renewed.
const SOON: u64 = 30;

/// A login to one server: what it was given for, who we are there, and what lets us in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Login {
    /// The address of the server in its definition; a login counts for no other.
    pub(crate) server: String,
    /// What the tokens are for, in the letters of the server.
    pub(crate) resource: String,
    /// Who gave them, in its own letters.
    pub(crate) issuer: Option<String>,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) client: Identity,
    /// What the tokens allow.
    pub(crate) scopes: Vec<String>,
    /// Absent once the login has ended.
    pub(crate) tokens: Option<Tokens>,
}

/// Who we are to an authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    /// Whether the secret goes into the body of requests, not into a header.
    pub(crate) in_body: bool,
}

/// What an authorization server gave.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(crate) refresh: Option<String>,
    /// Seconds since 1970.
    pub(crate) received_at: u64,
    /// The same; absent if nothing was said of an end.
    pub(crate) expires_at: Option<u64>,
}

/// What stands in a file.
#[derive(Serialize, Deserialize)]
struct Written {
    format: u32,
    #[serde(flatten)]
    login: Login,
}

/// What a person may know of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is renewed when its token expires.
    Renewable,
    /// It ends then, in seconds since 1970, or by the word of the server where that is absent.
    Until(Option<u64>),
    /// It has ended.
    Ended,
}

/// What stands where a login is kept.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    Login(Box<Login>),
    /// What stood there could not be trusted or read; in words, where it is now.
    SetAside(String),
}

/// The file of one server's login.
#[derive(Debug, Clone)]
pub(crate) struct LoginFile {
    path: PathBuf,
}

/// What is kept of a login to the server of that name at that address below this directory; `None` without one.
pub fn state(directory: &Path, server: &str, http: &Http) -> Option<State> {
    match LoginFile::new(directory, server).read() {
        Ok(Found::Login(login)) if login.server == http.url => Some(login.state()),
        _ => None,
    }
}

// === impl Login ===

impl Login {
    fn state(&self) -> State {
        match &self.tokens {
            None => State::Ended,
            Some(tokens) if tokens.refresh.is_some() => State::Renewable,
            Some(tokens) if tokens.is_over() => State::Ended,
            Some(tokens) => State::Until(tokens.expires_at),
        }
    }
}

// === impl Tokens ===

impl Tokens {
    /// Whether the access token has expired.
    pub(crate) fn is_over(&self) -> bool {
        self.expires_at.is_some_and(|end| end <= now())
    }

    /// Whether it expires so soon that a request may come too late.
    pub(crate) fn ends_soon(&self) -> bool {
        self.expires_at.is_some_and(|end| {
            let quarter = end.saturating_sub(self.received_at) / 4;
            end <= now() + quarter.min(SOON)
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

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
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

    /// Reads the login. A file that is damaged, or that others may read or own, is set aside, so that nobody stumbles over
    /// it again and nothing is lost.
    pub(crate) fn read(&self) -> io::Result<Found> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(error),
        };
        let facts = file.metadata()?;
        if facts.uid() != rustix::process::geteuid().as_raw() {
            return self.set_aside("it belongs to another user");
        }
        if facts.mode() & 0o077 != 0 {
            return self.set_aside("others may read it");
        }
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text)?;
        match serde_json::from_slice::<Written>(&text) {
            Ok(Written { format, login }) if format == FORMAT => Ok(Found::Login(Box::new(login))),
            Ok(_) => self.set_aside("it is of another version of codeyard"),
            Err(error) if error.is_eof() => self.set_aside("it is cut short"),
            Err(_) => self.set_aside("it is damaged"),
        }
    }

    fn set_aside(&self, why: &str) -> io::Result<Found> {
        let aside = self.path.with_extension(format!("json.unusable-{}", now()));
        fs::rename(&self.path, &aside)?;
        let told = format!(
            "the login in {} is not used, because {why}; it was renamed to {}",
            self.path.display(),
            aside.display()
        );
        tracing::warn!("{told}");
        Ok(Found::SetAside(told))
    }

    /// Replaces the login, whole or not at all.
    pub(crate) fn write(&self, login: Login) -> io::Result<()> {
        let directory = self.directory()?;
        // Made for its owner alone.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        let format = FORMAT;
        file.write_all(&serde_json::to_vec_pretty(&Written { format, login })?)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }

    /// Removes the login; tells whether there was one.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until nobody else, here or in another process, changes the login, and keeps them out until the file is dropped.
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

    /// A login whose token has this many seconds to live.
    pub(crate) fn login(seconds: u64, refresh: Option<&str>) -> Login {
        Login {
            server: "https://example.com/mcp".to_owned(),
            resource: "https://example.com".to_owned(),
            issuer: Some("https://as.example.com".to_owned()),
            token_endpoint: "https://as.example.com/token".to_owned(),
            revocation_endpoint: None,
            client: Identity {
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
        assert!(matches!(file.read(), Ok(Found::Nothing)));
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
        let Ok(Found::Login(read)) = file.read() else {
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
        let whole = serde_json::to_string(&Written {
            format: FORMAT,
            login: login(60, None),
        })
        .expect("JSON");
        let check = |text: &str, mode: u32, why: &str| {
            fs::write(&file.path, text).expect("written");
            fs::set_permissions(&file.path, fs::Permissions::from_mode(mode)).expect("set");
            let Ok(Found::SetAside(told)) = file.read() else {
                panic!("{text} was read");
            };
            assert!(told.contains(why) && told.contains("renamed to"), "{told}");
            assert!(!file.path.exists());
        };
        check(&whole[..whole.len() / 2], 0o600, "cut short");
        check("", 0o600, "cut short");
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
        let check = |seconds, ends_soon| {
            let tokens = login(seconds, None).tokens.expect("tokens");
            assert_eq!(tokens.ends_soon(), ends_soon, "{seconds} s");
        };
        check(3600, false);
        check(0, true);
        // A short life is used for three quarters of it.
        check(8, false);
        let mut tokens = login(60, None).tokens.expect("tokens");
        tokens.received_at = now() - 3600;
        assert!(!tokens.ends_soon());
        tokens.expires_at = Some(now() + 20);
        assert!(tokens.ends_soon() && !tokens.is_over());
        assert_eq!(login(60, Some("x")).state(), State::Renewable);
        assert_eq!(login(0, None).state(), State::Ended);
    }
}

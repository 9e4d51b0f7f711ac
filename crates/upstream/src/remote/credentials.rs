//! What a server is told so that it lets us in: the headers of its definition, the token of a file, or that of a login.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use super::trouble::Trouble;
use crate::config::Http;
use crate::oauth::Access;

/// Headers that are ours to set.
const RESERVED: [&str; 11] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "transfer-encoding",
    "upgrade",
];
/// Prefix of the protocol's own headers.
const PROTOCOL: &str = "mcp-";
/// Longer files hold no token.
const MAX_TOKEN: u64 = 64 * 1024;

/// Checks one header of a definition; the message says what is wrong with it and never holds its value.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    let lower = name.to_ascii_lowercase();
    if HeaderName::from_bytes(lower.as_bytes()).is_err() {
        return Err("is no name of a header".to_owned());
    }
    if RESERVED.contains(&lower.as_str()) || lower.starts_with(PROTOCOL) {
        return Err("is set by codeyard itself; leave it out".to_owned());
    }
    if HeaderValue::from_str(value).is_err() {
        return Err("holds a line break or another character that no header may hold".to_owned());
    }
    Ok(())
}

/// The headers of a definition.
pub(crate) fn definition_headers(http: &Http) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &http.headers {
        // Checked with the definition.
        if let (Ok(name), Ok(mut value)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
    headers
}

/// The credentials of one definition.
#[derive(Debug)]
pub(super) struct Credentials {
    headers: HeaderMap,
    token_file: Option<PathBuf>,
    login: Option<Access>,
    /// Whether the last request was sent with a login.
    has_login: AtomicBool,
}

/// What one request is sent with.
pub(super) struct Sent {
    pub(super) headers: HeaderMap,
    /// The token of a login among them.
    login: Option<String>,
}

impl Credentials {
    /// Those of the definition; without any, those of a login, if there is a place for it.
    pub(super) fn new(http: &Http, login: Option<Access>) -> Credentials {
        Credentials {
            headers: definition_headers(http),
            token_file: http.bearer_token_file.clone(),
            login: login.filter(|_| http.takes_login()),
            has_login: AtomicBool::new(false),
        }
    }

    /// Whether the definition has none.
    pub(super) fn is_empty(&self) -> bool {
        self.token_file.is_none() && !self.headers.contains_key(AUTHORIZATION)
    }

    /// Whether the last request was sent with a login.
    pub(super) fn has_login(&self) -> bool {
        self.has_login.load(Ordering::Relaxed)
    }

    /// The headers of one request.
    pub(super) async fn current(&self) -> Result<Sent, Trouble> {
        let mut headers = self.headers.clone();
        if let Some(file) = self.token_file.clone() {
            let shown = file.display().to_string();
            let token = secret(file).await.and_then(|token| bearer(&token));
            let token = token.map_err(|why| Trouble::Barred(format!("the token file {shown}: {why}")))?;
            headers.insert(AUTHORIZATION, token);
        }
        let token = match &self.login {
            Some(login) => login.token().await?,
            None => None,
        };
        self.has_login.store(token.is_some(), Ordering::Relaxed);
        with_login(headers, token)
    }

    /// The headers of the same request once more, after the server has refused those; `None` if there are no better ones.
    pub(super) async fn better(&self, refused: &Sent) -> Result<Option<Sent>, Trouble> {
        let (Some(login), Some(token)) = (&self.login, &refused.login) else {
            return Ok(None);
        };
        match login.replace(token).await? {
            Some(token) => Ok(Some(with_login(refused.headers.clone(), Some(token))?)),
            None => Ok(None),
        }
    }
}

fn with_login(mut headers: HeaderMap, token: Option<String>) -> Result<Sent, Trouble> {
    if let Some(token) = &token {
        let token =
            bearer(token).map_err(|why| Trouble::Login(format!("its login cannot be used: {why}")))?;
        headers.insert(AUTHORIZATION, token);
    }
    Ok(Sent {
        headers,
        login: token,
    })
}

/// The secret in a file that only its user may read.
pub(crate) async fn secret(file: PathBuf) -> Result<String, String> {
    let read = tokio::task::spawn_blocking(move || secret_of(&file)).await;
    read.unwrap_or_else(|_panic| Err("it could not be read".to_owned()))
}

fn secret_of(file: &Path) -> Result<String, String> {
    let why = |error: io::Error| error.to_string();
    // A pipe would else be waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = rustix::fs::open(file, flags, Mode::empty()).map_err(|error| why(error.into()))?;
    let handle = File::from(handle);
    let facts = handle.metadata().map_err(why)?;
    if !facts.is_file() || facts.len() > MAX_TOKEN {
        return Err("it is no file with a token".to_owned());
    }
    if facts.uid() != geteuid().as_raw() {
        return Err("it belongs to another user, who may read and change it".to_owned());
    }
    if facts.permissions().mode() & 0o077 != 0 {
        return Err("others may read it; run `chmod 600` on it".to_owned());
    }
    let text = io::read_to_string(handle).map_err(why)?;
    let secret = text.trim();
    if secret.is_empty() {
        return Err("it is empty".to_owned());
    }
    Ok(secret.to_owned())
}

fn bearer(token: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| "it holds more than one line or no plain text".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use rustix::fs::FileType;

    use super::*;

    #[test]
    fn headers_that_are_ours_or_broken_are_refused() {
        assert_eq!(check_header("Authorization", "Bearer x"), Ok(()));
        assert_eq!(check_header("X-Api-Key", ""), Ok(()));
        for (name, value, expected) in [
            ("Host", "x", "codeyard itself"),
            ("Mcp-Session-Id", "x", "codeyard itself"),
            ("a b", "x", "no name"),
            ("", "x", "no name"),
            ("X", "s3cret\nY: z", "line break"),
        ] {
            let why = check_header(name, value).expect_err(name);
            assert!(why.contains(expected) && !why.contains("s3cret"), "{why}");
        }
    }

    #[test]
    fn a_token_is_read_only_from_a_file_of_its_own() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("token");
        let check = |content: &str, mode: u32, expected: &str| {
            // That before may be one that nobody can write to.
            let _ = std::fs::remove_file(&file);
            std::fs::write(&file, content).expect("written");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
            let found = match secret_of(&file).and_then(|token| bearer(&token)) {
                Ok(value) => value.to_str().expect("text").to_owned(),
                Err(why) => why,
            };
            assert!(found.contains(expected), "{found}");
        };
        check(" abc\n", 0o600, "Bearer abc");
        check("abc", 0o400, "Bearer abc");
        check("abc", 0o640, "others may read it");
        check("abc", 0o604, "others may read it");
        check("\n", 0o600, "it is empty");
        check("a\nb", 0o600, "more than one line");
        assert!(
            secret_of(directory.path())
                .expect_err("a directory")
                .contains("no file")
        );
        assert!(secret_of(&directory.path().join("none")).is_err());
        let pipe = directory.path().join("pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
        assert!(secret_of(&pipe).expect_err("a pipe").contains("no file"));
        if geteuid().is_root() {
            check("abc", 0o600, "Bearer abc");
            std::os::unix::fs::chown(&file, Some(12345), None).expect("given away");
            let why = secret_of(&file).expect_err("another's");
            assert!(why.contains("belongs to another user"), "{why}");
        }
    }
}

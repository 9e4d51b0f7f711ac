//! The credentials of requests: headers of the definition, a token file, or a login's token.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::error::RemoteError;
use crate::definition::Http;
use crate::headers::definition_headers;
use crate::oauth::AccessTokens;
use crate::secret_file;

#[derive(Debug)]
pub(super) struct Credentials {
    headers: HeaderMap,
    token_file: Option<PathBuf>,
    login: Option<AccessTokens>,
    has_login: AtomicBool,
}

pub(super) struct RequestCredentials {
    pub(super) headers: HeaderMap,
    login: Option<String>,
}

impl Credentials {
    /// The login is used only if the definition has no credentials.
    pub(super) fn new(http: &Http, login: Option<AccessTokens>) -> Credentials {
        Credentials {
            headers: definition_headers(http),
            token_file: http.bearer_token_file.clone(),
            login: login.filter(|_| http.takes_login()),
            has_login: AtomicBool::new(false),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.token_file.is_none() && !self.headers.contains_key(AUTHORIZATION)
    }

    pub(super) fn has_login(&self) -> bool {
        self.has_login.load(Ordering::Relaxed)
    }

    pub(super) async fn current(&self) -> Result<RequestCredentials, RemoteError> {
        let mut headers = self.headers.clone();
        if let Some(file) = self.token_file.clone() {
            let shown = file.display().to_string();
            let token = secret_file::read(file).await.and_then(|token| bearer(&token));
            let token =
                token.map_err(|why| RemoteError::Rejected(format!("the token file {shown}: {why}")))?;
            headers.insert(AUTHORIZATION, token);
        }
        let token = match &self.login {
            Some(login) => login.token().await?,
            None => None,
        };
        self.has_login.store(token.is_some(), Ordering::Relaxed);
        with_login(headers, token)
    }

    /// Ends the login of renewed credentials that the server refused as well.
    pub(super) async fn end(&self, refused: &RequestCredentials) -> Result<(), RemoteError> {
        match (&self.login, &refused.login) {
            (Some(login), Some(token)) => Ok(login.end(token).await?),
            _ => Ok(()),
        }
    }

    /// Whether the login is that of a user who logs in by a link.
    pub(super) fn are_of_user(&self) -> bool {
        self.login.as_ref().is_some_and(AccessTokens::is_of_user)
    }

    /// New headers after the server refused these credentials; `None` if there are no others.
    pub(super) async fn renewed(
        &self,
        refused: &RequestCredentials,
    ) -> Result<Option<RequestCredentials>, RemoteError> {
        let (Some(login), Some(token)) = (&self.login, &refused.login) else {
            return Ok(None);
        };
        match login.replace(token).await? {
            Some(token) => Ok(Some(with_login(refused.headers.clone(), Some(token))?)),
            None => Ok(None),
        }
    }
}

fn with_login(mut headers: HeaderMap, token: Option<String>) -> Result<RequestCredentials, RemoteError> {
    if let Some(token) = &token {
        let token = bearer(token)
            .map_err(|why| RemoteError::LoginRequired(format!("its login cannot be used: {why}")))?;
        headers.insert(AUTHORIZATION, token);
    }
    Ok(RequestCredentials {
        headers,
        login: token,
    })
}

fn bearer(token: &str) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| "it holds more than one line or no plain text".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{FileType, Mode};
    use rustix::process::geteuid;

    use super::*;
    use crate::secret_file::read_blocking;

    #[test]
    fn a_token_is_read_only_from_a_file_of_its_own() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("token");
        let check = |content: &str, mode: u32, expected: &str| {
            // The previous file may be read-only.
            let _ = std::fs::remove_file(&file);
            std::fs::write(&file, content).expect("written");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("set");
            let found = match read_blocking(&file).and_then(|token| bearer(&token)) {
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
            read_blocking(directory.path())
                .expect_err("a directory")
                .contains("not a file")
        );
        assert!(read_blocking(&directory.path().join("none")).is_err());
        let pipe = directory.path().join("pipe");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
        assert!(read_blocking(&pipe).expect_err("a pipe").contains("not a file"));
        if geteuid().is_root() {
            check("abc", 0o600, "Bearer abc");
            std::os::unix::fs::chown(&file, Some(12345), None).expect("given away");
            let why = read_blocking(&file).expect_err("another's");
            assert!(why.contains("belongs to another user"), "{why}");
        }
    }
}

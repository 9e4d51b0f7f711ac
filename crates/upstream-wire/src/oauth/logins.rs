//! Where the login files of one principal are.

use std::path::Path;
use std::sync::Arc;

use types::Principal;

use super::login_file::{LoginFile, LoginState, StoredLogin};
use crate::definition::Http;
use crate::logs::file_name;

/// Directory for everyone but the local principal. No login file has this name.
const OTHERS: &str = "of";

/// The logins of one principal to remote servers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Logins {
    principal: Arc<Principal>,
    directory: Arc<Path>,
}

impl Logins {
    /// The logins of `principal` in the directory of all logins. The local principal's files are directly in
    /// it.
    pub fn of(principal: &Principal, directory: &Path) -> Logins {
        let directory = match principal.is_local() {
            true => directory.to_owned(),
            false => directory.join(OTHERS).join(file_name(&principal.to_string())),
        };
        Logins {
            principal: Arc::new(principal.clone()),
            directory: directory.into(),
        }
    }

    /// Whether these are the logins of `principal`.
    pub fn belong_to(&self, principal: &Principal) -> bool {
        *self.principal == *principal
    }

    /// Whether there is a login file for the server. A file that cannot be examined counts as one.
    pub fn has_file(&self, server: &str) -> bool {
        self.file(server).path().try_exists().unwrap_or(true)
    }

    pub(crate) fn file(&self, server: &str) -> LoginFile {
        LoginFile::new(&self.directory, server)
    }
}

/// The login to a server at this address; `None` without a login.
pub fn state(logins: &Logins, server: &str, http: &Http) -> Option<LoginState> {
    match logins.file(server).read() {
        Ok(StoredLogin::Login(login)) if login.server == http.url => Some(login.state()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::oauth::login_file::tests::login;
    use crate::oauth::{LoggedOut, log_out};

    fn principal(tenant: &str, user: &str) -> Principal {
        Principal::new(tenant, user).expect("a principal")
    }

    #[tokio::test]
    async fn a_principal_uses_only_its_own_logins() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let principals = [
            Principal::local(),
            principal("acme", "ann"),
            principal("acme", "bob"),
        ];
        for owner in &principals {
            let own = Logins::of(owner, directory.path());
            own.file("far")
                .write(login(3600, Some("s3cret")))
                .expect("written");
            let http = Http {
                url: "https://example.com/mcp".to_owned(),
                ..Http::default()
            };
            for principal in &principals {
                let logins = Logins::of(principal, directory.path());
                let is_owner = principal == owner;
                assert_eq!(own.belong_to(principal), is_owner);
                assert_eq!(logins.has_file("far"), is_owner, "{principal}");
                let expected = is_owner.then_some(LoginState::Renewable);
                assert_eq!(state(&logins, "far", &http), expected, "{principal}");
                if !is_owner {
                    assert_eq!(log_out("far", &logins).await.ok(), Some(LoggedOut::Nothing));
                }
            }
            assert_eq!(log_out("far", &own).await.ok(), Some(LoggedOut::Forgotten));
        }
    }

    #[test]
    fn no_two_principals_share_a_path() {
        let directory = Path::new("logins");
        let tenants = ["local", "of", "acme", "a.b"];
        let users = [
            "",
            "local",
            "of",
            ".",
            "..",
            "a/b",
            "a%2fb",
            "acme/local",
            "far.json",
        ];
        let mut paths = HashSet::new();
        for (tenant, user) in tenants.iter().flat_map(|tenant| users.map(|user| (tenant, user))) {
            let logins = Logins::of(&principal(tenant, user), directory);
            for server in ["far", "of", "of/far", "../far"] {
                let path = logins.file(server).path().to_owned();
                let parts = path.components().count();
                assert_eq!(
                    parts,
                    if (*tenant, user) == ("local", "local") {
                        2
                    } else {
                        4
                    }
                );
                assert!(paths.insert(path), "{tenant}/{user}: {server}");
            }
        }
        let local = Logins::of(&Principal::local(), directory);
        assert_eq!(local.file("far").path(), Path::new("logins/far.json"));
        let other = Logins::of(&principal("acme", "ann"), directory);
        assert_eq!(
            other.file("far").path(),
            Path::new("logins/of/acme%2fann/far.json")
        );
    }
}

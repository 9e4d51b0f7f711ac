//! Where the login files of one principal are.

use std::path::Path;
use std::sync::Arc;

use types::Principal;

use super::login_file::{Login, LoginFile, LoginState, StoredLogin, document, read_document};
use super::login_home::LoginHome;
use super::vault::{LoginName, LoginVault};
use crate::definition::Http;
use crate::logs::file_name;

/// Directory for everyone but the local principal. No login file has this name.
const OTHERS: &str = "of";

/// The logins of one principal to remote servers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Logins {
    principal: Arc<Principal>,
    place: LoginsPlace,
}

#[derive(Debug, Clone)]
enum LoginsPlace {
    Directory(Arc<Path>),
    Vault(Arc<dyn LoginVault>),
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
            place: LoginsPlace::Directory(directory.into()),
        }
    }

    /// The logins of `principal` in a vault.
    pub fn in_vault(principal: &Principal, vault: Arc<dyn LoginVault>) -> Logins {
        Logins {
            principal: Arc::new(principal.clone()),
            place: LoginsPlace::Vault(vault),
        }
    }

    /// Whether these are the logins of `principal`.
    pub fn belong_to(&self, principal: &Principal) -> bool {
        *self.principal == *principal
    }

    /// Whether there is a login file for the server. A file that cannot be examined counts as one.
    pub fn has_file(&self, server: &str) -> bool {
        let file = self.file(server);
        file.is_some_and(|file| file.path().try_exists().unwrap_or(true))
    }

    /// The login file; `None` in a vault.
    pub(crate) fn file(&self, server: &str) -> Option<LoginFile> {
        match &self.place {
            LoginsPlace::Directory(directory) => Some(LoginFile::new(directory, server)),
            LoginsPlace::Vault(_) => None,
        }
    }

    pub(crate) fn home(&self, server: &str) -> LoginHome {
        match &self.place {
            LoginsPlace::Directory(directory) => LoginHome::File(LoginFile::new(directory, server)),
            LoginsPlace::Vault(vault) => {
                let name = LoginName {
                    principal: Principal::clone(&self.principal),
                    server: server.to_owned(),
                };
                LoginHome::Vault(Arc::clone(vault), name)
            }
        }
    }
}

/// The login to a server at this address; `None` without a login.
pub fn state(logins: &Logins, server: &str, http: &Http) -> Option<LoginState> {
    match logins.file(server)?.read() {
        Ok(StoredLogin::Login(login)) if login.server == http.url => Some(login.state()),
        _ => None,
    }
}

/// A personal API key as a login to the server at this address, for a vault. It is sent as a bearer token.
///
/// # Errors
/// Why the key cannot be sent in a header.
pub fn of_key(http: &Http, key: &str) -> Result<String, String> {
    let login = Login::of_key(&http.url, key)?;
    document(login).map_err(|error| error.to_string())
}

/// The same for a login in a vault.
///
/// # Errors
/// If the vault cannot be read.
pub async fn state_in_vault(
    vault: &dyn LoginVault,
    name: &LoginName,
    http: &Http,
) -> Result<Option<LoginState>, String> {
    let text = vault.read(name).await?;
    Ok(text.and_then(|text| state_of_text(&text, http)))
}

/// The state of a login as a vault stores it; `None` if it is for another address.
pub fn state_of_text(text: &str, http: &Http) -> Option<LoginState> {
    let login = read_document(text.as_bytes()).ok();
    let login = login.filter(|login| login.server == http.url);
    login.map(|login| login.state())
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
                .expect("a file")
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
                let path = logins.file(server).expect("a file").path().to_owned();
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
        assert_eq!(
            local.file("far").expect("a file").path(),
            Path::new("logins/far.json")
        );
        let other = Logins::of(&principal("acme", "ann"), directory);
        assert_eq!(
            other.file("far").expect("a file").path(),
            Path::new("logins/of/acme%2fann/far.json")
        );
    }
}

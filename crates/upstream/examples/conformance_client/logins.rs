//! Logs in as a person who runs the command in a message; the authorization server asks nothing.

use std::error::Error;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use serde::Deserialize;
use upstream_wire::oauth::{self, LoginRequest, Logins, RedirectListener};
use upstream_wire::{Http, HttpKind, OAuth};

/// Client id metadata document that the suite's authorization servers know.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Known {
    client_id: Option<String>,
    client_secret: Option<String>,
}

/// The suite's server as a definition.
pub(crate) fn http(url: String, known: &Known, directory: &Path) -> Result<Http, Box<dyn Error>> {
    let secret = match &known.client_secret {
        Some(secret) => Some(keep(directory, secret)?),
        None => None,
    };
    Ok(Http {
        url,
        kind: HttpKind::Streamable,
        oauth: OAuth {
            client_id: Some(known.client_id.clone().unwrap_or_else(|| DOCUMENT.to_owned())),
            client_secret_file: secret,
            scopes: Vec::new(),
        },
        ..Http::default()
    })
}

fn keep(directory: &Path, secret: &str) -> std::io::Result<PathBuf> {
    let file = directory.join("secret");
    std::fs::write(&file, secret)?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}

/// The scopes of the login command in a message; `None` if it names none.
pub(crate) fn advised(message: &str) -> Option<Vec<String>> {
    let (_, command) = message.split_once("`codeyard login ")?;
    let (command, _) = command.split_once('`')?;
    let scopes = command.split_once(" --scope ").map_or("", |(_, scopes)| scopes);
    let scopes = scopes.trim_matches('\'').split_whitespace();
    Some(scopes.map(str::to_owned).collect())
}

pub(crate) async fn log_in(
    name: &str,
    http: &Http,
    logins: &Logins,
    scopes: &[String],
) -> Result<(), Box<dyn Error>> {
    let listener = RedirectListener::bind(None).await?;
    let attempt = oauth::begin(LoginRequest {
        name,
        http,
        logins,
        redirect: listener.redirect(),
        scopes,
    })
    .await?;
    let browser = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let page = browser.get(attempt.url()).send().await?;
    let answer = page.headers().get(LOCATION).ok_or("no redirect")?;
    attempt.finish(answer.to_str()?).await?;
    Ok(())
}

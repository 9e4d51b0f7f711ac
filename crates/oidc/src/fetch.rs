//! Fetches an issuer's documents, with limits on their bytes and time.
//!
//! Redirects are refused.

use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use serde::Deserialize;
use tokio::sync::OnceCell;
use url::Url;

use crate::IssuerConfig;
use crate::key::{PublicKey, read_keys};

/// In bytes; the keys of large issuers take some tens of kilobytes.
const MAX_DOCUMENT: usize = 256 * 1024;

/// For one document, from the connection to its last byte.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The HTTP clients of all issuers, made on first use.
#[derive(Debug, Default)]
pub(crate) struct Fetcher {
    /// For addresses that the operator wrote.
    named: OnceCell<Client>,
    /// For addresses that an issuer wrote: their names may not lead into this machine's network.
    discovered: OnceCell<Client>,
}

/// Why an issuer's keys cannot be read; for the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("{url}: {why}")]
    Failed { url: String, why: String },
    #[error("{url}: it redirects{to}; redirects are not followed, so name the keys' address in `jwks_uri`")]
    Redirects { url: String, to: String },
    #[error("{url}: it answers with status {status}")]
    Status { url: String, status: u16 },
    #[error("{url}: the document has more than {MAX_DOCUMENT} bytes")]
    TooLarge { url: String },
    #[error("{url}: the document is not what it should be: {why}")]
    Wrong { url: String, why: String },
}

#[derive(Debug, Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

// === impl Fetcher ===

impl Fetcher {
    /// The keys that the issuer publishes now.
    pub(crate) async fn keys(&self, config: &IssuerConfig) -> Result<Vec<PublicKey>, FetchError> {
        let (url, is_named) = match &config.jwks_uri {
            Some(url) => (url.clone(), true),
            None => {
                let url = self.discover(config).await?;
                let is_named = host(&url) == host(&config.issuer);
                (url, is_named)
            }
        };
        let client = match is_named {
            true => self.named(&url).await?,
            false => self.discovered(&url).await?,
        };
        let document = get(client, &url).await?;
        let keys = read_keys(&document).filter(|keys| !keys.is_empty());
        keys.ok_or_else(|| wrong(&url, "it holds no key for signatures"))
    }

    /// The address of the keys, from the discovery document.
    async fn discover(&self, config: &IssuerConfig) -> Result<String, FetchError> {
        let [openid, oauth] = config.discovery();
        let client = self.named(&openid).await?;
        let (url, document) = match get(client, &openid).await {
            Err(FetchError::Status { status: 404, .. }) => {
                let document = get(client, &oauth).await?;
                (oauth, document)
            }
            answered => (openid, answered?),
        };
        let found: Result<Discovery, _> = serde_json::from_slice(&document);
        let found = found.map_err(|error| wrong(&url, &error.to_string()))?;
        if found.issuer != config.issuer {
            return Err(wrong(
                &url,
                "its `issuer` is not the URL in the settings, letter for letter",
            ));
        }
        let checked = upstream_wire::check_discovered_url(&config.issuer, &found.jwks_uri);
        checked.map_err(|error| wrong(&url, &format!("its `jwks_uri` {error}")))?;
        Ok(found.jwks_uri)
    }

    async fn named(&self, url: &str) -> Result<&Client, FetchError> {
        let made = self.named.get_or_try_init(upstream_wire::gateway_client).await;
        made.map_err(|why| failed(url, why))
    }

    async fn discovered(&self, url: &str) -> Result<&Client, FetchError> {
        let made = self
            .discovered
            .get_or_try_init(upstream_wire::public_client)
            .await;
        made.map_err(|why| failed(url, why))
    }
}

async fn get(client: &Client, url: &str) -> Result<Vec<u8>, FetchError> {
    let fetched = tokio::time::timeout(TIMEOUT, async {
        let sent = client.get(url).header("accept", "application/json").send().await;
        let response = sent.map_err(|error| failed(url, upstream_wire::describe_http_error(&error)))?;
        whole(response, url).await
    });
    let late = || failed(url, format!("it took longer than {} s", TIMEOUT.as_secs()));
    fetched.await.unwrap_or_else(|_| Err(late()))
}

async fn whole(mut response: Response, url: &str) -> Result<Vec<u8>, FetchError> {
    let status = response.status();
    if status.is_redirection() {
        let to = response.headers().get("location").and_then(|to| to.to_str().ok());
        let to = to
            .and_then(|to| Url::parse(to).ok())
            .map(|to| format!(" to {}", to.origin().ascii_serialization()));
        return Err(FetchError::Redirects {
            url: url.to_owned(),
            to: to.unwrap_or_default(),
        });
    }
    if status != StatusCode::OK {
        return Err(FetchError::Status {
            url: url.to_owned(),
            status: status.as_u16(),
        });
    }
    let mut document = Vec::new();
    loop {
        let piece = response.chunk().await;
        let piece = piece.map_err(|error| failed(url, upstream_wire::describe_http_error(&error)))?;
        let Some(piece) = piece else {
            return Ok(document);
        };
        if document.len() + piece.len() > MAX_DOCUMENT {
            return Err(FetchError::TooLarge { url: url.to_owned() });
        }
        document.extend_from_slice(&piece);
    }
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn failed(url: &str, why: String) -> FetchError {
    FetchError::Failed {
        url: url.to_owned(),
        why,
    }
}

fn wrong(url: &str, why: &str) -> FetchError {
    FetchError::Wrong {
        url: url.to_owned(),
        why: why.to_owned(),
    }
}

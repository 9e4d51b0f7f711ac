//! One login from its beginning to its end: who gives tokens, who we are there, what a person is asked, what it was worth.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Method, Request, StatusCode, Url};
use rmcp::model::ProtocolVersion;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig, OAuthHttpClient,
};
use serde_json::{Value, json};
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

use super::error::{LoginError, clean};
use super::fetch::Fetch;
use super::redirect::parameter;
use super::stored::{Found, Identity, Login, LoginFile};
use super::token;
use crate::config::{Http, HttpKind, OAuth};
use crate::handshake::client_info;
use crate::remote;

/// What we are called where we register.
const CLIENT_NAME: &str = "Codeyard";
/// What makes an authorization server give tokens that renew others.
const OFFLINE: &str = "offline_access";

/// A login that somebody wants.
#[derive(Debug)]
pub struct Wish<'a> {
    /// The server's name in the configuration.
    pub name: &'a str,
    /// The server.
    pub http: &'a Http,
    /// The directory of all logins.
    pub directory: &'a Path,
    /// Where the browser is sent with the answer.
    pub redirect: &'a str,
    /// What it is to allow beside what it allows now; if empty, what the server asks for.
    pub scopes: &'a [String],
}

/// A login that waits for a person.
pub struct Attempt {
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
    client: OAuthClientConfig,
    file: LoginFile,
    server: String,
    scopes: Vec<String>,
    url: Url,
}

/// What a login was worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// Who gave the tokens, in its own letters.
    pub issuer: Option<String>,
    /// What they allow, as far as that was said.
    pub scopes: Vec<String>,
    /// Seconds from now to their end; absent if nothing was said of one.
    pub lifetime: Option<u64>,
    /// Whether they are renewed by themselves.
    pub is_renewable: bool,
    /// Where the login is kept.
    pub file: PathBuf,
}

/// Finds out where one logs in to a server, and prepares the question to the person.
///
/// # Errors
/// Why nobody can log in there; nothing is kept then.
pub async fn begin(wish: Wish<'_>) -> Result<Attempt, LoginError> {
    let http = wish.http;
    let server = remote::parse(&http.url).map_err(|error| LoginError::Metadata(format!("`url` {error}")))?;
    let file = LoginFile::new(wish.directory, wish.name);
    let before = match file.read() {
        Ok(Found::Login(login)) if login.server == http.url => Some(*login),
        _ => None,
    };
    let fetch = Arc::new(Fetch::new(server.clone()));
    let challenge = challenge(&fetch, http, &server).await?;
    let client: Arc<dyn OAuthHttpClient> = Arc::clone(&fetch) as _;
    quietly(async {
        let mut manager = AuthorizationManager::new_with_oauth_http_client(server, client).await?;
        let found = manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await?;
        if !found.source.is_discovered() {
            return Err(LoginError::Unknown);
        }
        let metadata = found.metadata;
        check(&fetch, &metadata)?;
        manager.set_metadata(metadata.clone());
        let granted = before.map(|login| login.scopes);
        let scopes = scopes(&manager, &metadata, &http.oauth, wish.scopes, granted).await;
        let client = register(&mut manager, &metadata, &http.oauth, wish.redirect, &scopes).await?;
        let borrowed: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let url = manager.get_authorization_url(&borrowed).await?;
        let url = Url::parse(&url).map_err(AuthError::from)?;
        Ok(Attempt {
            manager,
            metadata,
            client,
            file,
            server: http.url.clone(),
            scopes,
            url,
        })
    })
    .await
}

/// Drops what the library logs: it writes down codes and what comes with tokens.
async fn quietly<T>(work: impl Future<Output = T>) -> T {
    work.with_subscriber(NoSubscriber::default()).await
}

/// What the server says to somebody without a token.
async fn challenge(fetch: &Fetch, http: &Http, server: &Url) -> Result<Option<String>, LoginError> {
    let mut request = if http.kind == HttpKind::Sse {
        Request::new(Method::GET, server.clone())
    } else {
        let mut request = Request::new(Method::POST, server.clone());
        *request.body_mut() = Some(greeting().to_string().into());
        request
    };
    *request.headers_mut() = headers(http);
    let answer = fetch
        .send(request)
        .await
        .map_err(|cause| LoginError::Metadata(format!("it cannot be asked: {cause}")))?;
    if answer.status() != StatusCode::UNAUTHORIZED {
        return Ok(None);
    }
    let challenges = answer.headers().get_all(WWW_AUTHENTICATE).iter();
    let challenges: Vec<&str> = challenges.filter_map(|value| value.to_str().ok()).collect();
    Ok((!challenges.is_empty()).then(|| challenges.join(", ")))
}

fn greeting() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": ProtocolVersion::V_2026_07_28,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}})
}

fn headers(http: &Http) -> HeaderMap {
    let mut headers = remote::definition_headers(http);
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("application/json, text/event-stream"),
    );
    if http.kind != HttpKind::Sse {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("mcp-method", HeaderValue::from_static("server/discover"));
        if let Ok(version) = HeaderValue::from_str(ProtocolVersion::V_2026_07_28.as_str()) {
            headers.insert("mcp-protocol-version", version);
        }
    }
    headers
}

/// Whether a login at this authorization server can be made safely.
fn check(fetch: &Fetch, metadata: &AuthorizationMetadata) -> Result<(), LoginError> {
    let methods = metadata.code_challenge_methods_supported.as_ref();
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(LoginError::NoPkce);
    }
    // The others are checked when they are asked; this one is opened by a person.
    let authorize = Url::parse(&metadata.authorization_endpoint).map_err(AuthError::from)?;
    fetch.may_ask(&authorize).map_err(LoginError::Metadata)
}

/// What to ask for.
async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    oauth: &OAuth,
    wished: &[String],
    granted: Option<Vec<String>>,
) -> Vec<String> {
    let mut scopes = oauth.scopes.clone();
    if !wished.is_empty() {
        scopes.extend(granted.unwrap_or_default());
        scopes.extend_from_slice(wished);
    }
    if scopes.is_empty() {
        return manager.select_initial_scopes(&[]).await;
    }
    let supported = metadata.scopes_supported.iter().flatten();
    scopes.extend(supported.filter(|scope| *scope == OFFLINE).cloned());
    let mut seen = std::collections::HashSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

/// Who we are there: known by a document of ours, known before, or registered now.
async fn register(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    oauth: &OAuth,
    redirect: &str,
    scopes: &[String],
) -> Result<OAuthClientConfig, LoginError> {
    let is_document = |id: &str| id.starts_with("https://");
    let takes_documents = metadata
        .additional_fields
        .get("client_id_metadata_document_supported")
        == Some(&Value::Bool(true));
    let known = oauth
        .client_id
        .as_deref()
        .filter(|id| takes_documents || !is_document(id));
    let Some(id) = known else {
        let borrowed: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let registered = manager.register_client(CLIENT_NAME, redirect, &borrowed);
        return Ok(registered.await?);
    };
    let mut client = OAuthClientConfig::new(id, redirect);
    if let Some(file) = oauth.client_secret_file.clone() {
        let secret = remote::secret(file).await.map_err(LoginError::Unregistered)?;
        client = client.with_client_secret(secret);
    }
    manager.configure_client(client.clone())?;
    Ok(client)
}

// === impl Attempt ===

impl Attempt {
    /// The address that a person opens.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// What the answer must carry.
    pub fn state(&self) -> String {
        parameter(&self.url, "state").unwrap_or_default()
    }

    /// Takes the address to which the browser was sent, exchanges what it carries, and keeps the login.
    ///
    /// # Errors
    /// Why there is no login; an older one stays as it was.
    pub async fn finish(self, answer: &str) -> Result<LoggedIn, LoginError> {
        let answer = Url::parse(answer.trim()).map_err(|_| LoginError::NoAddress)?;
        let state = self.state();
        if parameter(&answer, "state").as_deref() != Some(&state) {
            return Err(LoginError::State);
        }
        let code = self.code(&answer)?;
        let issuer = parameter(&answer, "iss");
        let manager = &self.manager;
        let exchange = manager.exchange_code_for_token_with_issuer(&code, &state, issuer.as_deref());
        let response = quietly(exchange).await?;
        let response = serde_json::to_value(response).unwrap_or_default();
        let granted = token::read(&response).map_err(LoginError::NoToken)?;
        let tokens = granted.tokens;
        let scopes = granted.scopes.unwrap_or(self.scopes.clone());
        let logged_in = LoggedIn {
            issuer: self.metadata.issuer.clone(),
            scopes: scopes.clone(),
            lifetime: tokens
                .expires_at
                .map(|end| end.saturating_sub(tokens.received_at)),
            is_renewable: tokens.refresh.is_some(),
            file: self.file.path().to_owned(),
        };
        let login = self.login(scopes, tokens);
        let file = self.file;
        let kept = tokio::task::spawn_blocking(move || {
            let _lock = file.lock()?;
            file.write(login)
        });
        kept.await
            .map_err(std::io::Error::other)
            .and_then(|kept| kept)
            .map_err(|error| LoginError::Unkept(error.to_string()))?;
        Ok(logged_in)
    }

    fn code(&self, answer: &Url) -> Result<String, LoginError> {
        if let Some(error) = parameter(answer, "error") {
            let expected = self.metadata.issuer.as_deref();
            let issuer = parameter(answer, "iss");
            if let Some(issuer) = issuer.filter(|issuer| Some(issuer.as_str()) != expected) {
                return Err(LoginError::Issuer(clean(&issuer)));
            }
            let description = parameter(answer, "error_description");
            let told = description.map_or_else(|| error.clone(), |words| format!("{error}: {words}"));
            return Err(LoginError::Refused(clean(&told)));
        }
        parameter(answer, "code")
            .filter(|code| !code.is_empty())
            .ok_or_else(|| LoginError::Refused("its answer holds no code".to_owned()))
    }

    fn login(&self, scopes: Vec<String>, tokens: super::stored::Tokens) -> Login {
        let field = |name: &str| self.metadata.additional_fields.get(name);
        let methods = field("token_endpoint_auth_methods_supported").and_then(Value::as_array);
        let takes = |method: &str| methods.is_some_and(|methods| methods.iter().any(|known| known == method));
        Login {
            server: self.server.clone(),
            resource: parameter(&self.url, "resource").unwrap_or_default(),
            issuer: self.metadata.issuer.clone(),
            token_endpoint: self.metadata.token_endpoint.clone(),
            revocation_endpoint: field("revocation_endpoint")
                .and_then(Value::as_str)
                .map(str::to_owned),
            client: Identity {
                id: self.client.client_id.clone(),
                secret: self.client.client_secret.clone(),
                in_body: takes("client_secret_post") && !takes("client_secret_basic"),
            },
            scopes,
            tokens: Some(tokens),
        }
    }
}

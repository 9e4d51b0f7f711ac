//! One login: finds the authorization server, registers Codeyard, asks a person, and exchanges the code for tokens.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Method, Request, StatusCode, Url};
use rmcp::model::ProtocolVersion;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, InMemoryStateStore, OAuthClientConfig,
    OAuthHttpClient, StateStore as _, StoredAuthorizationState,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

use super::error::{LoginError, clean};
use super::fetch::Fetch;
use super::login_file::{ClientIdentity, Login, StoredLogin};
use super::login_home::LoginHome;
use super::logins::Logins;
use super::redirect::parameter;
use super::token;
use crate::definition::{Http, HttpKind, OAuth};
use crate::handshake::discover;
use crate::headers;
use crate::http_client::address;
use crate::secret_file;

const CLIENT_NAME: &str = "Codeyard";
/// Authorization servers issue refresh tokens for this scope.
const OFFLINE: &str = "offline_access";

/// A login to be made.
#[derive(Debug)]
pub struct LoginRequest<'a> {
    /// Name in the configuration.
    pub name: &'a str,
    /// The definition of the server.
    pub http: &'a Http,
    /// The principal's logins.
    pub logins: &'a Logins,
    /// Address to which the browser is redirected.
    pub redirect: &'a str,
    /// Scopes in addition to those of the current login; if empty, those that the server asks for.
    pub scopes: &'a [String],
}

/// A login that waits for a person.
pub struct PendingLogin {
    manager: AuthorizationManager,
    states: InMemoryStateStore,
    metadata: AuthorizationMetadata,
    client: OAuthClientConfig,
    home: LoginHome,
    server: String,
    scopes: Vec<String>,
    url: Url,
}

/// What another process needs to end a login. Holds secrets.
#[derive(Serialize, Deserialize)]
struct SavedLogin {
    state: StoredAuthorizationState,
    metadata: AuthorizationMetadata,
    client_id: String,
    client_secret: Option<String>,
    redirect: String,
    scopes: Vec<String>,
    url: Url,
}

/// The result of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// As the authorization server spells it.
    pub issuer: Option<String>,
    /// Granted scopes.
    pub scopes: Vec<String>,
    /// Seconds until the access token expires; absent if the server named no end.
    pub lifetime: Option<u64>,
    /// Whether there is a refresh token.
    pub is_renewable: bool,
    /// Path of the login file; `None` if the login is kept elsewhere.
    pub file: Option<PathBuf>,
}

/// Finds the authorization server and prepares the address that a person opens.
///
/// # Errors
/// If no login is possible; then no file is written.
pub async fn begin(request: LoginRequest<'_>) -> Result<PendingLogin, LoginError> {
    let http = request.http;
    let server = address::parse(&http.url).map_err(|error| LoginError::Metadata(format!("`url` {error}")))?;
    let home = request.logins.home(request.name);
    let before = match home.read().await {
        Ok(StoredLogin::Login(login)) if login.server == http.url => Some(*login),
        _ => None,
    };
    let fetch = Arc::new(Fetch::new(server.clone()));
    let challenge = challenge(&fetch, http, &server).await?;
    let client: Arc<dyn OAuthHttpClient> = Arc::clone(&fetch) as _;
    quietly(async {
        let mut manager = AuthorizationManager::new_with_oauth_http_client(server, client).await?;
        let states = InMemoryStateStore::new();
        manager.set_state_store(states.clone());
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
        let scopes = scopes(&manager, &metadata, &http.oauth, request.scopes, granted).await;
        let client = register(&mut manager, &metadata, &http.oauth, request.redirect, &scopes).await?;
        let borrowed: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let url = manager.get_authorization_url(&borrowed).await?;
        let url = Url::parse(&url).map_err(AuthError::from)?;
        Ok(PendingLogin {
            manager,
            states,
            metadata,
            client,
            home,
            server: http.url.clone(),
            scopes,
            url,
        })
    })
    .await
}

/// Prepares the end of a login that [`PendingLogin::save`] has saved. Asks the server again where tokens come from, and
/// uses the addresses and the client of the beginning.
///
/// # Errors
/// If the text is damaged, or the server cannot be asked.
pub async fn resume(request: LoginRequest<'_>, saved: &str) -> Result<PendingLogin, LoginError> {
    let saved: SavedLogin =
        serde_json::from_str(saved).map_err(|_| LoginError::Unkept("it is damaged".to_owned()))?;
    let http = request.http;
    let server = address::parse(&http.url).map_err(|error| LoginError::Metadata(format!("`url` {error}")))?;
    let fetch = Arc::new(Fetch::new(server.clone()));
    let challenge = challenge(&fetch, http, &server).await?;
    let client: Arc<dyn OAuthHttpClient> = Arc::clone(&fetch) as _;
    quietly(async {
        let mut manager = AuthorizationManager::new_with_oauth_http_client(server, client).await?;
        // For the resource, which the token request names.
        manager
            .resolve_metadata_from_challenge(challenge.as_deref())
            .await?;
        manager.set_metadata(saved.metadata.clone());
        let mut client = OAuthClientConfig::new(saved.client_id, saved.redirect);
        if let Some(secret) = saved.client_secret {
            client = client.with_client_secret(secret);
        }
        manager.configure_client(client.clone())?;
        let states = InMemoryStateStore::new();
        states.save(&saved.state.csrf_token.clone(), saved.state).await?;
        manager.set_state_store(states.clone());
        Ok(PendingLogin {
            manager,
            states,
            metadata: saved.metadata,
            client,
            home: request.logins.home(request.name),
            server: http.url.clone(),
            scopes: saved.scopes,
            url: saved.url,
        })
    })
    .await
}

/// `rmcp` logs codes and the fields beside tokens, so its logs are dropped.
async fn quietly<T>(work: impl Future<Output = T>) -> T {
    work.with_subscriber(NoSubscriber::default()).await
}

/// The server's challenge to a request without a token.
async fn challenge(fetch: &Fetch, http: &Http, server: &Url) -> Result<Option<String>, LoginError> {
    let mut request = if http.kind == HttpKind::Sse {
        Request::new(Method::GET, server.clone())
    } else {
        let mut request = Request::new(Method::POST, server.clone());
        *request.body_mut() = Some(discover(1, &json!({})).to_string().into());
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

fn headers(http: &Http) -> HeaderMap {
    let mut headers = headers::definition_headers(http);
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

fn check(fetch: &Fetch, metadata: &AuthorizationMetadata) -> Result<(), LoginError> {
    let methods = metadata.code_challenge_methods_supported.as_ref();
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        return Err(LoginError::NoPkce);
    }
    // `Fetch` checks the other addresses; a person opens this one.
    let authorize = Url::parse(&metadata.authorization_endpoint).map_err(AuthError::from)?;
    fetch.may_ask(&authorize).map_err(LoginError::Metadata)
}

async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    oauth: &OAuth,
    requested: &[String],
    granted: Option<Vec<String>>,
) -> Vec<String> {
    let mut scopes = oauth.scopes.clone();
    if !requested.is_empty() {
        scopes.extend(granted.unwrap_or_default());
        scopes.extend_from_slice(requested);
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

/// The client is configured by id or metadata document, or registered now.
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
        let secret = secret_file::read(file).await.map_err(LoginError::Unregistered)?;
        client = client.with_client_secret(secret);
    }
    manager.configure_client(client.clone())?;
    Ok(client)
}

// === impl PendingLogin ===

impl PendingLogin {
    /// Address that a person opens.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The `state` that the redirect must carry.
    pub fn state(&self) -> String {
        parameter(&self.url, "state").unwrap_or_default()
    }

    /// The login as a text with secrets, for [`resume`] in any process.
    ///
    /// # Errors
    /// If the login has ended already.
    pub async fn save(&self) -> Result<String, LoginError> {
        let state = self.states.load(&self.state()).await?;
        let saved = SavedLogin {
            state: state.ok_or(LoginError::State)?,
            metadata: self.metadata.clone(),
            client_id: self.client.client_id.clone(),
            client_secret: self.client.client_secret.clone(),
            redirect: self.client.redirect_uri.clone(),
            scopes: self.scopes.clone(),
            url: self.url.clone(),
        };
        serde_json::to_string(&saved).map_err(|error| LoginError::Unkept(error.to_string()))
    }

    /// Reads the redirected browser's address, exchanges the code, and writes the login file.
    ///
    /// # Errors
    /// If the login fails; an older login stays unchanged.
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
            file: self.home.path().map(Path::to_owned),
        };
        let login = self.login(scopes, tokens);
        let unkept = |error: io::Error| LoginError::Unkept(error.to_string());
        let _lock = self.home.lock().await.map_err(unkept)?;
        self.home.insert(login).await.map_err(unkept)?;
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
            let message = description.map_or_else(|| error.clone(), |text| format!("{error}: {text}"));
            return Err(LoginError::Refused(clean(&message)));
        }
        parameter(answer, "code")
            .filter(|code| !code.is_empty())
            .ok_or_else(|| LoginError::Refused("its answer holds no code".to_owned()))
    }

    fn login(&self, scopes: Vec<String>, tokens: super::login_file::Tokens) -> Login {
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
            client: ClientIdentity {
                id: self.client.client_id.clone(),
                secret: self.client.client_secret.clone(),
                in_body: takes("client_secret_post") && !takes("client_secret_basic"),
            },
            scopes,
            tokens: Some(tokens),
        }
    }
}

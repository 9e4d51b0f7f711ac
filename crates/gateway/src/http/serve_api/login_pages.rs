//! Pages on which a user's browser begins and ends a login to an upstream server.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE,
};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use identity::Route;
use rest::RestError;

use super::refusal::{self, ApiRefusal};
use super::serving::ApiService;
use super::sign_out::{TIMEOUT, permit, read_form};
use crate::http::api::ApiReply;
use crate::http::login_page::{LoginPage, LoginVisit, LoginWay};

/// The cookie of a browser that has begun a login.
const NAME: &str = "codeyard-login";
/// The pages load and run nothing, and cannot be framed. There is no `form-action`, because browsers would also apply it
/// to the redirect to the issuer.
const CONTENT: &str = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";

impl ApiService {
    pub(super) async fn login_page(
        &self,
        route: Route,
        secret: &str,
        (head, body): (&Parts, Body),
        url: Option<String>,
    ) -> Result<Response, ApiRefusal> {
        let way = match route {
            Route::LoginStart => LoginWay::Begin,
            Route::LoginCallback => LoginWay::Callback,
            _ => LoginWay::Show,
        };
        let cookie = cookie(head);
        let token = match way {
            LoginWay::Begin => token(head, body).await?,
            LoginWay::Show | LoginWay::Callback => String::new(),
        };
        let busy = "too many browsers log in at once; reload the page";
        let _permit = permit(&self.login_pages, TIMEOUT, busy).await?;
        let visit = LoginVisit {
            way,
            secret,
            query: head.uri.query().unwrap_or_default(),
            token: &token,
            cookie: cookie.as_deref(),
        };
        Ok(response(
            self.api.visit_login(visit).await,
            secure(url.as_deref()),
        ))
    }
}

/// The token in the form. Every browser names the origin of a form, and a foreign origin was refused before; so another
/// site cannot begin a login in somebody's browser.
async fn token(head: &Parts, body: Body) -> Result<String, ApiRefusal> {
    if !head.headers.contains_key(ORIGIN) {
        let why = "send the form from a browser, which names its `Origin`";
        return Err(RestError::BadRequest(why.to_owned()).into());
    }
    let form = read_form(&head.headers, body).await?;
    let mut fields = url::form_urlencoded::parse(&form);
    let token = fields.find(|(name, _)| name == "token");
    Ok(token.map(|(_, token)| token.into_owned()).unwrap_or_default())
}

fn cookie(head: &Parts) -> Option<String> {
    let lines = head.headers.get_all(COOKIE).iter();
    let mut pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'));
    let found = pairs.find_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='));
    found.map(str::to_owned)
}

/// The cookie's attribute, unless the browser reaches the page without encryption.
fn secure(url: Option<&str>) -> &'static str {
    match url {
        Some(url) if url.starts_with("http:") => "",
        _ => "; Secure",
    }
}

fn response(page: LoginPage, secure: &str) -> Response {
    let mut response = match page {
        LoginPage::Page { status, html } => refusal::reply(ApiReply::html(status, html)),
        LoginPage::Redirect { url, cookie } => {
            let cookie =
                format!("{NAME}={cookie}; HttpOnly; SameSite=Lax; Path=/logins; Max-Age=600{secure}");
            match (HeaderValue::from_str(&url), HeaderValue::from_str(&cookie)) {
                (Ok(url), Ok(cookie)) => {
                    let mut response = StatusCode::SEE_OTHER.into_response();
                    response.headers_mut().insert(LOCATION, url);
                    response.headers_mut().insert(SET_COOKIE, cookie);
                    response
                }
                _ => StatusCode::BAD_GATEWAY.into_response(),
            }
        }
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // With `no-referrer` browsers send no origin with the form.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

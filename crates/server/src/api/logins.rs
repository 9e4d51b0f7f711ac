//! Pages by which a user's browser logs in at an upstream server.
//!
//! ```text
//! GET link ─► page that asks for the user's token ─► POST (uses the link up, sets a cookie) ─► authorization server
//!                                                                  GET callback (same browser) ◄─┘
//! ```
//!
//! INVARIANT: a login is stored only for the user whose token came with the POST, and only from the browser of the POST.
//! So a stolen link, state or code gains nothing.

mod stored;

use std::sync::Arc;
use std::time::Duration;

use gateway::{LoginPage, LoginVisit, LoginWay};
use identity::{Identity, Permission};
use store::logins::{BegunLogin, LoginRow};
use subtle::ConstantTimeEq as _;
use types::Principal;
use upstream_wire::Http;
use upstream_wire::oauth::{self, LoginRequest, Logins};

use super::GatewayApi;
use crate::user_logins::{hash, random_text};

/// Path to which authorization servers redirect.
const CALLBACK: &str = "/logins/callback";

/// Interval at which connections of users without a login end.
const FOLLOWING: Duration = Duration::from_secs(2);

impl GatewayApi {
    pub(super) async fn browser_login(&self, visit: LoginVisit<'_>) -> LoginPage {
        let page = match visit.way {
            LoginWay::Show => self.show_link(visit.secret).await,
            LoginWay::Begin => self.begin_login(&visit).await,
            LoginWay::Callback => self.finish_login(&visit).await,
        };
        page.unwrap_or_else(|why| {
            LoginPage::told(
                502,
                &format!("The login failed: {why}. Call the tool again for a new link."),
            )
        })
    }

    async fn show_link(&self, secret: &str) -> Result<LoginPage, String> {
        Ok(match self.linked(secret).await? {
            Some(row) => LoginPage::ask(row.user.user().as_str(), &row.server),
            None => expired(),
        })
    }

    async fn linked(&self, secret: &str) -> Result<Option<LoginRow>, String> {
        let linked = self.parts.logins.table.link(&hash(secret)).await;
        linked.map_err(|trouble| trouble.to_string())
    }

    async fn begin_login(&self, visit: &LoginVisit<'_>) -> Result<LoginPage, String> {
        let Some(row) = self.linked(visit.secret).await? else {
            return Ok(expired());
        };
        let identity = self.identity_of(visit.token.trim()).await;
        let identity = identity.map_err(|error| error.to_string())?;
        if !identity.is_some_and(|identity| is_of_user(&identity, &row.user)) {
            let why = format!(
                "The token is not a valid token of {}. Nothing was done; go back to try again.",
                row.user.user()
            );
            return Ok(LoginPage::told(403, &why));
        }
        let table = &self.parts.logins.table;
        let used = table.use_link(&hash(visit.secret)).await;
        if !used.map_err(|trouble| trouble.to_string())? {
            return Ok(expired());
        }
        self.send_to_server(row).await
    }

    async fn send_to_server(&self, row: LoginRow) -> Result<LoginPage, String> {
        let logins = &self.parts.logins;
        let (http, own, redirect) = self.login_at(&row)?;
        let begun = oauth::begin(LoginRequest {
            name: &row.server,
            http: &http,
            logins: &own,
            redirect: &redirect,
            scopes: &[],
        });
        let login = begun.await.map_err(|error| error.to_string())?;
        let cookie = random_text()?;
        let saved = login.save().await.map_err(|error| error.to_string())?;
        let begun = BegunLogin {
            browser: hash(&cookie),
            sealed: logins.seal(&row, saved)?,
            row,
        };
        let noted = logins.table.begin(&hash(&login.state()), &begun).await;
        noted.map_err(|trouble| trouble.to_string())?;
        let url = login.url().to_owned();
        Ok(LoginPage::Redirect { url, cookie })
    }

    async fn finish_login(&self, visit: &LoginVisit<'_>) -> Result<LoginPage, String> {
        let Some(begun) = self.begun_by(visit).await? else {
            let why = "This is not the end of a login that this browser began here. Nothing was stored. \
                Call the tool again for a new link.";
            return Ok(LoginPage::told(400, why));
        };
        let (begun, taken) = begun;
        let row = &begun.row;
        let (http, _, redirect) = self.login_at(row)?;
        let own = Logins::in_vault(&row.user, Arc::new(self.parts.logins.of_begun(&taken)));
        let request = LoginRequest {
            name: &row.server,
            http: &http,
            logins: &own,
            redirect: &redirect,
            scopes: &[],
        };
        let saved = self.parts.logins.open(row, &begun.sealed)?;
        let login = oauth::resume(request, &saved).await;
        let login = login.map_err(|error| error.to_string())?;
        let finished = login.finish(&format!("{redirect}?{}", visit.query)).await;
        finished.map_err(|error| error.to_string())?;
        let done = format!(
            "{} is logged in at {}. You can close this page; the next call uses the login.",
            row.user.user(),
            row.server
        );
        Ok(LoginPage::told(200, &done))
    }

    /// Claims the login that this browser began, and returns it with its new hash. A visit of another browser claims
    /// nothing.
    async fn begun_by(&self, visit: &LoginVisit<'_>) -> Result<Option<(BegunLogin, String)>, String> {
        let mut pairs = url::form_urlencoded::parse(visit.query.as_bytes());
        let state = pairs.find(|(name, _)| name == "state");
        let (Some((_, state)), Some(cookie)) = (state, visit.cookie) else {
            return Ok(None);
        };
        let (state, table) = (hash(&state), &self.parts.logins.table);
        let found = table.begun(&state).await.map_err(|trouble| trouble.to_string())?;
        let browser = hash(cookie);
        let is_same = |begun: &BegunLogin| begun.browser.as_bytes().ct_eq(browser.as_bytes()).into();
        let Some(begun) = found.filter(is_same) else {
            return Ok(None);
        };
        let new_hash = hash(&random_text()?);
        let taken = table.take_begun(&state, &new_hash).await;
        let is_taken = taken.map_err(|trouble| trouble.to_string())?;
        Ok(is_taken.then_some((begun, new_hash)))
    }

    /// The definition, the user's logins, and the address of the callback.
    fn login_at(&self, row: &LoginRow) -> Result<(Http, Logins, String), String> {
        let http = self.parts.host.shared.hub.user_login(&row.server);
        let http = http.ok_or_else(|| format!("'{}' is not a server with logins of users", row.server))?;
        let logins = &self.parts.logins;
        let own = Logins::in_vault(&row.user, Arc::new(logins.clone()));
        Ok((http, own, format!("{}{CALLBACK}", logins.url())))
    }

    /// Ends connections of users without a login. Never returns.
    pub(super) async fn follow_logins(&self) {
        loop {
            tokio::time::sleep(FOLLOWING).await;
            self.parts.host.shared.hub.end_logged_out().await;
        }
    }
}

/// Whether the token is one of the user's with which the user could make the call.
fn is_of_user(identity: &Identity, user: &Principal) -> bool {
    identity.principal() == user
        && identity.may(Permission::ServersUse).is_ok()
        && identity.is_for_path(CALLBACK)
}

fn expired() -> LoginPage {
    LoginPage::told(
        404,
        "This link was used, has expired, or was replaced by a newer one. Call the tool again for a new link.",
    )
}

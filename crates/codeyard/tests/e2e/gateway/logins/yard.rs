//! A gateway with one upstream server, `far`, at which each user has an own login.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use test_support::oauth::{Guarded, browse_as};
use test_support::{Codeyard, MetaToolResult, Way};

use crate::gateway::actors::{ADMIN, Actor};
use crate::gateway::running::{Gateway, code};
use crate::http::served::{self, Response};

pub struct LoginYard {
    pub gateway: Gateway,
    pub guarded: Arc<Guarded>,
    pub server: String,
}

/// A program with one call.
pub const CALL: &str = "print(await tools.far.add(a=2, b=3))";

impl LoginYard {
    pub async fn start() -> LoginYard {
        LoginYard::with(Codeyard::new().unwrap(), Way::Modern, json!({})).await
    }

    /// With further fields in the definition.
    pub async fn with(codeyard: Codeyard, way: Way, more: Value) -> LoginYard {
        let guarded = Arc::new(Guarded::start(way).await.unwrap());
        let codeyard = installation(codeyard, &guarded, more);
        let gateway = Gateway::start(codeyard).await;
        // Tests repeat calls until something has happened.
        let often = json!({"visibility": "public", "sandbox_policy": {"max_runs_per_minute": 1000}});
        let server = gateway.make(&ADMIN, code("shared", &often)).await;
        LoginYard {
            gateway,
            guarded,
            server,
        }
    }

    /// On a database of Postgres.
    pub async fn over(url: &str, data: &Path) -> LoginYard {
        let codeyard = Codeyard::new().unwrap().env("CODEYARD_DATABASE_URL", url);
        LoginYard::with(codeyard.data(data), Way::Modern, json!({})).await
    }

    /// Another process on the same database, behind the same address.
    pub async fn beside(&self, url: &str, data: &Path) -> LoginYard {
        let codeyard = Codeyard::new().unwrap().env("CODEYARD_DATABASE_URL", url);
        let codeyard = installation(codeyard.data(data), &self.guarded, json!({}));
        let options = ["--listen", "127.0.0.1:0", "--public-url", &self.origin()];
        LoginYard {
            gateway: Gateway::start_with(codeyard, &options).await,
            guarded: Arc::clone(&self.guarded),
            server: self.server.clone(),
        }
    }

    /// Of the gateway's pages.
    pub fn origin(&self) -> String {
        format!("http://{}", self.gateway.address)
    }

    /// The link in the error of a call.
    pub async fn link(&self, actor: &Actor) -> String {
        let called = self.call(actor).await;
        let error = called.error();
        assert!(called.is_error(), "{called:?}");
        link_in(error)
    }

    pub async fn call(&self, actor: &Actor) -> MetaToolResult {
        self.gateway.sh(actor, &self.server, CALL).await
    }

    #[track_caller]
    pub fn works<'a>(&'a self, actor: &'a Actor) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let called = self.call(actor).await;
            assert!(called.output().contains('5'), "{caller}: {called:?}");
        }
    }

    /// What a search for the tool finds.
    pub async fn found(&self, actor: &Actor) -> String {
        let search = "from mcp import runtime\nprint([hit['tool'] for hit in runtime.search('far add')])";
        let ran = self.gateway.sh(actor, &self.server, search).await;
        assert!(!ran.is_error(), "{ran:?}");
        ran.output().to_owned()
    }

    /// The user opens the link, proves who they are, and agrees at the authorization server.
    pub async fn log_in(&self, actor: &Actor, link: &str) -> String {
        let person = actor.email.split('@').next().unwrap();
        self.guarded.set(json!({"person": person})).await.unwrap();
        let token = self.gateway.token(actor).await;
        browse_as(link, &token).await.unwrap()
    }

    pub async fn logged_in(&self, actor: &Actor) {
        let page = self.log_in(actor, &self.link(actor).await).await;
        assert!(page.contains("is logged in"), "{page}");
    }

    /// Sends the form of a link's page.
    pub async fn submit(&self, link: &str, token: &str, origin: Option<&str>) -> Response {
        let path = &link[link.find("/logins").unwrap()..];
        let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
        headers.extend(origin.map(|origin| ("origin", origin)));
        let form = format!("token={token}");
        let sent = served::send(&self.gateway.address, ("POST", path), &headers, form.as_bytes());
        sent.await.whole().await
    }

    /// Whose tokens the calls of the server had, oldest first.
    pub async fn subjects(&self) -> Vec<String> {
        let log = self.guarded.log().await.unwrap();
        let calls = log.iter().filter(|entry| entry["called"].is_string());
        calls
            .map(|entry| entry["called"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// The link in the text of an error.
#[track_caller]
pub fn link_in(text: &str) -> String {
    assert!(text.contains("needs_login"), "{text}");
    let link = &text[text.find("http://").unwrap()..];
    let link = link.split(|c: char| c.is_whitespace() || c == ';').next();
    link.unwrap().to_owned()
}

pub fn installation(codeyard: Codeyard, guarded: &Guarded, more: Value) -> Codeyard {
    let mut entry = json!({"url": guarded.url(), "login": "user"});
    entry
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let codeyard = codeyard.server_json("far", entry);
    codeyard.env("CODE_EXECUTION_ENABLED", "true")
}

//! The HTTP client of logins: asks only addresses that the server may name, follows no redirects, and limits
//! bodies.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Request, Response, Url};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::http_client::{self, Scheme, address::check_discovered};

/// In bytes.
const MAX_BODY: usize = 1024 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// For one server.
#[derive(Debug)]
pub(crate) struct Fetch {
    server: Url,
    /// Built at the first use: building it reads the machine's certificate authorities.
    secure: OnceCell<Client>,
    plain: OnceCell<Client>,
}

impl Fetch {
    pub(crate) fn new(server: Url) -> Fetch {
        Fetch {
            server,
            secure: OnceCell::new(),
            plain: OnceCell::new(),
        }
    }

    /// Whether the address may be asked, or opened by a person.
    pub(crate) fn may_ask(&self, url: &Url) -> Result<(), String> {
        check_discovered(&self.server, url).map_err(|error| format!("{} {error}", shown(url)))
    }

    /// Returns the response, whatever its status, with its whole body.
    pub(crate) async fn send(&self, request: Request) -> Result<http::Response<Vec<u8>>, String> {
        self.may_ask(request.url())?;
        let client = self.client(Scheme::of(request.url())).await?;
        let exchange = async {
            let sent = client.execute(request).await;
            let mut response = sent.map_err(|error| http_client::describe(&error))?;
            let body = body(&mut response).await?;
            Ok(http::Response::<reqwest::Body>::from(response).map(|_read| body))
        };
        timeout(REQUEST_TIMEOUT, exchange)
            .await
            .unwrap_or_else(|_elapsed| Err(format!("no answer within {} s", REQUEST_TIMEOUT.as_secs())))
    }

    async fn client(&self, scheme: Scheme) -> Result<&Client, String> {
        let cell = match scheme {
            Scheme::Https => &self.secure,
            Scheme::Http => &self.plain,
        };
        cell.get_or_try_init(|| http_client::build(scheme)).await
    }
}

impl OAuthHttpClient for Fetch {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = Request::try_from(request.request)?;
            Ok(self.send(request).await?)
        })
    }
}

async fn body(response: &mut Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    // An event stream says nothing about logins and may never end.
    if is_stream(response.headers()) {
        return Ok(body);
    }
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| http_client::describe(&error))?
    {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY {
            return Err(format!("it answers with more than {MAX_BODY} bytes"));
        }
    }
    Ok(body)
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Without query and fragment.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    super::error::clean(shown.as_str())
}

//! Receives the redirect of a browser at a loopback port of this machine.

use std::io;
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

const PATH: &str = "/callback";
/// In bytes.
const MAX_HEAD: usize = 16 * 1024;
/// Browsers open connections that they never use.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_CONNECTIONS: usize = 16;

const GOOD: &str = "Codeyard has the answer. You can close this page and go back to the terminal.\n";
const FOREIGN: &str =
    "This is not the answer to the login that codeyard waits for. Nothing was done with it.\n";

/// A loopback listener for one login's redirect.
#[derive(Debug)]
pub struct RedirectListener {
    listener: TcpListener,
    redirect: Url,
}

impl RedirectListener {
    /// Listens at the loopback port; without one, at any free port.
    pub async fn bind(port: Option<u16>) -> io::Result<RedirectListener> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        let redirect = Url::parse(&format!("http://127.0.0.1:{port}{PATH}")).map_err(io::Error::other)?;
        Ok(RedirectListener { listener, redirect })
    }

    /// Address to which the browser is redirected.
    pub fn redirect(&self) -> &str {
        self.redirect.as_str()
    }

    /// Waits for the redirect with this `state`, without a time-out; refuses all other requests.
    pub async fn answer(&self, state: &str) -> io::Result<String> {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    let (stream, _) = accepted?;
                    let (redirect, state) = (self.redirect.clone(), state.to_owned());
                    connections.spawn(timeout(REQUEST_TIMEOUT, serve(stream, redirect, state)));
                }
                Some(served) = connections.join_next() => {
                    if let Ok(Ok(Some(answer))) = served {
                        return Ok(answer.into());
                    }
                }
            }
        }
    }
}

/// Returns the request's URL if it is the redirect.
async fn serve(mut stream: TcpStream, redirect: Url, state: String) -> Option<Url> {
    let head = head(&mut stream).await?;
    let mut words = head.lines().next()?.split_ascii_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    let url = redirect.join(target).ok();
    let url = url.filter(|url| url.origin() == redirect.origin() && url.path() == PATH);
    let (status, page, answer) = match url {
        Some(url) if method == "GET" && parameter(&url, "state").as_deref() == Some(&state) => {
            ("200 OK", GOOD, Some(url))
        }
        Some(_) => ("400 Bad Request", FOREIGN, None),
        None => ("404 Not Found", FOREIGN, None),
    };
    let length = page.len();
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n{page}"
    );
    // The redirect counts even if the browser has closed the connection.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    answer
}

async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    loop {
        let length = stream.read(&mut chunk).await.ok()?;
        head.extend_from_slice(chunk.get(..length)?);
        if head.windows(4).any(|end| end == b"\r\n\r\n") {
            return String::from_utf8(head).ok();
        }
        if length == 0 || head.len() > MAX_HEAD {
            return None;
        }
    }
}

pub(super) fn parameter(url: &Url, name: &str) -> Option<String> {
    let mut pairs = url.query_pairs();
    pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_answer_of_this_login_is_taken() {
        let listener = RedirectListener::bind(None).await.expect("a port");
        let port = listener.redirect.port().expect("a port");
        let ask = |request: String| async move {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("connected");
            stream.write_all(request.as_bytes()).await.expect("sent");
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.expect("read");
            answer
        };
        let asking = async {
            // A silent connection blocks nobody.
            let _silent = TcpStream::connect(("127.0.0.1", port)).await.expect("connected");
            for (request, expected) in [
                ("GET /favicon.ico HTTP/1.1\r\n\r\n", "404"),
                ("GET /callback?code=x&state=stolen HTTP/1.1\r\n\r\n", "400"),
                ("GET /callback?code=x HTTP/1.1\r\n\r\n", "400"),
                ("POST /callback?code=x&state=ours HTTP/1.1\r\n\r\n", "400"),
                ("GET http://elsewhere/callback?state=ours HTTP/1.1\r\n\r\n", "404"),
                ("GET /callback?code=right&state=ours HTTP/1.1\r\n\r\n", "200"),
            ] {
                let answer = ask(request.to_owned()).await;
                assert!(
                    answer.starts_with(&format!("HTTP/1.1 {expected}")),
                    "{request}: {answer}"
                );
            }
        };
        let (answer, ()) = tokio::join!(listener.answer("ours"), asking);
        let answer = Url::parse(&answer.expect("the answer")).expect("an address");
        assert_eq!(parameter(&answer, "code").as_deref(), Some("right"));
    }
}

//! Behind nginx: events arrive as they are sent, and no request hides in another one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use test_support::{Codeyard, wait_until};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::served::{PATIENCE, Served, call};

/// A codeyard behind nginx.
struct Proxied {
    served: Served,
    session: String,
    socket: PathBuf,
    _nginx: Child,
}

impl Proxied {
    /// `None` if nginx is not installed.
    #[expect(clippy::print_stdout, reason = "a test that ran nothing says so")]
    async fn start(body_buffering: &str) -> Option<Proxied> {
        if !Path::new("/usr/sbin/nginx").exists() {
            println!("skipped: nginx is not installed; as root `cargo xtask test` installs it");
            return None;
        }
        let served = Served::start(Codeyard::new().unwrap(), &[]).await;
        let session = served.open().await;
        let (socket, nginx) = nginx(&served, body_buffering).await;
        Some(Proxied {
            served,
            session,
            socket,
            _nginx: nginx,
        })
    }

    /// Sends these bytes, and reads to the end of the connection.
    async fn exchange(&self, request: &[u8]) -> String {
        let mut stream = UnixStream::connect(&self.socket).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = Vec::new();
        let mut piece = vec![0; 65536];
        loop {
            match timeout(PATIENCE, stream.read(&mut piece)).await.unwrap() {
                Ok(length @ 1..) => answer.extend_from_slice(&piece[..length]),
                Ok(_) | Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
            }
        }
    }

    /// A POST in the session, with these header fields and this body.
    fn post(&self, fields: &str, body: &str) -> String {
        let session = &self.session;
        format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
             mcp-session-id: {session}\r\n{fields}\r\n\r\n{body}"
        )
    }

    fn whole(&self, message: &Value) -> String {
        let body = message.to_string();
        self.post(&format!("content-length: {}", body.len()), &body)
    }

    /// The variables among these that the session has.
    async fn has(&self, name: &str) -> Value {
        let answer = self
            .served
            .run(&self.session, &format!("return '{name}' in globals()"))
            .await;
        answer["result"]["structuredContent"]["result"].clone()
    }
}

#[expect(clippy::disallowed_methods, reason = "it ends with the test")]
async fn nginx(served: &Served, body_buffering: &str) -> (PathBuf, Child) {
    let directory = served.codeyard.directory();
    let socket = directory.join("nginx.sock");
    let (own, path, address) = (directory.display(), socket.display(), &served.address);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {own}/nginx-{name};\n"))
        .concat();
    let configuration = format!(
        "daemon off;\nmaster_process off;\npid {own}/nginx.pid;\nerror_log {own}/nginx.log;\nevents {{}}\n\
         http {{\naccess_log off;\nclient_header_timeout 2s;\nclient_body_timeout 2s;\n{temporary}\
         upstream codeyard {{ server {address}; keepalive 1; }}\n\
         server {{ listen unix:{path};\nlocation /mcp {{\n\
         proxy_pass http://codeyard;\nproxy_http_version 1.1;\nproxy_set_header Connection \"\";\n\
         proxy_set_header Host $http_host;\nproxy_buffering off;\nproxy_request_buffering {body_buffering};\n\
         }}}}}}\n"
    );
    let file = directory.join("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let nginx = Command::new("/usr/sbin/nginx")
        .arg("-c")
        .arg(&file)
        .arg("-p")
        .arg(directory)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    wait_until("nginx", || std::os::unix::net::UnixStream::connect(&socket).ok()).await;
    (socket, nginx)
}

/// Requests with a hidden second request: their header fields and bodies.
fn hiding(hidden: &str) -> Vec<(&'static str, String, String)> {
    let chunk = format!("{:x}\r\n{hidden}\r\n0\r\n\r\n", hidden.len());
    let after = format!("0\r\n\r\n{hidden}");
    let (whole, long) = (after.len(), chunk.len());
    let size = format!("{:x}\r\n", hidden.len()).len();
    let of = |name, fields: String, body: &str| (name, fields, body.to_owned());
    let mut all = vec![
        of(
            "CL.TE",
            format!("content-length: {whole}\r\ntransfer-encoding: chunked"),
            &after,
        ),
        of(
            "TE.CL",
            format!("transfer-encoding: chunked\r\ncontent-length: {size}"),
            &chunk,
        ),
        of(
            "CL.CL",
            format!("content-length: 0\r\ncontent-length: {}", hidden.len()),
            hidden,
        ),
        of(
            "CL.CL, the other first",
            format!("content-length: {}\r\ncontent-length: 0", hidden.len()),
            hidden,
        ),
        of(
            "a list of lengths",
            format!("content-length: 0, {}", hidden.len()),
            hidden,
        ),
        of(
            "a signed length",
            format!("content-length: +{}", hidden.len()),
            hidden,
        ),
        of(
            "a bare LF before TE",
            format!("content-length: {whole}\r\nx: y\ntransfer-encoding: chunked"),
            &after,
        ),
        of(
            "a bare CR before TE",
            format!("content-length: {whole}\r\nx: y\rtransfer-encoding: chunked"),
            &after,
        ),
        of(
            "a folded TE",
            format!("content-length: {whole}\r\ntransfer-encoding:\r\n chunked"),
            &after,
        ),
        of(
            "an LF in a chunk's extension",
            "transfer-encoding: chunked".to_owned(),
            &format!("2;\n{{}}\r\n{:x};x\r\n{after}\r\n0\r\n\r\n", after.len()),
        ),
        of(
            "a chunk of a negative size",
            "transfer-encoding: chunked".to_owned(),
            &format!("-1\r\n{hidden}"),
        ),
        of(
            "a chunk of a huge size",
            "transfer-encoding: chunked".to_owned(),
            &format!("10000000000000000\r\n{hidden}"),
        ),
        of(
            "a chunk that ends with LF",
            "transfer-encoding: chunked".to_owned(),
            &format!("2\n{{}}\n{after}")[..4],
        ),
    ];
    for (name, field) in [
        (
            "TE.TE, one unknown",
            "transfer-encoding: chunked\r\ntransfer-encoding: x",
        ),
        ("TE.TE, a list", "transfer-encoding: chunked, identity"),
        ("TE with a blank before the colon", "transfer-encoding : chunked"),
        ("TE with a tab", "transfer-encoding:\tchunked"),
        ("TE with a vertical tab", "transfer-encoding: \x0bchunked"),
        ("TE with a prefix", "transfer-encoding: xchunked"),
        ("TE in quotes", "transfer-encoding: \"chunked\""),
        ("TE with an underscore", "transfer_encoding: chunked"),
    ] {
        all.push(of(name, format!("content-length: {whole}\r\n{field}"), &after));
        all.push(of(name, format!("content-length: {long}\r\n{field}"), &chunk));
    }
    all
}

async fn check_nothing_hides(body_buffering: &str) {
    let Some(proxied) = Proxied::start(body_buffering).await else {
        return;
    };
    // The control: the hidden request runs if it is sent as a request of its own.
    let answer = proxied
        .exchange(proxied.whole(&call(1, "control = 1", None)).as_bytes())
        .await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(proxied.has("control").await, true);
    let hidden = proxied.whole(&call(2, "hidden = 1", None));
    for (name, fields, body) in hiding(&hidden) {
        let request = proxied.post(&fields, &body);
        let mut stream = UnixStream::connect(&proxied.socket).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut first = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut first)).await.unwrap();
        // The next client on nginx's connection to codeyard gets the answer to its own request.
        let ping = json!({"jsonrpc": "2.0", "id": name, "method": "ping"});
        let next = proxied.exchange(proxied.whole(&ping).as_bytes()).await;
        assert!(next.starts_with("HTTP/1.1 200"), "{name}: {next}");
        assert!(
            next.contains(&json!({"jsonrpc": "2.0", "id": name, "result": {}}).to_string()),
            "{name}: {next}"
        );
        let first = String::from_utf8_lossy(&first);
        assert!(first.matches("HTTP/1.1 ").count() <= 1, "{name}: {first}");
        assert_eq!(proxied.has("hidden").await, false, "{name}: {first}");
    }
}

#[tokio::test]
async fn no_request_hides_in_another_that_nginx_buffers() {
    check_nothing_hides("on").await;
}

#[tokio::test]
async fn no_request_hides_in_another_that_nginx_streams() {
    check_nothing_hides("off").await;
}

#[tokio::test]
async fn events_pass_nginx_without_delay() {
    let Some(proxied) = Proxied::start("on").await else {
        return;
    };
    let message = call(1, "import time\ntime.sleep(600)", Some("t"));
    let mut stream = UnixStream::connect(&proxied.socket).await.unwrap();
    stream
        .write_all(proxied.whole(&message).as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    while !answer.contains("notifications/progress") {
        let mut piece = vec![0; 65536];
        let length = timeout(PATIENCE, stream.read(&mut piece)).await.unwrap().unwrap();
        assert_ne!(length, 0, "{answer}");
        answer.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    assert!(answer.contains("text/event-stream"), "{answer}");
}

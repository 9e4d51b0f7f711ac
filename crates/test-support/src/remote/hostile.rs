//! Wrong answers to calls of the tool `echo`: the message names the kind of wrong answer.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use tokio::time::sleep;

use super::http::Client;
use super::protocol::Seen;

const JSON: (&str, &str) = ("Content-Type", "application/json");
/// The address where clouds serve a machine's secrets. Without a scheme, it inherits the request's.
const METADATA: &str = "//169.254.169.254/latest/meta-data/";
const GIGABYTE: usize = 1024 * 1024 * 1024;

/// Sends the wrong answer that the request names; returns whether there was one.
pub(super) async fn answer(client: &mut Client, request: &Seen) -> Result<bool> {
    let message = &request.message;
    let resumed = request
        .header("last-event-id")
        .and_then(|id| id.strip_prefix("resume-"));
    if let Some(id) = resumed {
        client.begin_events(&[]).await?;
        let answer = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"?\"}}]}}}}"
        );
        client.event("message", &answer).await?;
        client.end().await?;
        return Ok(true);
    }
    if message["method"] != "tools/call" || message["params"]["name"] != "echo" {
        return Ok(false);
    }
    let id = &message["id"];
    let result = json!({"content": [{"type": "text", "text": "?"}]});
    match message["params"]["arguments"]["message"]
        .as_str()
        .unwrap_or_default()
    {
        "drip" => {
            client.begin_events(&[]).await?;
            loop {
                client.chunk(b":").await?;
                sleep(Duration::from_millis(50)).await;
            }
        }
        "gigabyte" => {
            client
                .head("200 OK", &[JSON, ("Transfer-Encoding", "chunked")])
                .await?;
            let part = vec![b' '; 1024 * 1024];
            for _ in 0..GIGABYTE / part.len() {
                client.chunk(&part).await?;
            }
            client.end().await?;
        }
        "announced gigabyte" => {
            let length = GIGABYTE.to_string();
            client
                .head("200 OK", &[JSON, ("Content-Length", &length)])
                .await?;
            client.write(b"{").await?;
            client.left().await;
        }
        "endless event" => {
            client.begin_events(&[]).await?;
            client.chunk(b"data: ").await?;
            let part = vec![b'x'; 1024 * 1024];
            for _ in 0..GIGABYTE / part.len() {
                client.chunk(&part).await?;
            }
        }
        "endless events" => {
            client.begin_events(&[]).await?;
            let notice =
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}});
            loop {
                client.event("message", &notice.to_string()).await?;
            }
        }
        "compressed" => {
            // Only the first bytes of a gzip stream: clients read no further.
            let headers = [JSON, ("Content-Encoding", "gzip")];
            client
                .respond("200 OK", &headers, b"\x1f\x8b\x08\x00\x00\x00\x00\x00")
                .await?;
        }
        "redirect inside" => {
            let headers = [("Location", METADATA)];
            client.respond("307 Temporary Redirect", &headers, b"").await?;
        }
        "redirect away" => {
            let headers = [("Location", "http://127.0.0.1:1/mcp?secret=1")];
            client.respond("308 Permanent Redirect", &headers, b"").await?;
        }
        "redirect around" => {
            client
                .respond("307 Temporary Redirect", &[("Location", "/mcp")], b"")
                .await?;
        }
        "moved" => {
            client
                .respond("301 Moved Permanently", &[("Location", "/new")], b"")
                .await?;
        }
        "wrong id" => {
            let answer = json!({"jsonrpc": "2.0", "id": 999_999, "result": result});
            client.respond_json("200 OK", &[], &answer).await?;
        }
        "twice" => {
            client.begin_events(&[]).await?;
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            client.event("message", &answer).await?;
            client.event("message", &answer).await?;
            client.end().await?;
        }
        "headers" => {
            let body = format!("refused: {:?}", request.headers);
            client
                .respond("422 Unprocessable Entity", &[], body.as_bytes())
                .await?;
        }
        "headers in an error" => {
            let headers = json!(request.headers);
            let error = json!({"code": -32000, "message": format!("refused: {headers}"), "data": headers});
            let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
            client.respond_json("200 OK", &[], &answer).await?;
        }
        "headers in a challenge" => {
            let sent = request.header("authorization").unwrap_or_default();
            let challenge = format!("Bearer error_description=\"{} {sent}\"", "x".repeat(190));
            client
                .respond("401 Unauthorized", &[("WWW-Authenticate", &challenge)], b"")
                .await?;
        }
        "nothing" => client.respond("202 Accepted", &[], b"").await?,
        "dies" => {
            client.begin_events(&[]).await?;
            client.chunk(b"data: {\"jsonrpc\":\"2.0\",").await?;
            anyhow::bail!("as asked");
        }
        "ends" => {
            client.begin_events(&[]).await?;
            client.chunk(b": nothing follows\n\n").await?;
            client.end().await?;
        }
        "not text" => {
            client
                .respond(
                    "200 OK",
                    &[JSON],
                    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\xfe\"}",
                )
                .await?
        }
        "page" => {
            let headers = [("Content-Type", "text/html")];
            client
                .respond("200 OK", &headers, b"<html>Sign in</html>")
                .await?;
        }
        "busy" => {
            client
                .respond("429 Too Many Requests", &[("Retry-After", "7")], b"slow down")
                .await?
        }
        "scope" => {
            let challenge = "Bearer error=\"insufficient_scope\", scope=\"files:write\"";
            client
                .respond("403 Forbidden", &[("WWW-Authenticate", challenge)], b"")
                .await?;
        }
        "resumed" => {
            client.begin_events(&[]).await?;
            client
                .chunk(format!("id: resume-{id}\nretry: 10\ndata:\n\n").as_bytes())
                .await?;
            client.end().await?;
        }
        "spread" => {
            // One message over several `data` lines: legal, but rare.
            client.begin_events(&[]).await?;
            let text = serde_json::to_string_pretty(&json!({"jsonrpc": "2.0", "id": id, "result": result}))?;
            let lines: String = text.lines().map(|line| format!("data: {line}\n")).collect();
            for part in format!("id: 1\n{lines}\n").as_bytes().chunks(7) {
                client.chunk(part).await?;
            }
            client.end().await?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

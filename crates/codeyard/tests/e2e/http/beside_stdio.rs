//! `--listen` together with `--stdio`: one client over standard input and output, and others over HTTP.

use std::process::Stdio;

use serde_json::{Value, json};
use test_support::Codeyard;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::served::{PATIENCE, Served, call, initialize};

/// The client over standard input and output.
struct StdioClient {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl StdioClient {
    async fn send(&mut self, message: &Value) {
        self.input
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        loop {
            let mut line = String::new();
            let read = timeout(PATIENCE, self.output.read_line(&mut line)).await;
            assert_ne!(read.unwrap().unwrap(), 0, "standard output has ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == message["id"] {
                return answer;
            }
        }
    }
}

#[tokio::test]
async fn both_are_served_until_standard_input_ends() {
    let codeyard = Codeyard::new().unwrap();
    let mut served = Served::start_with(codeyard, &["--stdio"], Stdio::piped()).await;
    let (input, output) = served.take_stdio();
    let output = BufReader::new(output);
    let mut client = StdioClient { input, output };
    assert!(client.ask(&initialize()).await["error"].is_null());
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let session = served.open().await;
    let run = call(1, "x = 1\nreturn x", None);
    let (over_stdio, over_http) =
        tokio::join!(client.ask(&run), served.run(&session, "return 'x' in globals()"));
    assert_eq!(over_stdio["result"]["structuredContent"]["result"], 1);
    assert_eq!(over_http["result"]["structuredContent"]["result"], false);
    let listening = served.listen(&session).await;
    drop(client);
    assert_eq!(listening.whole().await.status, 200);
    assert!(served.ended().await.success());
}

#[tokio::test]
async fn the_option_stdio_requires_listen() {
    let ended = Codeyard::new().unwrap().run(["mcp", "--stdio"]).await.unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("--listen <ADDR>"), "{told}");
}

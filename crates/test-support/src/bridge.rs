//! The `bridge` surface as a model uses it: a program for `run_python`, and the result.

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::{Era, McpClient};
use crate::codeyard::Codeyard;

/// A codeyard that serves the `bridge` surface to one client. Panics on any failure, which fails the test.
#[derive(Debug)]
pub struct BridgeClient {
    /// The connection, for requests other than programs.
    pub mcp: McpClient,
    /// Its directories are removed with the client.
    pub codeyard: Codeyard,
}

/// The whole `CallToolResult` of one call of `run_python`.
#[derive(Debug, Clone)]
pub struct BridgeResult(pub Value);

// === impl BridgeClient ===

impl BridgeClient {
    /// Starts the bridge with the servers `stub` and `other`, each defined in a file of `~/MCPs`.
    pub async fn with_stub() -> BridgeClient {
        let codeyard = Codeyard::new().and_then(Codeyard::with_stub_definitions);
        match codeyard {
            Ok(codeyard) => BridgeClient::of(codeyard).await,
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Starts the bridge of this installation.
    pub async fn of(codeyard: Codeyard) -> BridgeClient {
        match BridgeClient::started(&codeyard).await {
            Ok(mcp) => BridgeClient { mcp, codeyard },
            Err(error) => panic!("{error:#}"),
        }
    }

    async fn started(codeyard: &Codeyard) -> Result<McpClient> {
        let mut mcp = codeyard.bridge_unopened()?;
        mcp.open(Era::Legacy).await?;
        Ok(mcp)
    }

    /// Runs a program without servers.
    #[track_caller]
    pub fn run<'a>(&'a mut self, code: &str) -> impl Future<Output = BridgeResult> + use<'a> {
        self.call(json!({"code": code}))
    }

    /// Runs a program with these servers.
    #[track_caller]
    pub fn run_with<'a>(
        &'a mut self,
        servers: &[&str],
        code: &str,
    ) -> impl Future<Output = BridgeResult> + use<'a> {
        self.call(json!({"code": code, "servers": servers}))
    }

    /// Calls `run_python` with these arguments.
    #[track_caller]
    pub fn call(&mut self, arguments: Value) -> impl Future<Output = BridgeResult> + use<'_> {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.mcp.call_tool("run_python", arguments).await;
            BridgeResult(answer.unwrap_or_else(|error| panic!("{caller}: {error:#}")))
        }
    }

    /// Calls `run_python` without waiting; returns the request's id for [`BridgeClient::answered`].
    pub async fn start(&mut self, arguments: Value) -> Value {
        let params = json!({"name": "run_python", "arguments": arguments});
        let started = self.mcp.start("tools/call", params).await;
        started.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Waits for the result of a started call.
    pub async fn answered(&mut self, id: &Value) -> BridgeResult {
        let answered = async {
            let mut answer = self.mcp.answer(id).await?;
            let result = answer.get_mut("result").map(Value::take);
            result.with_context(|| format!("no result: {answer}"))
        };
        BridgeResult(
            answered
                .await
                .unwrap_or_else(|error: anyhow::Error| panic!("{error:#}")),
        )
    }

    /// Runs a program with the server `stub`; the program must succeed with exactly this text.
    #[track_caller]
    pub fn check<'a>(&'a mut self, code: &'a str, text: &'a str) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.run_with(&["stub"], code).await;
            assert_eq!(
                (answer.text(), answer.is_error()),
                (text, false),
                "{caller}: {code}\n{answer:?}"
            );
        }
    }

    /// Runs a program with the server `stub`. The program must fail and mention each of these; the bridge must stay
    /// healthy.
    #[track_caller]
    pub fn check_error<'a>(
        &'a mut self,
        code: &'a str,
        words: &'a [&str],
    ) -> impl Future<Output = BridgeResult> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let answer = self.run_with(&["stub"], code).await;
            assert!(answer.is_error(), "{caller}: {code}\n{answer:?}");
            for words in words {
                assert!(
                    answer.text().contains(words),
                    "{caller}: no {words:?} in {answer:?}"
                );
            }
            self.check_healthy().await;
            answer
        }
    }

    /// Checks that the server answers within two seconds, the acceptance cases' definition of healthy.
    pub async fn check_healthy(&mut self) {
        let soon = Duration::from_secs(2);
        match tokio::time::timeout(soon, self.mcp.tools()).await {
            Ok(tools) => assert_eq!(
                tools.map(|tools| tools.len()).ok(),
                Some(1),
                "{}",
                self.mcp.stderr()
            ),
            Err(_) => panic!("no list of tools within {soon:?}; {}", self.mcp.stderr()),
        }
    }
}

// === impl BridgeResult ===

impl BridgeResult {
    /// The text that a model reads.
    pub fn text(&self) -> &str {
        self.0["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// The structured content.
    pub fn fields(&self) -> &Value {
        &self.0["structuredContent"]
    }

    /// How the run ended; `success` if the field is absent.
    pub fn status(&self) -> &str {
        self.fields()["status"].as_str().unwrap_or("success")
    }

    /// The lines of a stream, joined.
    pub fn lines(&self, stream: &str) -> String {
        let lines = self.fields()[stream]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        lines.join("\n")
    }

    /// The protocol's `isError`.
    pub fn is_error(&self) -> bool {
        self.0["isError"] == true
    }
}

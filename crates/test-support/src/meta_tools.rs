//! The `server` surface as a model uses it: `shell_exec` and the tools for files, and their results.

use std::panic::Location;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::{Era, McpClient};
use crate::codeyard::Codeyard;

/// A codeyard that serves the `server` surface to one client. Panics on any failure, which fails the test.
#[derive(Debug)]
pub struct MetaToolsClient {
    /// The connection, for other requests.
    pub mcp: McpClient,
    /// Its directories are removed with the client.
    pub codeyard: Codeyard,
}

/// The whole `CallToolResult` of one call.
#[derive(Debug, Clone)]
pub struct MetaToolResult(pub Value);

/// The four tools over some way in. Panics on any failure, which fails the test.
pub trait MetaTools {
    /// Calls a tool with these arguments.
    #[track_caller]
    fn call<'a>(&'a mut self, tool: &'a str, arguments: Value) -> impl Future<Output = MetaToolResult> + 'a;

    /// Calls `shell_exec` without a language.
    #[track_caller]
    fn run<'a>(&'a mut self, code: &str) -> impl Future<Output = MetaToolResult> + 'a {
        self.call("shell_exec", json!({ "code": code }))
    }

    /// Runs a program in TypeScript.
    #[track_caller]
    fn run_typescript<'a>(&'a mut self, code: &str) -> impl Future<Output = MetaToolResult> + 'a {
        self.call("shell_exec", json!({"code": code, "language": "typescript"}))
    }

    /// Runs code that must succeed with exactly this output.
    #[track_caller]
    fn check<'a>(&'a mut self, code: &'a str, output: &'a str) -> impl Future<Output = ()> + 'a {
        let caller = Location::caller();
        async move {
            let result = self.run(code).await;
            assert_eq!(
                (result.output(), result.error(), result.is_error()),
                (output, "", false),
                "{caller}: {code}\n{result:?}"
            );
        }
    }

    /// Runs code that must fail with an error that contains this.
    #[track_caller]
    fn check_error<'a>(
        &'a mut self,
        code: &'a str,
        error: &'a str,
    ) -> impl Future<Output = MetaToolResult> + 'a {
        let caller = Location::caller();
        async move {
            let result = self.run(code).await;
            assert!(
                result.is_error() && result.error().contains(error),
                "{caller}: {code}\n{result:?}"
            );
            result
        }
    }

    /// Checks that the server answers within two seconds, the acceptance cases' definition of healthy.
    #[track_caller]
    fn check_healthy(&mut self) -> impl Future<Output = ()> + '_ {
        let caller = Location::caller();
        async move {
            let soon = Duration::from_secs(2);
            match tokio::time::timeout(soon, self.run("print('healthy')")).await {
                Ok(result) => assert_eq!(result.output(), "healthy\n", "{caller}"),
                Err(_) => panic!("{caller}: no answer within {soon:?}"),
            }
        }
    }
}

// === impl MetaToolsClient ===

impl MetaToolsClient {
    /// Starts the surface with the server `stub`.
    pub async fn with_stub() -> MetaToolsClient {
        match Codeyard::with_stub() {
            Ok(codeyard) => MetaToolsClient::of(codeyard).await,
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Starts the surface of this installation.
    pub async fn of(codeyard: Codeyard) -> MetaToolsClient {
        let started = async {
            let mut mcp = codeyard.server_unopened()?;
            mcp.open(Era::Legacy).await?;
            Result::<_>::Ok(mcp)
        };
        match started.await {
            Ok(mcp) => MetaToolsClient { mcp, codeyard },
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Starts `shell_exec` without waiting; returns the request's id for [`MetaToolsClient::answered`].
    pub async fn start(&mut self, arguments: Value) -> Value {
        let params = json!({"name": "shell_exec", "arguments": arguments});
        let started = self.mcp.start("tools/call", params).await;
        started.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Waits for the result of a started call.
    pub async fn answered(&mut self, id: &Value) -> MetaToolResult {
        let answered = async {
            let mut answer = self.mcp.answer(id).await?;
            let result = answer.get_mut("result").map(Value::take);
            result.with_context(|| format!("no result: {answer}"))
        };
        MetaToolResult(
            answered
                .await
                .unwrap_or_else(|error: anyhow::Error| panic!("{error:#}")),
        )
    }
}

impl MetaTools for MetaToolsClient {
    fn call<'a>(&'a mut self, tool: &'a str, arguments: Value) -> impl Future<Output = MetaToolResult> + 'a {
        let caller = Location::caller();
        async move {
            let answer = self.mcp.call_tool(tool, arguments).await;
            MetaToolResult(answer.unwrap_or_else(|error| panic!("{caller}: {error:#}")))
        }
    }
}

// === impl MetaToolResult ===

impl MetaToolResult {
    /// The structured content.
    pub fn fields(&self) -> &Value {
        &self.0["structuredContent"]
    }

    /// The field `output`.
    pub fn output(&self) -> &str {
        self.fields()["output"].as_str().unwrap_or_default()
    }

    /// The field `error`; empty for `null`.
    pub fn error(&self) -> &str {
        self.fields()["error"].as_str().unwrap_or_default()
    }

    /// The protocol's `isError`.
    pub fn is_error(&self) -> bool {
        self.0["isError"] == true
    }

    /// The names of listed entries, in order.
    pub fn names(&self) -> Vec<&str> {
        let entries = self.fields()["entries"].as_array().map(Vec::as_slice);
        let entries = entries.unwrap_or_default().iter();
        entries.filter_map(|entry| entry["name"].as_str()).collect()
    }
}

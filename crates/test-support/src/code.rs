//! The `code` surface as a model uses it: a program, and its result.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::{Era, McpClient};
use crate::codeyard::Codeyard;

/// A codeyard that serves one client. Panics on any failure, which fails the test.
#[derive(Debug)]
pub struct CodeClient {
    /// The connection, for requests other than programs.
    pub mcp: McpClient,
    /// Its directories are removed with the client.
    pub codeyard: Codeyard,
}

/// The whole `CallToolResult` of one call of `execute_code`.
#[derive(Debug, Clone)]
pub struct CodeResult(pub Value);

// === impl CodeClient ===

impl CodeClient {
    /// Starts `codeyard mcp` with the `stub` server.
    pub async fn with_stub() -> CodeClient {
        match Codeyard::with_stub() {
            Ok(codeyard) => CodeClient::of(codeyard).await,
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Starts `codeyard mcp` of this installation.
    pub async fn of(codeyard: Codeyard) -> CodeClient {
        match codeyard.mcp(Era::Legacy).await {
            Ok(mcp) => CodeClient { mcp, codeyard },
            Err(error) => panic!("{error:#}"),
        }
    }

    /// Runs a program in the default session.
    #[track_caller]
    pub fn run<'a>(&'a mut self, code: &str) -> impl Future<Output = CodeResult> + use<'a> {
        self.execute(json!({"code": code}))
    }

    /// Runs a program in this session.
    #[track_caller]
    pub fn run_in<'a>(&'a mut self, session: &str, code: &str) -> impl Future<Output = CodeResult> + use<'a> {
        self.execute(json!({"code": code, "session": session}))
    }

    /// Calls `execute_code` with these arguments.
    #[track_caller]
    pub fn execute(&mut self, arguments: Value) -> impl Future<Output = CodeResult> + use<'_> {
        let caller = std::panic::Location::caller();
        async move {
            let ran = self.mcp.call_tool("execute_code", arguments).await;
            CodeResult(ran.unwrap_or_else(|error| panic!("{caller}: {error:#}")))
        }
    }

    /// Calls `execute_code` without waiting; returns the request's id for [`CodeClient::ran`].
    pub async fn start(&mut self, arguments: Value) -> Value {
        let params = json!({"name": "execute_code", "arguments": arguments});
        let started = self.mcp.start("tools/call", params).await;
        started.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Waits for the result of a started call.
    pub async fn ran(&mut self, id: &Value) -> CodeResult {
        let ran = async {
            let mut answer = self.mcp.answer(id).await?;
            let result = answer.get_mut("result").map(Value::take);
            result.with_context(|| format!("no result: {answer}"))
        };
        CodeResult(
            ran.await
                .unwrap_or_else(|error: anyhow::Error| panic!("{error:#}")),
        )
    }

    /// Calls `search_tools`; returns the whole `CallToolResult`.
    pub async fn search(&mut self, arguments: Value) -> Value {
        let found = self.mcp.call_tool("search_tools", arguments).await;
        found.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Runs a program that must complete with exactly this standard output and an empty standard error.
    #[track_caller]
    pub fn check<'a>(&'a mut self, code: &'a str, stdout: &'a str) -> impl Future<Output = ()> + 'a {
        let caller = std::panic::Location::caller();
        async move {
            let ran = self.run(code).await;
            assert_eq!(
                (ran.status(), ran.stdout(), ran.stderr(), ran.is_error()),
                ("completed", stdout, "", false),
                "{caller}: {code}\n{ran:?}"
            );
        }
    }

    /// Checks that the server answers within two seconds, the acceptance cases' definition of healthy.
    pub async fn check_healthy(&mut self) {
        let soon = std::time::Duration::from_secs(2);
        let listed = tokio::time::timeout(soon, self.mcp.tools()).await;
        let tools: Result<usize> = match listed {
            Ok(tools) => tools.map(|tools| tools.len()),
            Err(_) => panic!("no list of tools within {soon:?}; {}", self.mcp.stderr()),
        };
        assert_eq!(tools.ok(), Some(2), "{}", self.mcp.stderr());
    }
}

// === impl CodeResult ===

impl CodeResult {
    /// The structured content.
    pub fn fields(&self) -> &Value {
        &self.0["structuredContent"]
    }

    fn text(&self, field: &str) -> &str {
        self.fields()[field].as_str().unwrap_or_default()
    }

    /// How the run ended.
    pub fn status(&self) -> &str {
        self.text("status")
    }

    /// Its standard output.
    pub fn stdout(&self) -> &str {
        self.text("stdout")
    }

    /// Its standard error.
    pub fn stderr(&self) -> &str {
        self.text("stderr")
    }

    /// Its error message.
    pub fn error(&self) -> &str {
        self.text("error")
    }

    /// Its session's id.
    pub fn session(&self) -> &str {
        self.text("session")
    }

    /// The returned value; `null` also if the program returned nothing.
    pub fn result(&self) -> &Value {
        &self.fields()["result"]
    }

    /// The protocol's `isError`.
    pub fn is_error(&self) -> bool {
        self.0["isError"] == true
    }

    /// The content blocks.
    pub fn content(&self) -> &[Value] {
        self.0["content"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The text that a model reads.
    pub fn shown(&self) -> &str {
        self.0["content"][0]["text"].as_str().unwrap_or_default()
    }

    /// The images among the content, as `(mime type, base64)`.
    pub fn images(&self) -> Vec<(&str, &str)> {
        let images = self.content().iter().filter(|block| block["type"] == "image");
        images
            .filter_map(|block| Some((block["mimeType"].as_str()?, block["data"].as_str()?)))
            .collect()
    }
}

//! The host calls of one run, by name.

use std::sync::Arc;

use catalog::Language;
use sandbox::{BoxFuture, CallContext, HostCall, HostCalls};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use types::{Appearance, HostCallError, MAX_FOUND, MAX_QUERY, Principal, USUALLY_FOUND};

use crate::answers::{Detail, ToolForm};
use crate::call::ToolCall;
use crate::core::Core;
use crate::error;
use crate::scope::RunScope;

/// Maximum characters of a wrong value in a message.
const MAX_SHOWN: usize = 60;

/// The long manual, for `runtime.manual()`.
const MANUAL: &str = include_str!("manual.md");

/// The same for programs in TypeScript, for `manual()`.
const TYPESCRIPT_MANUAL: &str = include_str!("manual_typescript.md");

#[derive(Debug)]
pub(crate) struct RunCalls {
    pub(crate) core: Arc<Core>,
    pub(crate) principal: Principal,
    pub(crate) run: RunScope,
}

/// The same for programs in a shell, for `mcp --help`.
const SHELL_MANUAL: &str = include_str!("manual_shell.md");

pub(crate) type HostCallResult = Result<Box<RawValue>, HostCallError>;

// === impl RunCalls ===

impl RunCalls {
    pub(crate) fn new(core: Arc<Core>, principal: Principal, run: RunScope) -> Self {
        Self { core, principal, run }
    }

    async fn answer(&self, call: HostCall, context: CallContext) -> HostCallResult {
        let mut args = Args::of(call.args)?;
        let reach = &self.run.profile.reach;
        match (call.name.as_str(), &self.run.profile.appearance) {
            ("tool", _) => {
                let call = ToolCall {
                    server: args.optional_text("server")?.unwrap_or_default(),
                    tool: args.text("tool")?,
                    arguments: args.take("args").unwrap_or_else(|| json!({})),
                    words: args.words()?,
                    trace: None,
                };
                self.core.call(&self.principal, &self.run, call, &context).await
            }
            ("servers", _) => raw(&self.core.servers(reach).await),
            ("tools", _) => {
                let (server, detail) = (args.text("server")?, args.detail()?);
                self.core.within(reach, &server).await?;
                raw(&self.core.tools(&self.principal, &server, detail, reach).await?)
            }
            ("search", Appearance::Code | Appearance::Server) => {
                let (query, limit, form) = (args.query()?, args.limit()?, args.form()?);
                raw(&self.core.search(&self.principal, &query, limit, form).await)
            }
            ("describe", Appearance::Code | Appearance::Server) => {
                let (server, tool) = (args.optional_text("server")?, args.text("tool")?);
                let language = args.language()?;
                let described = self
                    .core
                    .describe(&self.principal, server.as_deref(), &tool, language);
                raw(&described.await?)
            }
            ("resources" | "resource" | "prompts" | "prompt" | "completion", _) => {
                self.answer_offer(&call.name, args, &context).await
            }
            ("manual", _) => match args.language()? {
                Language::Python => raw(&json!({ "text": MANUAL })),
                Language::TypeScript => raw(&json!({ "text": TYPESCRIPT_MANUAL })),
                Language::Shell => raw(&json!({ "text": SHELL_MANUAL })),
            },
            (other, Appearance::Bridge(_)) => self.answer_saved(other, args).await,
            (other, Appearance::Code | Appearance::Server) => Err(error::unknown_call(other)),
        }
    }
}

impl HostCalls for RunCalls {
    fn names(&self) -> Option<Vec<String>> {
        match self.run.profile.appearance {
            Appearance::Code | Appearance::Server => Some(self.core.all_names()),
            // Programs on `bridge` may query servers that they have not loaded.
            Appearance::Bridge(_) => None,
        }
    }

    fn call(&self, call: HostCall, context: CallContext) -> BoxFuture<'_, HostCallResult> {
        Box::pin(self.answer(call, context))
    }
}

pub(crate) fn raw(answer: &impl Serialize) -> HostCallResult {
    to_raw_value(answer).map_err(|_| error::internal("an answer could not be written as JSON"))
}

/// Arguments of a host call. Untrusted, because any code in the guest may write to the channel.
pub(crate) struct Args(Map<String, Value>);

// === impl Args ===

impl Args {
    fn of(args: Value) -> Result<Self, HostCallError> {
        match args {
            Value::Object(args) => Ok(Self(args)),
            Value::Null => Ok(Self(Map::new())),
            _ => Err(error::bad_call("the arguments of a host call must be an object")),
        }
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Any JSON, including `null`.
    pub(crate) fn value(&mut self, name: &str) -> Result<Value, HostCallError> {
        self.0
            .remove(name)
            .ok_or_else(|| error::bad_call(format!("'{name}' is missing")))
    }

    pub(crate) fn optional_text(&mut self, name: &str) -> Result<Option<String>, HostCallError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(error::bad_call(format!("'{name}' must be a string"))),
        }
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<String, HostCallError> {
        self.optional_text(name)?
            .ok_or_else(|| error::bad_call(format!("'{name}' is missing")))
    }

    /// `false` if absent.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, HostCallError> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(error::bad_call(format!("'{name}' must be true or false"))),
        }
    }

    /// The expected version, if any.
    pub(crate) fn version(&mut self) -> Result<Option<u64>, HostCallError> {
        let version = self.take("version").map(|version| {
            version
                .as_u64()
                .ok_or_else(|| error::bad_call("'version' must be a whole number, 0 for none"))
        });
        version.transpose()
    }

    fn query(&mut self) -> Result<String, HostCallError> {
        let query = self.text("query")?;
        match query.len() <= MAX_QUERY {
            true => Ok(query),
            false => Err(error::bad_call(format!(
                "'query' has {} bytes; it may have {MAX_QUERY}",
                query.len()
            ))),
        }
    }

    fn limit(&mut self) -> Result<usize, HostCallError> {
        let Some(limit) = self.take("limit") else {
            return Ok(usize::from(USUALLY_FOUND));
        };
        let whole = limit.as_u64().and_then(|limit| usize::try_from(limit).ok());
        whole
            .filter(|limit| (1..=usize::from(MAX_FOUND)).contains(limit))
            .ok_or_else(|| {
                let limit = shown(&limit);
                error::bad_call(format!(
                    "'limit' must be an integer from 1 to {MAX_FOUND}, not {limit}"
                ))
            })
    }

    /// Names of the tool's arguments given as words of a shell.
    fn words(&mut self) -> Result<Vec<String>, HostCallError> {
        let Some(words) = self.take("words") else {
            return Ok(Vec::new());
        };
        serde_json::from_value(words).map_err(|_| error::bad_call("'words' must be a list of names"))
    }

    /// The program's language.
    fn language(&mut self) -> Result<Language, HostCallError> {
        match self.optional_text("language")?.as_deref() {
            None | Some("python") => Ok(Language::Python),
            Some("typescript") => Ok(Language::TypeScript),
            Some("shell") => Ok(Language::Shell),
            Some(_) => Err(error::bad_call(
                "'language' must be 'python', 'typescript' or 'shell'",
            )),
        }
    }

    fn form(&mut self) -> Result<ToolForm, HostCallError> {
        Ok(ToolForm {
            detail: self.detail()?,
            language: self.language()?,
        })
    }

    fn detail(&mut self) -> Result<Detail, HostCallError> {
        match self.optional_text("detail")? {
            None => Ok(Detail::default()),
            Some(name) => Detail::from_name(&name)
                .ok_or_else(|| error::bad_call("'detail' must be 'name', 'summary' or 'full'")),
        }
    }
}

/// A value for a message, shortened.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

//! The JSON that host calls and `search_tools` answer with.

use catalog::{Entry, Language, Learned, Server, UNDECLARED_RESULT, UNDECLARED_RESULT_NOTE, summary};
use serde::Serialize;
use serde_json::Value;
use types::Reach;

/// Level of detail for each tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Names only.
    Name,
    /// Signature and first words of the description.
    #[default]
    Summary,
    /// The stub instead, or the schemas in addition.
    Full,
}

/// The answer of a search, also of `search_tools`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAnswer {
    /// Best first; empty where no tool matches.
    pub tools: Vec<FoundTool>,
    /// Number of further matches.
    pub more: usize,
    /// The closest tools where none matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<FoundTool>,
    /// Servers that are still starting, so their tools are unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<String>,
    /// The meaning of `Text`, if a signature contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A tool found by a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundTool {
    /// Name in the configuration.
    pub server: String,
    /// Name in the definition.
    pub tool: String,
    /// The call, `tools.<server>.<tool>(…) -> …`; without parameters and result where the stub has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// First words of the description, unless a stub has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Score, comparable within this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Types and function in Python.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stub: Option<String>,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServerAnswer {
    /// Name in the configuration.
    pub name: String,
    /// Name in programs.
    pub alias: String,
    /// Purpose of the server.
    pub description: Option<String>,
    /// Working directory, for runs that load their servers by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The tools are known.
    pub listed: bool,
}

/// One server with its tools.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolsAnswer {
    /// Name in the configuration.
    pub name: String,
    /// Name in programs.
    pub alias: String,
    /// Purpose of the server.
    pub description: Option<String>,
    /// Working directory, for runs that load their servers by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Tools in the order listed.
    pub tools: Vec<ToolAnswer>,
}

/// One tool of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolAnswer {
    /// Name in the definition.
    pub name: String,
    /// Name in programs.
    pub alias: String,
    /// First words of the description, or all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The call in a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// JSON Schema of the arguments.
    #[serde(rename = "inputSchema", skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// JSON Schema of the structured content.
    #[serde(rename = "outputSchema", skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Observed results, if the tool declares none.
    #[serde(rename = "observedSchema", skip_serializing_if = "Option::is_none")]
    pub observed_schema: Option<Value>,
    /// Number of observed calls.
    #[serde(rename = "observedCalls", skip_serializing_if = "Option::is_none")]
    pub observed_calls: Option<u64>,
}

/// One tool with its full description.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribedTool {
    /// Name in the configuration.
    pub server: String,
    /// With its schemas.
    pub tool: ToolAnswer,
    /// The page for people, for programs in a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// How much of a tool is shown, and in which language its declaration is written.
#[derive(Debug, Clone, Copy)]
pub struct ToolForm {
    /// How much.
    pub detail: Detail,
    /// Of signatures and stubs.
    pub language: Language,
}

impl From<Detail> for ToolForm {
    /// In Python.
    fn from(detail: Detail) -> Self {
        Self {
            detail,
            language: Language::Python,
        }
    }
}

// === impl Detail ===

impl Detail {
    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Detail> {
        match name {
            "name" => Some(Detail::Name),
            "summary" => Some(Detail::Summary),
            "full" => Some(Detail::Full),
            _ => None,
        }
    }
}

// === impl SearchAnswer ===

impl SearchAnswer {
    /// Adds the meaning of types that signatures only name.
    pub(crate) fn explained(mut self) -> Self {
        let returned = format!(" -> {UNDECLARED_RESULT}");
        let signatures = self
            .tools
            .iter()
            .chain(&self.nearest)
            .flat_map(|tool| &tool.signature);
        if signatures
            .into_iter()
            .any(|signature| signature.ends_with(&returned))
        {
            self.note = Some(format!("{UNDECLARED_RESULT}: {UNDECLARED_RESULT_NOTE}"));
        }
        self
    }
}

// === impl FoundTool ===

impl FoundTool {
    pub(crate) fn of(entry: &Entry, score: f32, form: ToolForm, learned: Option<&Learned>) -> Self {
        let ToolForm { detail, language } = form;
        let callable = match (detail, language) {
            (Detail::Name, _) => None,
            (Detail::Summary, Language::Python) => Some(entry.signature_with(learned)),
            (Detail::Summary, Language::TypeScript) => Some(entry.typescript_signature(learned).into()),
            (Detail::Summary, Language::Shell) => Some(entry.shell_call().into()),
            (Detail::Full, _) => Some(format!("{}(…)", entry.alias).into()),
        };
        let description = entry.definition.description.as_deref();
        Self {
            server: entry.tool.server.clone(),
            tool: entry.tool.tool.clone(),
            signature: callable.map(|callable| match language {
                Language::Shell => callable.into_owned(),
                Language::Python | Language::TypeScript => format!("tools.{}.{callable}", entry.server_alias),
            }),
            description: description.filter(|_| detail == Detail::Summary).map(summary),
            score: (detail != Detail::Name).then(|| (f64::from(score) * 100.0).round() / 100.0),
            stub: (detail == Detail::Full).then(|| entry.declaration(language, learned)),
        }
    }
}

// === impl ServerAnswer ===

impl ServerAnswer {
    pub(crate) fn of(server: &Server, reach: &Reach) -> Self {
        Self {
            name: server.name.clone(),
            alias: server.alias.clone(),
            description: server.description.clone(),
            cwd: cwd(server, reach),
            listed: server.listed,
        }
    }
}

/// The definition's working directory. Other runs must not learn the host's directories.
pub(crate) fn cwd(server: &Server, reach: &Reach) -> Option<String> {
    let cwd = server.cwd.as_ref()?.display().to_string();
    matches!(reach, Reach::Only(_)).then_some(cwd)
}

// === impl ToolAnswer ===

impl ToolAnswer {
    pub(crate) fn of(entry: &Entry, detail: Detail, learned: Option<&Learned>) -> Self {
        let definition = &entry.definition;
        let full = detail == Detail::Full;
        let description = match (&definition.description, detail) {
            (Some(text), Detail::Full) => Some(text.clone()),
            (Some(text), Detail::Summary) => Some(summary(text)),
            _ => None,
        };
        Self {
            name: entry.tool.tool.clone(),
            alias: entry.alias.clone(),
            description,
            signature: (detail != Detail::Name).then(|| entry.signature_with(learned).into_owned()),
            input_schema: full.then(|| definition.input_schema()),
            output_schema: full.then(|| definition.output_schema()).flatten(),
            observed_schema: learned.filter(|_| full).map(|learned| learned.schema.clone()),
            observed_calls: learned.filter(|_| full).map(|learned| learned.calls),
        }
    }
}

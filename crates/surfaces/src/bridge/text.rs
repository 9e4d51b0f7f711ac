//! The fields of a `run_python` answer and their three text forms.

use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BridgeAnswer {
    /// `success`, `error`, `timeout` or `validation_error`.
    pub(super) status: &'static str,
    pub(super) summary: String,
    /// Exit status; `None` if no program has exited.
    pub(super) exit: Option<u8>,
    pub(super) servers: Vec<String>,
    /// Lines without their ends.
    pub(super) stdout: Vec<String>,
    pub(super) stderr: Vec<String>,
    /// Whether there is output, or a traceback that explains the error.
    pub(super) printed: bool,
    pub(super) error: Option<String>,
    /// Seconds; only of a program that exceeded its time limit.
    pub(super) timeout: Option<u64>,
}

impl Default for BridgeAnswer {
    fn default() -> Self {
        Self {
            status: "success",
            summary: String::new(),
            exit: None,
            servers: Vec::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            printed: false,
            error: None,
            timeout: None,
        }
    }
}

impl BridgeAnswer {
    /// Every non-empty field, in TOON's order.
    pub(super) fn full(&self) -> Map<String, Value> {
        let lists = |lines: &Vec<String>| (!lines.is_empty()).then(|| json!(lines));
        let fields = [
            ("status", Some(json!(self.status))),
            ("summary", Some(json!(self.summary))),
            ("exitCode", self.exit.map(|exit| json!(exit))),
            ("servers", lists(&self.servers)),
            ("stdout", lists(&self.stdout)),
            ("stderr", lists(&self.stderr)),
            ("error", self.error.as_ref().map(|error| json!(error))),
            ("timeoutSeconds", self.timeout.map(|seconds| json!(seconds))),
        ];
        let present = fields.into_iter();
        present
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }

    /// The fields without those that only report success.
    pub(super) fn sparse(&self) -> Map<String, Value> {
        let succeeded = self.status == "success";
        let mut fields = self.full();
        fields.retain(|name, _| match name.as_str() {
            "status" => !succeeded,
            "exitCode" => self.exit != Some(0),
            "summary" => !succeeded || self.stdout.is_empty(),
            _ => true,
        });
        fields
    }
}

/// The output. For a failed program, status and exit code precede the output, and the error follows.
pub(super) fn compact(answer: &BridgeAnswer) -> String {
    let mut lines = Vec::new();
    if answer.status != "success" {
        lines.push(format!("[status: {}]", answer.status));
    }
    if let Some(exit) = answer.exit.filter(|exit| *exit != 0) {
        lines.push(format!("[exit: {exit}]"));
    }
    lines.extend(answer.stdout.iter().cloned());
    if !answer.stderr.is_empty() {
        lines.push("stderr:".to_owned());
        lines.extend(answer.stderr.iter().cloned());
    }
    if let Some(error) = &answer.error
        && (answer.status != "error" || !answer.printed)
    {
        lines.push(format!("error: {error}"));
    }
    if lines.is_empty() {
        return answer.summary.clone();
    }
    lines.join("\n")
}

/// A TOON block; JSON if TOON cannot represent the fields.
pub(super) fn toon(answer: &BridgeAnswer) -> String {
    match crate::toon::encode(&Value::Object(answer.full())) {
        Some(toon) => format!("```toon\n{toon}\n```"),
        None => json(answer),
    }
}

/// A JSON block, keys sorted.
pub(super) fn json(answer: &BridgeAnswer) -> String {
    let mut fields = answer.full();
    fields.sort_keys();
    format!("```json\n{:#}\n```", Value::Object(fields))
}

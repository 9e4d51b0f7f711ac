//! One tool with all texts about it for programs and models.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use types::{Tool, ToolRef};

use crate::arguments::{ArgumentError, ArgumentValidator, StaticArguments};
use crate::learned::Learned;
use crate::names::is_identifier;
use crate::shapes::Type;
use crate::signature;
use crate::signature::Returned;

/// Depths of fields at which a declaration is written on one line.
pub(crate) const LINE_DEPTHS: usize = 3;

/// One tool of one server.
#[derive(Debug)]
pub struct Entry {
    /// Names in configuration and definition.
    pub tool: ToolRef,
    /// The server's name in programs.
    pub server_alias: String,
    /// The tool's name in programs.
    pub alias: String,
    /// The definition as the server listed it.
    pub definition: Arc<Tool>,
    signature: OnceLock<String>,
    fingerprint: OnceLock<String>,
    parameters: OnceLock<Vec<String>>,
    /// The declaration in TypeScript on one line, without what was observed, for each depth of its fields.
    pub(crate) typescript_lines: OnceLock<[Arc<str>; LINE_DEPTHS]>,
}

// === impl Entry ===

impl Entry {
    pub(crate) fn new(tool: ToolRef, server_alias: String, alias: String, definition: Arc<Tool>) -> Self {
        Self {
            tool,
            server_alias,
            alias,
            definition,
            signature: OnceLock::new(),
            fingerprint: OnceLock::new(),
            parameters: OnceLock::new(),
            typescript_lines: OnceLock::new(),
        }
    }

    /// One line that shows how to call the tool, and its result.
    pub fn signature(&self) -> &str {
        self.signature.get_or_init(|| {
            let (input, output) = (self.definition.input_schema(), self.definition.output_schema());
            let unknown = self.unknown_result();
            let returned = output.as_ref().map_or(Returned::Type(&unknown), Returned::Schema);
            signature::signature(self.callable(), &input, returned)
        })
    }

    /// The signature, with the observed result if none is declared.
    pub fn signature_with(&self, learned: Option<&Learned>) -> Cow<'_, str> {
        match learned {
            Some(learned) if self.definition.output_schema().is_none() => Cow::Owned(signature::observed(
                self.callable(),
                &self.definition.input_schema(),
                learned,
            )),
            _ => Cow::Borrowed(self.signature()),
        }
    }

    /// SHA-256 of the definition, in hexadecimal.
    pub fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| {
            let hash = Sha256::digest(self.definition.definition().get());
            hash.iter().fold(String::with_capacity(64), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        })
    }

    /// Compiles the check of a call's arguments. The caller stores the check, because the memory for checks is limited
    /// over all tools.
    pub fn check(&self) -> ArgumentValidator {
        ArgumentValidator::compile(&self.definition.input_schema())
    }

    /// Checks the arguments of a call.
    ///
    /// # Errors
    /// The problems, in a program's words.
    pub fn validate(&self, check: &ArgumentValidator, arguments: &Value) -> Result<(), ArgumentError> {
        check.run(|| self.definition.input_schema(), arguments)
    }

    /// Problems that [`Entry::validate`] will certainly report, for every value of the unknown arguments. Each problem
    /// names the parameter and the expected value.
    pub fn contradictions(&self, check: &ArgumentValidator, partial: &StaticArguments) -> Vec<String> {
        check.contradictions(|| self.definition.input_schema(), partial)
    }

    /// Whether the input schema has this parameter.
    pub fn declares(&self, parameter: &str) -> bool {
        let parameters = self.parameters.get_or_init(|| {
            let schema = self.definition.input_schema();
            let properties = schema.get("properties").and_then(Value::as_object);
            properties.map_or_else(Vec::new, |properties| properties.keys().cloned().collect())
        });
        parameters.iter().any(|name| name == parameter)
    }

    /// The type of a result that is neither declared nor observed.
    pub(crate) fn unknown_result(&self) -> Type {
        match self.definition.returns_any_value() {
            true => Type::Any,
            false => Type::Answer,
        }
    }

    /// The name after the last dot of a call: the tool's own name, if it is valid in Python.
    fn callable(&self) -> &str {
        if is_identifier(&self.tool.tool) {
            &self.tool.tool
        } else {
            &self.alias
        }
    }
}

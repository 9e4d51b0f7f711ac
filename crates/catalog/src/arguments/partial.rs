//! Problems of partly known arguments that no value of the unknown part can fix.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::LocationSegment;
use serde_json::{Map, Value};

use super::{ArgumentValidator, MAX_PROBLEMS, explain};

/// Limit on errors per check.
const MAX_ERRORS: usize = 64;

/// Path from the arguments to a value: names, and decimal indexes.
pub type Path = Vec<String>;

/// The arguments that a program's text shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StaticArguments {
    /// Known values; null for an unknown one.
    pub arguments: Map<String, Value>,
    /// Paths of unknown values.
    pub unknown: Vec<Path>,
    /// Objects that may have more keys; the empty path means the arguments themselves.
    pub open: Vec<Path>,
}

// === impl Partial ===

impl StaticArguments {
    fn is_whole(&self) -> bool {
        self.unknown.is_empty() && self.open.is_empty()
    }

    /// Whether the error holds for all unknown values.
    fn is_certain(&self, error: &ValidationError<'_>) -> bool {
        if self.is_whole() {
            return true;
        }
        let place: Path = error.instance_path().into_iter().map(segment).collect();
        if self.unknown.iter().any(|path| place.starts_with(path)) || is_conditional(error) {
            return false;
        }
        if self.open.contains(&place)
            && matches!(error.kind(), Kind::Required { .. } | Kind::MinProperties { .. })
        {
            return false;
        }
        let below = |path: &Path| path.starts_with(&place);
        let is_known_below = !self.unknown.iter().any(below) && !self.open.iter().any(below);
        is_known_below || is_of_shape(error.kind())
    }
}

/// Whether the error concerns a value's type, keys or number of items, rather than its content.
fn is_of_shape(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Type { .. }
            | Kind::Required { .. }
            | Kind::AdditionalProperties { .. }
            | Kind::MinProperties { .. }
            | Kind::MaxProperties { .. }
            | Kind::MinItems { .. }
            | Kind::MaxItems { .. }
    )
}

/// Whether the error depends on another part of the arguments.
fn is_conditional(error: &ValidationError<'_>) -> bool {
    let path = error.evaluation_path().as_str();
    let words = [
        "/then",
        "/else",
        "/dependentSchemas",
        "/dependentRequired",
        "/unevaluated",
    ];
    words.iter().any(|word| path.contains(word))
}

fn segment(segment: LocationSegment<'_>) -> String {
    match segment {
        LocationSegment::Property(name) => name.to_string(),
        LocationSegment::Index(index) => index.to_string(),
    }
}

// === impl Check ===

impl ArgumentValidator {
    /// The certain problems; empty if the arguments may be valid.
    pub(crate) fn contradictions(
        &self,
        input: impl FnOnce() -> Value,
        partial: &StaticArguments,
    ) -> Vec<String> {
        let arguments = Value::Object(partial.arguments.clone());
        let Some(validator) = &self.validator else {
            return Vec::new();
        };
        if self.is_beyond(&arguments) || validator.is_valid(&arguments) {
            return Vec::new();
        }
        let errors = validator.iter_errors(&arguments).take(MAX_ERRORS);
        let certain: Vec<ValidationError<'_>> = errors.filter(|error| partial.is_certain(error)).collect();
        if certain.is_empty() {
            return Vec::new();
        }
        let mut problems = explain::problems(&input(), &arguments, certain.into_iter());
        problems.truncate(MAX_PROBLEMS);
        problems
    }
}

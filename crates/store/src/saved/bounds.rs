//! Limits on keys, names, sources and values; a refusal names the limit.

use serde_json::Value;
use unicode_normalization::is_nfkc;

use super::python::{is_built_in, is_keyword};
use super::values::NewMemory;
use crate::saved_error::SavedError;

/// Longest key of a memory, in characters.
pub const MAX_KEY: usize = 256;
/// Longest name of a tool, in characters.
pub const MAX_NAME: usize = 100;
/// Longest source of a tool, in bytes.
pub const MAX_SOURCE: usize = 64 * 1024;
/// Longest value with metadata, as JSON, in bytes.
pub const MAX_MEMORY: usize = 1024 * 1024;
/// Maximum bytes of a principal's sources together; every session loads all of them.
pub const MAX_SOURCES: u64 = 4 * 1024 * 1024;
/// Maximum number of tools of a principal.
pub const MAX_TOOLS: u32 = 200;
/// Maximum number of memories of a principal.
pub const MAX_MEMORIES: u32 = 1000;
/// Maximum bytes of one principal's tools and memories.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) value: String,
    pub(crate) metadata: String,
}

// === impl Content ===

impl Content {
    pub(crate) fn of(value: &Value, metadata: &Value) -> Result<Content, SavedError> {
        let metadata = match metadata {
            Value::Null => "{}".to_owned(),
            Value::Object(_) => metadata.to_string(),
            _ => {
                return Err(refused(
                    "the metadata of a memory must be a dict with strings as keys",
                ));
            }
        };
        let content = Content {
            value: value.to_string(),
            metadata,
        };
        if content.bytes() > MAX_MEMORY {
            return Err(refused(format!(
                "the memory is too large: {} bytes as JSON, {MAX_MEMORY} are allowed with its metadata",
                content.bytes()
            )));
        }
        Ok(content)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.value.len() + self.metadata.len()
    }
}

/// Refuses a tool that would exceed a limit even in an empty database.
pub fn check_tool(name: &str, source: &str) -> Result<(), SavedError> {
    check_name(name)?;
    check_source(source)
}

/// Refuses a memory that would exceed a limit even in an empty database.
pub fn check_memory(memory: NewMemory<'_>) -> Result<(), SavedError> {
    check_key(memory.key)?;
    Content::of(memory.value, memory.metadata).map(drop)
}

/// Checks length and characters only. A key never becomes a path, so any text is allowed.
pub(crate) fn check_key(key: &str) -> Result<(), SavedError> {
    let characters = key.chars().count();
    if characters == 0 {
        return Err(refused(format!(
            "the key of a memory is empty; write 1 to {MAX_KEY} characters"
        )));
    }
    if characters > MAX_KEY {
        return Err(refused(format!(
            "the key of a memory is too long: {characters} characters, {MAX_KEY} are allowed"
        )));
    }
    if let Some(control) = key.chars().find(|c| c.is_control()) {
        return Err(refused(format!(
            "the key of a memory holds the control character U+{:04X}; every other character is allowed",
            u32::from(control)
        )));
    }
    Ok(())
}

/// Refuses a name that Python rejects for a function or reads as another name. Python reads the NFKC form, so only
/// that form is accepted.
pub(crate) fn check_name(name: &str) -> Result<(), SavedError> {
    const ALLOWED: &str = "letters, digits and `_`, and no digit first";
    let characters = name.chars().count();
    if characters > MAX_NAME {
        return Err(refused(format!(
            "the name of a tool is too long: {characters} characters, {MAX_NAME} are allowed"
        )));
    }
    let starts = |c: char| c == '_' || unicode_ident::is_xid_start(c);
    if !name.starts_with(starts) || !name.chars().all(unicode_ident::is_xid_continue) {
        return Err(refused(format!(
            "`{}` is not a tool name; write a Python name: {ALLOWED}",
            name.escape_debug()
        )));
    }
    if !is_nfkc(name) {
        return Err(refused(format!(
            "`{name}` is not a tool name: Python reads it as another name; write the NFKC form"
        )));
    }
    if is_keyword(name) {
        return Err(refused(format!(
            "`{name}` is a Python keyword; choose another name"
        )));
    }
    if is_built_in(name) {
        return Err(refused(format!(
            "`{name}` is built into Python: a tool of that name would replace it in every session; choose another"
        )));
    }
    Ok(())
}

/// Refuses a source that is not the text of one function.
fn check_source(source: &str) -> Result<(), SavedError> {
    if source.len() > MAX_SOURCE {
        return Err(refused(format!(
            "the source of the tool is too long: {} bytes, {MAX_SOURCE} are allowed",
            source.len()
        )));
    }
    if source.trim().is_empty() || source.contains('\0') {
        return Err(refused(
            "the source of the tool is empty or holds a NUL; it must be the text of one function",
        ));
    }
    Ok(())
}

fn refused(why: impl Into<String>) -> SavedError {
    SavedError::Refused(why.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check<T>(checked: Result<T, SavedError>, refused: Option<&str>) {
        match (checked, refused) {
            (Ok(_), None) => {}
            (Err(SavedError::Refused(why)), Some(part)) if why.contains(part) => {}
            (found, wanted) => panic!("{:?} instead of {wanted:?}", found.err()),
        }
    }

    #[test]
    fn keys_are_any_text_within_a_bound() {
        for key in [
            "a",
            "a/b",
            "a_b",
            "../../x",
            " ",
            "schl\u{fc}ssel",
            "\u{202e}x",
            "True",
        ] {
            check(check_key(key), None);
        }
        check(check_key(&"\u{fc}".repeat(MAX_KEY)), None);
        check(
            check_key(&"x".repeat(MAX_KEY + 1)),
            Some("257 characters, 256 are allowed"),
        );
        check(check_key(""), Some("1 to 256 characters"));
        check(check_key("a\0b"), Some("U+0000"));
        check(check_key("a\nb"), Some("U+000A"));
        check(check_key("a\u{9b}"), Some("U+009B"));
    }

    #[test]
    fn names_are_those_of_python() {
        for name in ["f", "_", "__init__", "f2", "gr\u{f6}\u{df}e", "\u{540d}", "match"] {
            check(check_name(name), None);
        }
        check(check_name(&"f".repeat(MAX_NAME)), None);
        check(
            check_name(&"f".repeat(300)),
            Some("300 characters, 100 are allowed"),
        );
        for name in [
            "",
            "2f",
            "a-b",
            "a.b",
            "../x",
            "a b",
            "a\0",
            "a\n",
            "\u{200b}f",
            "<lambda>",
            "f()",
        ] {
            check(check_name(name), Some("write a Python name"));
        }
        for name in ["class", "None", "await", "__debug__"] {
            check(check_name(name), Some("is a Python keyword"));
        }
        for name in ["print", "type", "ValueError", "__import__", "help"] {
            check(check_name(name), Some("is built into Python"));
        }
        // Python reads the ligature as "fix", the full-width letter as "f", the decomposed letter
        // as one letter.
        for name in ["\u{fb01}x", "\u{ff46}", "u\u{308}ber"] {
            check(check_name(name), Some("reads it as another name"));
        }
    }

    #[test]
    fn sources_and_values_are_bounded() {
        check(check_source("def f(): pass"), None);
        check(check_source(&"#".repeat(MAX_SOURCE)), None);
        check(
            check_source(&"#".repeat(MAX_SOURCE + 1)),
            Some("65536 are allowed"),
        );
        check(check_source(" \n"), Some("is empty"));
        check(check_source("def f():\0"), Some("NUL"));
        check(Content::of(&json!(null), &json!(null)), None);
        check(Content::of(&json!("x".repeat(MAX_MEMORY - 4)), &json!({})), None);
        check(
            Content::of(&json!("x".repeat(MAX_MEMORY - 3)), &json!({})),
            Some("1048576 are allowed"),
        );
        check(Content::of(&json!(1), &json!([])), Some("must be a dict"));
    }
}

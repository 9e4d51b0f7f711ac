//! Definitions in the gateway's database: entries of `mcpServers` without a file.

use std::path::Path;

use environment::{Environment, Mistake};
use upstream::ServerConfig;

use crate::entries::{self, Expansion, LIST};
use crate::json::JsonValue;

/// Replaces the file in messages.
const PLACE: &str = "the gateway's database";

/// Reads one entry, a JSON object. `None` if the entry is disabled.
///
/// Expands `${VAR}`. An unset variable is a mistake.
///
/// # Errors
/// All mistakes, each with a field of the entry, such as `headers.Authorization`.
pub fn read_stored(
    name: &str,
    definition: &str,
    environment: &dyn Environment,
) -> Result<Option<ServerConfig>, Vec<Mistake>> {
    let entry = JsonValue::parse(definition.as_bytes())
        .map_err(|(place, message)| vec![Mistake::new(None, &place, message)])?;
    let expansion = Expansion::Required(environment);
    let (entry, found) = entries::read_entry(Path::new(PLACE), LIST, &(name.to_owned(), entry), expansion);
    if found.mistakes.is_empty() {
        return Ok(entry.server);
    }
    let prefix = format!("{}.", entry.field);
    let within = |mistake: Mistake| {
        let field = mistake.field.strip_prefix(&prefix).unwrap_or_default();
        Mistake::new(None, field, mistake.message)
    };
    Err(found.mistakes.into_iter().map(within).collect())
}

#[cfg(test)]
mod tests {
    use test_support::FakeEnvironment;

    use super::*;

    #[test]
    fn an_entry_is_read_with_its_places() {
        let env = FakeEnvironment::new().var("TOKEN", "secret-token");
        let check = |definition: &str, expected: &str| {
            let read = match read_stored("crm", definition, &env) {
                Ok(None) => "disabled".to_owned(),
                Ok(Some(server)) => format!("{:?}", server.transport),
                Err(mistakes) => {
                    let lines = mistakes.iter().map(ToString::to_string);
                    lines.collect::<Vec<_>>().join("\n")
                }
            };
            assert!(read.contains(expected), "{definition}: {read}");
        };
        check(r#"{"url": "https://example.com/mcp"}"#, "https://example.com/mcp");
        check(
            r#"{"url": "https://${HOST}/", "headers": {"A": "${TOKEN}"}}"#,
            "url: the variable HOST is not set",
        );
        check(r#"{"command": "crm", "disabled": true}"#, "disabled");
        check(r#"{"timeout": 0}"#, "command: is missing");
        check(r#"{"command": "crm", "timeout": 0}"#, "timeout: expected");
        check("[]", "expected an object");
        check("{", "");
    }
}

//! One file of definitions: usable entries, and one warning for each unusable entry.

use std::path::Path;

use environment::{Diagnostics, Environment, Mistake, Warning};

use super::locations::SearchPath;
use crate::entries::{self, Expansion, ServerEntry};
use crate::json::JsonValue;

/// Names of the program that the surface `bridge` replaces. A server with such a name would nest bridges.
const ORIGINAL: [&str; 2] = ["mcp-server-code-execution-mode", "mcp_server_code_execution_mode"];
const OWN_NAME: &str = "codeyard";

/// Keys of the list of servers, in order of precedence. A dot separates nested keys.
const LISTS: [&str; 3] = [entries::LIST, "mcp.servers", "servers"];

#[derive(Debug, Default)]
pub(super) struct FileContent {
    /// All entries, including disabled servers.
    pub(super) entries: Vec<ServerEntry>,
    pub(super) warnings: Vec<Warning>,
}

pub(super) struct EntryFilter<'a> {
    pub(super) own_executable: &'a Path,
    pub(super) allow_self: bool,
    pub(super) env: &'a dyn Environment,
}

impl FileContent {
    pub(super) fn unusable(file: &Path, why: impl Into<String>) -> FileContent {
        FileContent::refused(file, "", why)
    }

    fn refused(file: &Path, position: &str, why: impl Into<String>) -> FileContent {
        let mut diagnostics = Diagnostics::of(Some(file));
        diagnostics.warning(position, format!("is skipped: {}", why.into()));
        FileContent {
            entries: Vec::new(),
            warnings: diagnostics.warnings,
        }
    }
}

pub(super) fn read(
    file: &Path,
    bytes: &[u8],
    search_path: &SearchPath,
    filter: &EntryFilter<'_>,
) -> FileContent {
    let is_toml = file.extension().is_some_and(|extension| extension == "toml");
    let parsed = if is_toml {
        JsonValue::parse_toml(bytes)
    } else if search_path.has_comments {
        JsonValue::parse_with_comments(bytes)
    } else {
        JsonValue::parse(bytes)
    };
    let top = match parsed {
        Ok(JsonValue::Object(top)) => top,
        Ok(other) => {
            let why = format!(
                "expected an object with `{}`, found {}",
                entries::LIST,
                other.kind()
            );
            return FileContent::unusable(file, why);
        }
        Err((at, why)) => return FileContent::refused(file, &at, why),
    };
    match find_list(&top) {
        Some((list, JsonValue::Object(entries))) => read_list(file, list, entries, &top, filter),
        Some((list, other)) => {
            FileContent::refused(file, list, format!("expected an object, found {}", other.kind()))
        }
        None if search_path.holds_only_servers => {
            FileContent::unusable(file, format!("`{}` is missing", entries::LIST))
        }
        None => FileContent::default(),
    }
}

fn find_list(top: &[(String, JsonValue)]) -> Option<(&'static str, &JsonValue)> {
    LISTS.into_iter().find_map(|list| {
        let inside = || match list.split_once('.') {
            Some((outer, inner)) => match get(top, outer) {
                Some(JsonValue::Object(entries)) => get(entries, inner),
                _ => None,
            },
            None => None,
        };
        Some((list, get(top, list).or_else(inside)?))
    })
}

fn get<'a>(entries: &'a [(String, JsonValue)], key: &str) -> Option<&'a JsonValue> {
    let found = entries.iter().find(|(name, _)| name == key);
    found.map(|(_, node)| node)
}

fn read_list(
    file: &Path,
    list: &str,
    entries: &[(String, JsonValue)],
    top: &[(String, JsonValue)],
    filter: &EntryFilter<'_>,
) -> FileContent {
    let about_all = match get(top, "description") {
        Some(JsonValue::String(text)) => Some(text),
        _ => None,
    };
    let mut content = FileContent::default();
    for member in entries {
        let (mut entry, found) = entries::read_entry(file, list, member, Expansion::Required(filter.env));
        if let Some(server) = &mut entry.server {
            server.description = server.description.take().or_else(|| about_all.cloned());
        }
        let mut warn = |message: String| {
            content.warnings.push(Warning {
                file: Some(file.to_path_buf()),
                field: entry.field.clone(),
                message,
            });
        };
        if !found.mistakes.is_empty() {
            warn(format!("is skipped: {}", together(&entry.field, &found.mistakes)));
            continue;
        }
        if entry.server.is_some() && !filter.allow_self && filter.is_self(&entry) {
            warn(
                "is skipped: the server would start another bridge; MCP_BRIDGE_ALLOW_SELF_SERVER=1 allows that"
                    .to_owned(),
            );
            continue;
        }
        if !found.warnings.is_empty() {
            warn(together(&entry.field, &found.warnings));
        }
        let stdio = entry.server.as_ref().and_then(|server| server.transport.stdio());
        let cwd = stdio.and_then(|stdio| stdio.cwd.as_deref());
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_dir()) {
            let cwd = cwd.display();
            warn(format!(
                "cwd: '{cwd}' is not a directory; create it, or the server cannot start"
            ));
        }
        content.entries.push(entry);
    }
    content
}

fn together(field: &str, found: &[Mistake]) -> String {
    let within = |mistake: &Mistake| {
        let field = mistake.field.strip_prefix(field).unwrap_or(&mistake.field);
        match field.trim_start_matches('.') {
            "" => mistake.message.clone(),
            field => format!("{field}: {}", mistake.message),
        }
    };
    found.iter().map(within).collect::<Vec<_>>().join("; ")
}

impl EntryFilter<'_> {
    /// Whether name, command or any argument names this bridge or the replaced program.
    fn is_self(&self, entry: &ServerEntry) -> bool {
        let Some(server) = &entry.server else {
            return false;
        };
        let original = |text: &str| {
            let text = text.to_ascii_lowercase();
            ORIGINAL.iter().any(|name| text.contains(name))
        };
        let is_original = server.transport.stdio().is_some_and(|stdio| {
            let command = stdio.command.rsplit('/').next().unwrap_or_default();
            original(command) || stdio.args.iter().any(|argument| original(argument))
        });
        original(&server.name)
            || server.name.eq_ignore_ascii_case(OWN_NAME)
            || is_original
            || upstream_wire::is_self_reference(&server.transport, self.own_executable)
    }
}

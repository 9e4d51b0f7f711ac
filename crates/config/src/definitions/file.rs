//! One file of definitions: what of it can be used, and one warning for each thing that cannot.

use std::path::Path;

use super::locations::Place;
use crate::host::Host;
use crate::json::Node;
use crate::mistakes::{Findings, Mistake, Warning};
use crate::servers::{self, Entry, Variables};

/// Names of the server that this surface takes the place of. What holds one of them would be a bridge below the bridge.
const ORIGINAL: [&str; 2] = ["mcp-server-code-execution-mode", "mcp_server_code_execution_mode"];
/// Our own name.
const OWN_NAME: &str = "codeyard";

/// Names of the list of servers, the first that is there counts; a dot leads into an object.
const LISTS: [&str; 3] = [servers::LIST, "mcp.servers", "servers"];

/// What a file says, as far as it can be used.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Names that the file defines, also those of servers that are not to be used.
    pub(super) entries: Vec<Entry>,
    pub(super) warnings: Vec<Warning>,
}

/// What decides over an entry beside its text.
pub(super) struct Judge<'a> {
    pub(super) own_executable: &'a Path,
    pub(super) allow_self: bool,
    pub(super) host: &'a dyn Host,
}

impl Content {
    /// A file that cannot be used at all.
    pub(super) fn unusable(file: &Path, why: impl Into<String>) -> Content {
        Content::refused(file, "", why)
    }

    fn refused(file: &Path, place: &str, why: impl Into<String>) -> Content {
        let mut findings = Findings::of(Some(file));
        findings.warning(place, format!("is skipped: {}", why.into()));
        Content {
            entries: Vec::new(),
            warnings: findings.warnings,
        }
    }
}

/// Reads a file.
pub(super) fn read(file: &Path, bytes: &[u8], place: &Place, judge: &Judge<'_>) -> Content {
    let is_toml = file.extension().is_some_and(|extension| extension == "toml");
    let parsed = if is_toml {
        Node::parse_toml(bytes)
    } else if place.has_comments {
        Node::parse_with_comments(bytes)
    } else {
        Node::parse(bytes)
    };
    let top = match parsed {
        Ok(Node::Object(top)) => top,
        Ok(other) => {
            let why = format!(
                "expected an object with `{}`, found {}",
                servers::LIST,
                other.kind()
            );
            return Content::unusable(file, why);
        }
        Err((at, why)) => return Content::refused(file, &at, why),
    };
    match find_list(&top) {
        Some((list, Node::Object(entries))) => read_list(file, list, entries, &top, judge),
        Some((list, other)) => {
            Content::refused(file, list, format!("expected an object, found {}", other.kind()))
        }
        None if place.is_dedicated => Content::unusable(file, format!("`{}` is missing", servers::LIST)),
        None => Content::default(),
    }
}

/// The list of servers and its name.
fn find_list(top: &[(String, Node)]) -> Option<(&'static str, &Node)> {
    LISTS.into_iter().find_map(|list| {
        let inside = || match list.split_once('.') {
            Some((outer, inner)) => match get(top, outer) {
                Some(Node::Object(entries)) => get(entries, inner),
                _ => None,
            },
            None => None,
        };
        Some((list, get(top, list).or_else(inside)?))
    })
}

fn get<'a>(entries: &'a [(String, Node)], key: &str) -> Option<&'a Node> {
    let found = entries.iter().find(|(name, _)| name == key);
    found.map(|(_, node)| node)
}

fn read_list(
    file: &Path,
    list: &str,
    entries: &[(String, Node)],
    top: &[(String, Node)],
    judge: &Judge<'_>,
) -> Content {
    let about_all = match get(top, "description") {
        Some(Node::String(text)) => Some(text),
        _ => None,
    };
    let mut content = Content::default();
    for named in entries {
        let (mut entry, found) = servers::read_entry(file, list, named, Variables::Expand(judge.host));
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
        if entry.server.is_some() && !judge.allow_self && judge.is_self(&entry) {
            warn(
                "is skipped: it would start a bridge below this one; MCP_BRIDGE_ALLOW_SELF_SERVER=1 allows that"
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
                "cwd: '{cwd}' is no directory; the server cannot start before it is one"
            ));
        }
        content.entries.push(entry);
    }
    content
}

/// What was found in one entry, in one line.
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

impl Judge<'_> {
    /// Whether the server would be this bridge or the one that it takes the place of: by its name, its command or any argument.
    fn is_self(&self, entry: &Entry) -> bool {
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

//! Changes single entries of an `mcpServers` file: everything else keeps its order and its spelling.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use upstream::ServerConfig;

use crate::host::Host;
use crate::json::{Node, unmarked};
use crate::kept::Turn;
use crate::load::Sources;
use crate::mistakes::{Findings, Mistake, Mistakes, why_unreadable};
use crate::places::{absolute, config_dir, resolved};
use crate::servers::{self, LIST, Variables, field_of};

/// A file of definitions as it is written.
#[derive(Debug)]
pub struct ServerFile {
    /// The file, without links; it need not be there yet.
    pub path: PathBuf,
    /// What it held when it was read.
    before: Option<Vec<u8>>,
    top: Pairs,
    entries: Pairs,
}

/// Why a file of definitions could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// No file is meant, or more than one may be.
    #[error("{0}")]
    WhichFile(&'static str),
    /// It cannot be read.
    #[error("{file}: {reason}", file = .file.display(), reason = why_unreadable(.cause))]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// It holds what would be lost.
    #[error("{file}: the file has comments, which would be lost; change it by hand", file = .0.display())]
    Comments(PathBuf),
    /// It is no configuration.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// Somebody else has changed it meanwhile.
    #[error("{file}: the file was changed meanwhile; nothing was saved, try again", file = .0.display())]
    Changed(PathBuf),
    /// It could not be written.
    #[error("{file}: {cause}; nothing was changed", file = .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// The members of an object in their order, each as it is written.
#[derive(Debug, Default)]
struct Pairs(Vec<(String, Box<RawValue>)>);

/// The file that commands change: the one of `--config`, else the user's `mcp.json`.
pub fn server_file(sources: &Sources, host: &dyn Host) -> Result<PathBuf, EditError> {
    let file = match sources.servers.as_slice() {
        [] => config_dir(host)
            .map(|directory| directory.join("mcp.json"))
            .ok_or(EditError::WhichFile(
                "there is no configuration directory: HOME is not set; set it, or name a file with --config",
            ))?,
        [file] => absolute(file, host),
        _ => {
            return Err(EditError::WhichFile(
                "name the one file that is to be changed with --config",
            ));
        }
    };
    // A link stays a link: what it leads to is replaced.
    Ok(resolved(&file, host))
}

// === impl ServerFile ===

impl ServerFile {
    /// Reads it; one that is not there is empty.
    pub fn open(path: PathBuf, host: &dyn Host) -> Result<ServerFile, EditError> {
        let bytes = match host.read_own(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Ok(ServerFile {
                    path,
                    before: None,
                    top: Pairs::default(),
                    entries: Pairs::default(),
                });
            }
            Err(cause) => return Err(EditError::Read { file: path, cause }),
        };
        let Ok(top) = Pairs::parse(&bytes) else {
            let is_commented = Node::parse_with_comments(&bytes).is_ok() && Node::parse(&bytes).is_err();
            if is_commented {
                return Err(EditError::Comments(path));
            }
            let (_, findings) = servers::read(&path, &bytes, Variables::Keep);
            return Err(unusable(&path, findings.mistakes));
        };
        let entries = match top.get(LIST) {
            None => Some(Pairs::default()),
            Some(list) => Pairs::parse(list.get().as_bytes()).ok(),
        };
        // What is wrong with the names would be written again; mistakes inside of entries are their own.
        let (_, findings) = servers::read(&path, &bytes, Variables::Keep);
        let wrong = |mistake: &Mistake| mistake.message.contains("more than once") || mistake.field == LIST;
        let wrong: Vec<_> = findings.mistakes.into_iter().filter(wrong).collect();
        match entries {
            Some(entries) if wrong.is_empty() => Ok(ServerFile {
                path,
                before: Some(bytes),
                top,
                entries,
            }),
            _ => Err(unusable(&path, wrong)),
        }
    }

    /// The names of its servers, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.0.iter().map(|(name, _)| name.as_str())
    }

    /// The entry of that name as it is written.
    pub fn entry(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.entries.get(name)?.get()).ok()
    }

    /// Adds an entry, or puts it in the place of the one of that name.
    pub fn set(&mut self, name: &str, entry: &Value) {
        let text = serde_json::to_string_pretty(entry).unwrap_or_default();
        if let Ok(raw) = RawValue::from_string(text.replace('\n', "\n    ")) {
            self.entries.set(name, raw);
        }
    }

    /// Marks an entry as not to be used, or takes the mark away; `false` if it was so already.
    ///
    /// # Errors
    /// If there is no such entry, or it is no object.
    pub fn set_disabled(&mut self, name: &str, disabled: bool) -> Result<bool, Mistakes> {
        let raw = self.entries.get(name).map(RawValue::get).unwrap_or_default();
        let Ok(mut fields) = Pairs::parse(raw.as_bytes()) else {
            let mut findings = Findings::of(Some(&self.path));
            findings.mistake(
                &field_of(LIST, name),
                "expected an object; write it anew or remove it",
            );
            return Err(Mistakes(findings.mistakes));
        };
        let is_disabled = fields.get("disabled").is_some_and(|raw| raw.get() == "true");
        if is_disabled == disabled {
            return Ok(false);
        }
        fields.0.retain(|(field, _)| field != "disabled");
        if disabled && let Ok(raw) = to_raw_value(&true) {
            fields.set("disabled", raw);
        }
        if let Ok(raw) = RawValue::from_string(fields.text(2)) {
            self.entries.set(name, raw);
        }
        Ok(true)
    }

    /// Removes an entry; `false` if there is none.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.0.len();
        self.entries.0.retain(|(known, _)| known != name);
        self.entries.0.len() < before
    }

    /// The server of an entry as it would be used now; `None` if it would not be used.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn server(&self, name: &str, host: &dyn Host) -> Result<Option<ServerConfig>, Mistakes> {
        let text = self.entries.get(name).map(RawValue::get).unwrap_or_default();
        let node: Node = serde_json::from_str(text).unwrap_or(Node::Null);
        let named = (name.to_owned(), node);
        let (entry, findings) = servers::read_entry(&self.path, LIST, &named, Variables::Expand(host));
        if findings.mistakes.is_empty() {
            Ok(entry.server)
        } else {
            Err(Mistakes(findings.mistakes))
        }
    }

    /// Replaces the file as one step, unless somebody who needs no turn, as an editor, has changed it since it was read.
    pub fn save(&mut self, turn: &Turn<'_>) -> Result<(), EditError> {
        let host = turn.host;
        if host.read(&self.path).ok() != self.before {
            return Err(EditError::Changed(self.path.clone()));
        }
        if let Ok(list) = RawValue::from_string(self.entries.text(1)) {
            self.top.set(LIST, list);
        }
        let text = format!("{}\n", self.top.text(0));
        host.replace(&self.path, text.as_bytes())
            .map_err(|cause| EditError::Write {
                file: self.path.clone(),
                cause,
            })?;
        self.before = Some(text.into_bytes());
        Ok(())
    }
}

/// What makes a file one that cannot be changed; never nothing.
fn unusable(path: &Path, mut mistakes: Vec<Mistake>) -> EditError {
    if mistakes.is_empty() {
        let mut findings = Findings::of(Some(path));
        findings.mistake(
            "",
            "holds no list of servers that can be changed; change it by hand",
        );
        mistakes = findings.mistakes;
    }
    EditError::Mistakes(Mistakes(mistakes))
}

/// The entries of a file, those that are not to be used too, with variables as they are written.
pub(crate) fn entries(bytes: &[u8]) -> Vec<(String, Value)> {
    let top = Pairs::parse(bytes).unwrap_or_default();
    let list = top.get(LIST).map(RawValue::get).unwrap_or_default();
    let entries = Pairs::parse(list.as_bytes()).unwrap_or_default();
    let entries = entries.0.into_iter();
    entries
        .filter_map(|(name, raw)| Some((name, serde_json::from_str(raw.get()).ok()?)))
        .collect()
}

// === impl Pairs ===

impl Pairs {
    fn parse(bytes: &[u8]) -> serde_json::Result<Pairs> {
        serde_json::from_slice(unmarked(bytes))
    }

    fn get(&self, key: &str) -> Option<&RawValue> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, raw)| &**raw)
    }

    fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, raw)) => *raw = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// The object at this depth, a member a line.
    fn text(&self, depth: usize) -> String {
        if self.0.is_empty() {
            return "{}".to_owned();
        }
        let indent = "  ".repeat(depth);
        let mut text = "{".to_owned();
        for (index, (name, raw)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{comma}\n{indent}  {}: {}",
                Value::from(name.as_str()),
                raw.get()
            );
        }
        let _ = write!(text, "\n{indent}}}");
        text
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fake::Fake;
    use crate::kept::turn;

    const FILE: &str = "/project/mcp.json";

    fn edited(text: &str, edit: impl FnOnce(&mut ServerFile)) -> String {
        let host = Fake::new().file(FILE, text);
        let mut file = ServerFile::open(FILE.into(), &host).unwrap();
        edit(&mut file);
        file.save(&turn(Path::new("/data"), &host).unwrap()).unwrap();
        String::from_utf8(host.read(Path::new(FILE)).unwrap()).unwrap()
    }

    #[test]
    fn other_entries_keep_their_order_and_spelling() {
        let text = r#"{
  "theirs": {"x": 1.50, "big": 123456789012345678901234567890},
  "mcpServers": {
    "b": {"command": "b", "extra": [1,  2]},
    "a": {
      "command": "a"
    }
  }
}
"#;
        let added = edited(text, |file| {
            file.set("new", &json!({"command": "c", "args": ["é"]}))
        });
        assert_eq!(
            added,
            r#"{
  "theirs": {"x": 1.50, "big": 123456789012345678901234567890},
  "mcpServers": {
    "b": {"command": "b", "extra": [1,  2]},
    "a": {
      "command": "a"
    },
    "new": {
      "command": "c",
      "args": [
        "é"
      ]
    }
  }
}
"#
        );
        let removed = edited(&added, |file| assert!(file.remove("new")));
        assert_eq!(removed, text);
        let disabled = edited(text, |file| assert!(file.set_disabled("b", true).unwrap()));
        assert!(
            disabled.contains("\"extra\": [1,  2],\n      \"disabled\": true\n    }"),
            "{disabled}"
        );
        let enabled = edited(&disabled, |file| assert!(file.set_disabled("b", false).unwrap()));
        assert!(!enabled.contains("disabled"), "{enabled}");
        edited(text, |file| {
            assert!(!file.set_disabled("b", false).unwrap() && !file.remove("zzz"))
        });
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        let host = Fake::new();
        let mut file = ServerFile::open(FILE.into(), &host).unwrap();
        file.set("a", &json!({"command": "a"}));
        file.save(&turn(Path::new("/data"), &host).unwrap()).unwrap();
        let text = String::from_utf8(host.read(Path::new(FILE)).unwrap()).unwrap();
        assert_eq!(
            text,
            "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\"\n    }\n  }\n}\n"
        );
    }

    #[test]
    fn what_would_be_lost_or_is_broken_is_refused() {
        for (text, told) in [
            ("{\"mcpServers\": {} // mine\n}", "has comments"),
            ("{\"mcpServers\": []}", "expected an object, found an array"),
            ("{\"mcpServers\": null}", "expected an object, found null"),
            ("\u{feff}{\"mcpServers\": [", "line 1"),
            ("{\"mcpServers\": ", "line 1"),
            ("[]", "expected an object"),
            (
                "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, \"a\": {\"command\": \"b\"}}}",
                "more than once",
            ),
        ] {
            let host = Fake::new().file(FILE, text);
            let error = ServerFile::open(FILE.into(), &host).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_mistake() {
        let marked = edited(
            "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}",
            |file| {
                assert!(file.set_disabled("a", true).unwrap());
            },
        );
        assert!(marked.contains("\"disabled\": true"), "{marked}");
        let entries = entries("\u{feff}{\"mcpServers\": {\"a\": 1}}".as_bytes());
        assert_eq!(entries, [("a".to_owned(), json!(1))]);
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_stays() {
        let host = Fake::new().file(FILE, "{\"mcpServers\": {}}");
        let mut file = ServerFile::open(FILE.into(), &host).unwrap();
        host.replace(Path::new(FILE), b"{}").unwrap();
        let turn = turn(Path::new("/data"), &host).unwrap();
        let error = file.save(&turn).unwrap_err().to_string();
        assert!(error.contains("changed meanwhile"), "{error}");
        assert_eq!(host.read(Path::new(FILE)).unwrap(), b"{}");
    }
}

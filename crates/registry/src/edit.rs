//! Edits single entries of an `mcpServers` file.
//!
//! All other content keeps its order and spelling.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use environment::{
    ChangeLock, Diagnostics, Environment, Mistake, Mistakes, absolute, config_dir, why_unreadable,
    without_links,
};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use upstream::ServerConfig;

use crate::entries::{self, Expansion, LIST, field_of};
use crate::json::{JsonValue, without_byte_order_mark};
use crate::sources::Sources;

/// An editable file of definitions.
#[derive(Debug)]
pub struct DefinitionFile {
    /// Path with links resolved. The file may be missing.
    pub path: PathBuf,
    /// Content when read.
    before: Option<Vec<u8>>,
    top: RawMembers,
    entries: RawMembers,
}

/// Why a file of definitions cannot be edited.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// There is no file to edit, or more than one.
    #[error("{0}")]
    WhichFile(&'static str),
    /// The file cannot be read.
    #[error("{file}: {reason}", file = .file.display(), reason = why_unreadable(.cause))]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The file has comments, which an edit would remove.
    #[error("{file}: the file has comments, which would be lost; change it by hand", file = .0.display())]
    Comments(PathBuf),
    /// The file has mistakes.
    #[error(transparent)]
    Mistakes(#[from] Mistakes),
    /// Another program changed the file after it was read.
    #[error("{file}: the file was changed meanwhile; nothing was saved, try again", file = .0.display())]
    Changed(PathBuf),
    /// The file cannot be written.
    #[error("{file}: {cause}; nothing was changed", file = .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

/// Members of an object in order, each with its spelling.
#[derive(Debug, Default)]
struct RawMembers(Vec<(String, Box<RawValue>)>);

/// The file that commands edit: the file of `--config`, else the user's `mcp.json`.
pub fn file_to_edit(sources: &Sources, env: &dyn Environment) -> Result<PathBuf, EditError> {
    let file = match sources.files.as_slice() {
        [] => config_dir(env)
            .map(|directory| directory.join("mcp.json"))
            .ok_or(EditError::WhichFile(
                "there is no configuration directory: HOME is not set; set it, or name a file with --config",
            ))?,
        [file] => absolute(file, env),
        _ => {
            return Err(EditError::WhichFile("name the file to change with one --config"));
        }
    };
    // Replace a link's target and keep the link.
    Ok(without_links(&file, env))
}

// === impl DefinitionFile ===

impl DefinitionFile {
    /// A missing file counts as empty.
    pub fn open(path: PathBuf, env: &dyn Environment) -> Result<DefinitionFile, EditError> {
        let bytes = match env.read_protected(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Ok(DefinitionFile {
                    path,
                    before: None,
                    top: RawMembers::default(),
                    entries: RawMembers::default(),
                });
            }
            Err(cause) => return Err(EditError::Read { file: path, cause }),
        };
        let Ok(top) = RawMembers::parse(&bytes) else {
            let is_commented =
                JsonValue::parse_with_comments(&bytes).is_ok() && JsonValue::parse(&bytes).is_err();
            if is_commented {
                return Err(EditError::Comments(path));
            }
            let (_, diagnostics) = entries::read_file(&path, &bytes, Expansion::Off);
            return Err(unusable(&path, diagnostics.mistakes));
        };
        let entries = match top.get(LIST) {
            None => Some(RawMembers::default()),
            Some(list) => RawMembers::parse(list.get().as_bytes()).ok(),
        };
        // Duplicate names would be lost or written twice. Mistakes inside an entry do not matter here.
        let (_, diagnostics) = entries::read_file(&path, &bytes, Expansion::Off);
        let wrong = |mistake: &Mistake| mistake.message.contains("more than once") || mistake.field == LIST;
        let wrong: Vec<_> = diagnostics.mistakes.into_iter().filter(wrong).collect();
        match entries {
            Some(entries) if wrong.is_empty() => Ok(DefinitionFile {
                path,
                before: Some(bytes),
                top,
                entries,
            }),
            _ => Err(unusable(&path, wrong)),
        }
    }

    /// The servers' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.0.iter().map(|(name, _)| name.as_str())
    }

    /// A server's entry, with unexpanded variables.
    pub fn entry(&self, name: &str) -> Option<Value> {
        serde_json::from_str(self.entries.get(name)?.get()).ok()
    }

    /// Adds or replaces a server's entry.
    pub fn set(&mut self, name: &str, entry: &Value) {
        let text = serde_json::to_string_pretty(entry).unwrap_or_default();
        if let Ok(raw) = RawValue::from_string(text.replace('\n', "\n    ")) {
            self.entries.set(name, raw);
        }
    }

    /// Sets `"disabled": true`; `false` if already disabled.
    ///
    /// # Errors
    /// If the entry is missing or not an object.
    pub fn disable(&mut self, name: &str) -> Result<bool, Mistakes> {
        let mut members = self.members(name)?;
        if is_disabled(&members) {
            return Ok(false);
        }
        members.0.retain(|(field, _)| field != "disabled");
        if let Ok(raw) = to_raw_value(&true) {
            members.set("disabled", raw);
        }
        self.set_members(name, &members);
        Ok(true)
    }

    /// Removes `disabled`; `false` if already enabled.
    ///
    /// # Errors
    /// If the entry is missing or not an object.
    pub fn enable(&mut self, name: &str) -> Result<bool, Mistakes> {
        let mut members = self.members(name)?;
        if !is_disabled(&members) {
            return Ok(false);
        }
        members.0.retain(|(field, _)| field != "disabled");
        self.set_members(name, &members);
        Ok(true)
    }

    fn members(&self, name: &str) -> Result<RawMembers, Mistakes> {
        let raw = self.entries.get(name).map(RawValue::get).unwrap_or_default();
        RawMembers::parse(raw.as_bytes()).map_err(|_| {
            let mut diagnostics = Diagnostics::of(Some(&self.path));
            diagnostics.mistake(
                &field_of(LIST, name),
                "expected an object; write the entry again or remove it",
            );
            Mistakes(diagnostics.mistakes)
        })
    }

    fn set_members(&mut self, name: &str, members: &RawMembers) {
        if let Ok(raw) = RawValue::from_string(members.text(2)) {
            self.entries.set(name, raw);
        }
    }

    /// Removes a server's entry; `false` if missing.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.0.len();
        self.entries.0.retain(|(known, _)| known != name);
        self.entries.0.len() < before
    }

    /// The server with the current variables; `None` if disabled.
    ///
    /// # Errors
    /// All mistakes of the entry.
    pub fn server(&self, name: &str, env: &dyn Environment) -> Result<Option<ServerConfig>, Mistakes> {
        let text = self.entries.get(name).map(RawValue::get).unwrap_or_default();
        let node: JsonValue = serde_json::from_str(text).unwrap_or(JsonValue::Null);
        let member = (name.to_owned(), node);
        let (entry, diagnostics) = entries::read_entry(&self.path, LIST, &member, Expansion::Required(env));
        if diagnostics.mistakes.is_empty() {
            Ok(entry.server)
        } else {
            Err(Mistakes(diagnostics.mistakes))
        }
    }

    /// Replaces the file atomically. Fails if a program without the lock, such as an editor,
    /// changed the file after it was read.
    pub fn save(&mut self, lock: &ChangeLock<'_>) -> Result<(), EditError> {
        let env = lock.env();
        if env.read(&self.path).ok() != self.before {
            return Err(EditError::Changed(self.path.clone()));
        }
        if let Ok(list) = RawValue::from_string(self.entries.text(1)) {
            self.top.set(LIST, list);
        }
        let text = format!("{}\n", self.top.text(0));
        env.replace(&self.path, text.as_bytes())
            .map_err(|cause| EditError::Write {
                file: self.path.clone(),
                cause,
            })?;
        self.before = Some(text.into_bytes());
        Ok(())
    }
}

/// The file's mistakes, or a general error.
fn unusable(path: &Path, mut mistakes: Vec<Mistake>) -> EditError {
    if mistakes.is_empty() {
        let mut diagnostics = Diagnostics::of(Some(path));
        diagnostics.mistake(
            "",
            "holds no list of servers that can be changed; change it by hand",
        );
        mistakes = diagnostics.mistakes;
    }
    EditError::Mistakes(Mistakes(mistakes))
}

/// All entries of a file, with unexpanded variables.
pub(crate) fn raw_entries(bytes: &[u8]) -> Vec<(String, Value)> {
    let top = RawMembers::parse(bytes).unwrap_or_default();
    let list = top.get(LIST).map(RawValue::get).unwrap_or_default();
    let entries = RawMembers::parse(list.as_bytes()).unwrap_or_default();
    let entries = entries.0.into_iter();
    entries
        .filter_map(|(name, raw)| Some((name, serde_json::from_str(raw.get()).ok()?)))
        .collect()
}

// === impl RawMembers ===

impl RawMembers {
    fn parse(bytes: &[u8]) -> serde_json::Result<RawMembers> {
        serde_json::from_slice(without_byte_order_mark(bytes))
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

    /// The object as text, one member per line, indented by `depth`.
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

impl<'de> Deserialize<'de> for RawMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RawMembersVisitor)
    }
}

struct RawMembersVisitor;

impl<'de> Visitor<'de> for RawMembersVisitor {
    type Value = RawMembers;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawMembers, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(RawMembers(pairs))
    }
}

fn is_disabled(members: &RawMembers) -> bool {
    members.get("disabled").is_some_and(|raw| raw.get() == "true")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use test_support::FakeEnvironment;

    use super::*;

    const FILE: &str = "/project/mcp.json";

    fn edited(text: &str, edit: impl FnOnce(&mut DefinitionFile)) -> String {
        let env = FakeEnvironment::new().file(FILE, text);
        let mut file = DefinitionFile::open(FILE.into(), &env).unwrap();
        edit(&mut file);
        file.save(&ChangeLock::acquire(Path::new("/data"), &env).unwrap())
            .unwrap();
        String::from_utf8(env.read(Path::new(FILE)).unwrap()).unwrap()
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
        let disabled = edited(text, |file| assert!(file.disable("b").unwrap()));
        assert!(
            disabled.contains("\"extra\": [1,  2],\n      \"disabled\": true\n    }"),
            "{disabled}"
        );
        let enabled = edited(&disabled, |file| assert!(file.enable("b").unwrap()));
        assert!(!enabled.contains("disabled"), "{enabled}");
        edited(text, |file| {
            assert!(!file.enable("b").unwrap() && !file.remove("zzz"))
        });
    }

    #[test]
    fn a_missing_file_is_created() {
        let env = FakeEnvironment::new();
        let mut file = DefinitionFile::open(FILE.into(), &env).unwrap();
        file.set("a", &json!({"command": "a"}));
        file.save(&ChangeLock::acquire(Path::new("/data"), &env).unwrap())
            .unwrap();
        let text = String::from_utf8(env.read(Path::new(FILE)).unwrap()).unwrap();
        assert_eq!(
            text,
            "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\"\n    }\n  }\n}\n"
        );
    }

    #[test]
    fn comments_and_broken_files_are_refused() {
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
            let env = FakeEnvironment::new().file(FILE, text);
            let error = DefinitionFile::open(FILE.into(), &env).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_accepted() {
        let marked = edited(
            "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"a\"}}}",
            |file| {
                assert!(file.disable("a").unwrap());
            },
        );
        assert!(marked.contains("\"disabled\": true"), "{marked}");
        let entries = raw_entries("\u{feff}{\"mcpServers\": {\"a\": 1}}".as_bytes());
        assert_eq!(entries, [("a".to_owned(), json!(1))]);
    }

    #[test]
    fn changes_of_other_programs_stay() {
        let env = FakeEnvironment::new().file(FILE, "{\"mcpServers\": {}}");
        let mut file = DefinitionFile::open(FILE.into(), &env).unwrap();
        env.replace(Path::new(FILE), b"{}").unwrap();
        let lock = ChangeLock::acquire(Path::new("/data"), &env).unwrap();
        let error = file.save(&lock).unwrap_err().to_string();
        assert!(error.contains("changed meanwhile"), "{error}");
        assert_eq!(env.read(Path::new(FILE)).unwrap(), b"{}");
    }
}

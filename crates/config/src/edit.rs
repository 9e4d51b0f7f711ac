//! Changes single entries of an `mcpServers` file: everything else keeps its order and its spelling.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use upstream::ServerConfig;

use crate::host::Host;
use crate::json::Node;
use crate::load::Sources;
use crate::mistakes::{Mistake, Mistakes, why_unreadable};
use crate::places::{absolute, config_dir};
use crate::servers::{self, LIST, Variables};

/// A file of definitions as it is written.
#[derive(Debug)]
pub struct ServerFile {
    /// The file, without links; it need not be there yet.
    pub path: PathBuf,
    /// What it held when it was read.
    before: Option<Vec<u8>>,
    top: Pairs,
    entries: Pairs,
    /// The entries that are to be changed, as they were: `None` for one that was not there.
    edited: BTreeMap<String, Option<String>>,
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
    Ok(host.canonical(&file).unwrap_or(file))
}

// === impl ServerFile ===

impl ServerFile {
    /// Reads it; one that is not there is empty.
    pub fn open(path: PathBuf, host: &dyn Host) -> Result<ServerFile, EditError> {
        let bytes = match host.read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                return Ok(ServerFile {
                    path,
                    before: None,
                    top: Pairs::default(),
                    entries: Pairs::default(),
                    edited: BTreeMap::new(),
                });
            }
            Err(cause) => return Err(EditError::Read { file: path, cause }),
        };
        let Ok(top) = serde_json::from_slice::<Pairs>(&bytes) else {
            let is_commented = Node::parse_with_comments(&bytes).is_ok() && Node::parse(&bytes).is_err();
            if is_commented {
                return Err(EditError::Comments(path));
            }
            let (_, findings) = servers::read(&path, &bytes, Variables::Keep);
            return Err(Mistakes(findings.mistakes).into());
        };
        let entries = match top.get(LIST) {
            None => Some(Pairs::default()),
            Some(list) => serde_json::from_str(list.get()).ok(),
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
                edited: BTreeMap::new(),
            }),
            _ => Err(Mistakes(wrong).into()),
        }
    }

    /// The names of its servers, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.0.iter().map(|(name, _)| name.as_str())
    }

    /// An entry as it is written.
    pub fn entry(&self, name: &str) -> Option<Value> {
        let raw = self.entries.get(name)?;
        serde_json::from_str(raw.get()).ok()
    }

    /// Adds an entry, or puts it in the place of the one of that name.
    pub fn set(&mut self, name: &str, entry: &Value) {
        self.note(name);
        let text = serde_json::to_string_pretty(entry).unwrap_or_default();
        if let Ok(raw) = RawValue::from_string(text.replace('\n', "\n    ")) {
            self.entries.set(name, raw);
        }
    }

    /// Marks an entry as not to be used, or takes the mark away; `false` if it was so already.
    pub fn set_disabled(&mut self, name: &str, disabled: bool) -> bool {
        let pairs = self.entries.get(name);
        let Some(mut fields) = pairs.and_then(|raw| serde_json::from_str::<Pairs>(raw.get()).ok()) else {
            return false;
        };
        let is_disabled = fields.get("disabled").is_some_and(|raw| raw.get() == "true");
        if is_disabled == disabled {
            return false;
        }
        self.note(name);
        fields.0.retain(|(field, _)| field != "disabled");
        if disabled && let Ok(raw) = to_raw_value(&true) {
            fields.set("disabled", raw);
        }
        if let Ok(raw) = RawValue::from_string(fields.text(2)) {
            self.entries.set(name, raw);
        }
        true
    }

    /// Removes an entry; `false` if there is none.
    pub fn remove(&mut self, name: &str) -> bool {
        self.note(name);
        self.entries.remove(name)
    }

    /// Remembers how an entry was before its first change.
    fn note(&mut self, name: &str) {
        let before = self.entries.text_of(name);
        self.edited.entry(name.to_owned()).or_insert(before);
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

    /// Replaces the file as one step. What somebody else has changed in it since it was read stays, unless it is the same
    /// entry.
    pub fn save(&mut self, host: &dyn Host) -> Result<(), EditError> {
        let hold = host.hold(&self.path).map_err(|cause| EditError::Write {
            file: self.path.clone(),
            cause,
        });
        let _hold = hold?;
        if host.read(&self.path).ok() != self.before {
            self.take_up(host)?;
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

impl ServerFile {
    /// Makes the same changes to the file as it is now.
    fn take_up(&mut self, host: &dyn Host) -> Result<(), EditError> {
        let mut now = ServerFile::open(self.path.clone(), host)?;
        let is_gone = self.before.is_some() && now.before.is_none();
        let is_other = |(name, before): (&String, &Option<String>)| now.entries.text_of(name) != *before;
        if is_gone || self.edited.iter().any(is_other) {
            return Err(EditError::Changed(self.path.clone()));
        }
        for name in self.edited.keys() {
            match self.entries.get(name) {
                Some(entry) => now.entries.set(name, entry.to_owned()),
                None => drop(now.entries.remove(name)),
            }
        }
        now.edited = std::mem::take(&mut self.edited);
        *self = now;
        Ok(())
    }
}

/// The entries of a file, those that are not to be used too, with variables as they are written.
pub(crate) fn entries(bytes: &[u8]) -> Vec<(String, Value)> {
    let top = serde_json::from_slice::<Pairs>(bytes).unwrap_or_default();
    let list = top.get(LIST).map(RawValue::get).unwrap_or_default();
    let entries: Pairs = serde_json::from_str(list).unwrap_or_default();
    let entries = entries.0.into_iter();
    entries
        .filter_map(|(name, raw)| Some((name, serde_json::from_str(raw.get()).ok()?)))
        .collect()
}

// === impl Pairs ===

impl Pairs {
    fn get(&self, key: &str) -> Option<&RawValue> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, raw)| &**raw)
    }

    fn text_of(&self, key: &str) -> Option<String> {
        Some(self.get(key)?.get().to_owned())
    }

    /// `false` if there is no such member.
    fn remove(&mut self, key: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(known, _)| known != key);
        self.0.len() < before
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
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::fake::Fake;

    const FILE: &str = "/project/mcp.json";

    fn edited(text: &str, edit: impl FnOnce(&mut ServerFile)) -> String {
        let host = Fake::new().file(FILE, text);
        let mut file = ServerFile::open(FILE.into(), &host).unwrap();
        edit(&mut file);
        file.save(&host).unwrap();
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
        let disabled = edited(text, |file| assert!(file.set_disabled("b", true)));
        assert!(
            disabled.contains("\"extra\": [1,  2],\n      \"disabled\": true\n    }"),
            "{disabled}"
        );
        let enabled = edited(&disabled, |file| assert!(file.set_disabled("b", false)));
        assert!(!enabled.contains("disabled"), "{enabled}");
        edited(text, |file| {
            assert!(!file.set_disabled("b", false) && !file.remove("zzz"))
        });
    }

    #[test]
    fn a_file_that_is_not_there_is_made() {
        let host = Fake::new();
        let mut file = ServerFile::open(FILE.into(), &host).unwrap();
        file.set("a", &json!({"command": "a"}));
        file.save(&host).unwrap();
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
    fn what_somebody_else_wrote_meanwhile_stays() {
        let host = Fake::new().file(FILE, r#"{"mcpServers": {"old": {"command": "o"}}}"#);
        let open = || ServerFile::open(FILE.into(), &host).unwrap();
        let (mut one, mut two, mut late) = (open(), open(), open());
        one.set("one", &json!({"command": "1"}));
        one.save(&host).unwrap();
        two.set("two", &json!({"command": "2"}));
        assert!(two.remove("old"));
        two.save(&host).unwrap();
        let names: Vec<String> = open().names().map(str::to_owned).collect();
        assert_eq!(names, ["one", "two"]);
        // The same entry is nobody's to overwrite.
        let before = host.read(Path::new(FILE)).unwrap();
        late.set("one", &json!({"command": "3"}));
        let error = late.save(&host).unwrap_err().to_string();
        assert!(error.contains("changed meanwhile"), "{error}");
        assert_eq!(host.read(Path::new(FILE)).unwrap(), before);
    }
}

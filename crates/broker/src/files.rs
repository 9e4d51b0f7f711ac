//! The files below `/tools` that describe tools to programs.

use std::collections::BTreeMap;

use catalog::{Catalog, Entry};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use types::{Principal, TreeFile};

use crate::broker::Broker;
use crate::learner::LearnedTypes;

/// The server name of the list of tools.
const OWNER: &str = "codeyard";

/// The index of the tool files, with their parameters.
const INDEX: &str = "tools/files.json";

impl Broker {
    /// Files of every tool that `principal` may call, as `tools/<server>/<tool>.py` and `.ts`, with the
    /// lists of all of them. A server without a list has a directory without tools.
    pub fn files<'a>(
        &self,
        principal: &Principal,
        catalog: &'a Catalog,
        learned: &LearnedTypes,
    ) -> BTreeMap<String, TreeFile<'a>> {
        let visible = |entry: &Entry| self.core.may_call(principal, entry);
        // Fill the entries' caches first: allocated between megabytes of files, the caches would keep that memory in
        // use.
        for entry in catalog.entries().filter(|entry| visible(entry)) {
            let _ = entry.signature();
        }
        let mut files = catalog::tree(catalog, OWNER, &visible, &|entry| learned.of(entry));
        self.add_tool_files(catalog, &visible, &mut files);
        files
    }

    /// Replaces the stubs of tool files by the files themselves, and adds an index for calls.
    fn add_tool_files(
        &self,
        catalog: &Catalog,
        visible: &dyn Fn(&Entry) -> bool,
        files: &mut BTreeMap<String, TreeFile<'_>>,
    ) {
        let mut index = json!({});
        for entry in catalog.entries().filter(|entry| visible(entry)) {
            let Some(file) = self.core.lists.file(&entry.tool) else {
                continue;
            };
            let place = format!("{}/{}.py", entry.server_alias, entry.alias);
            let source: Vec<u8> = file.source.as_bytes().into();
            files.insert(format!("tools/{place}"), whole(source));
            let described = json!({
                "file": place,
                "function": file.function,
                "hash": file.hash,
                "names": file.names,
                "open": file.is_open,
                "positional": file.positional,
                "required": file.required,
                "unnamed": file.unnamed,
            });
            for server in [&entry.tool.server, &entry.server_alias] {
                for tool in [&entry.tool.tool, &entry.alias] {
                    index[server.as_str()][tool.as_str()] = described.clone();
                }
            }
        }
        if index != json!({}) {
            files.insert(INDEX.to_owned(), whole(index.to_string().into_bytes()));
        }
    }
}

/// A file whose key is its content's hash.
fn whole(content: Vec<u8>) -> TreeFile<'static> {
    TreeFile::new(Sha256::digest(&content).into(), move || content.clone())
}

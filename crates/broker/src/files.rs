//! The files below `/tools` that describe tools to programs.

use std::collections::BTreeMap;

use catalog::{Catalog, Entry};
use serde_json::json;
use types::Principal;

use crate::broker::Broker;
use crate::learner::LearnedTypes;

/// The index of the tool files, with their parameters.
const INDEX: &str = "tools/files.json";

impl Broker {
    /// Files of every tool that `principal` may call, as `tools/<server>/<tool>.py`. A server
    /// without a list has an empty directory.
    pub fn files(
        &self,
        principal: &Principal,
        catalog: &Catalog,
        learned: &LearnedTypes,
    ) -> BTreeMap<String, Vec<u8>> {
        let visible = |entry: &Entry| self.core.may_call(principal, entry);
        // Fill the entries' caches first: allocated between megabytes of files, the caches would keep that memory in
        // use.
        for entry in catalog.entries().filter(|entry| visible(entry)) {
            let _ = entry.signature();
        }
        let files = catalog::modules(catalog, &visible, &|entry| learned.of(entry));
        let bytes = |(name, text): (String, String)| (name, text.into_bytes());
        let mut files: BTreeMap<String, Vec<u8>> = files.into_iter().map(bytes).collect();
        self.add_tool_files(catalog, &visible, &mut files);
        files
    }

    /// Replaces the stubs of tool files by the files themselves, and adds an index for calls.
    fn add_tool_files(
        &self,
        catalog: &Catalog,
        visible: &dyn Fn(&Entry) -> bool,
        files: &mut BTreeMap<String, Vec<u8>>,
    ) {
        let mut index = json!({});
        for entry in catalog.entries().filter(|entry| visible(entry)) {
            let Some(file) = self.core.lists.file(&entry.tool) else {
                continue;
            };
            let place = format!("{}/{}.py", entry.server_alias, entry.alias);
            files.insert(format!("tools/{place}"), file.source.as_bytes().to_vec());
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
            files.insert(INDEX.to_owned(), index.to_string().into_bytes());
        }
    }
}

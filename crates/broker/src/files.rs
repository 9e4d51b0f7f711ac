//! The files that describe tools, as programs find them below `/tools`.

use std::collections::BTreeMap;

use catalog::{Catalog, Entry};
use types::Principal;

use crate::broker::Broker;
use crate::learner::LearnedTypes;

/// Longest name of a file; a tool with a longer one is called all the same, only its file is left out.
const LONGEST_NAME: usize = 255;

impl Broker {
    /// The files of every tool that `principal` may call, as `tools/<server>/<tool>.py`. A server that has not listed
    /// its tools has a directory without any.
    pub fn files(
        &self,
        principal: &Principal,
        catalog: &Catalog,
        learned: &LearnedTypes,
    ) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let visible = |entry: &Entry| self.shared.may_call(principal, entry);
        // What entries keep for good is made first: between megabytes of files it would hold on to their memory.
        for entry in catalog.entries().filter(|entry| visible(entry)) {
            let _ = entry.signature();
        }
        for server in catalog
            .servers()
            .filter(|server| server.alias.len() <= LONGEST_NAME)
        {
            let directory = format!("tools/{}", server.alias);
            for entry in server.entries().filter(|entry| visible(entry)) {
                let file = format!("{}.py", entry.alias);
                if file.len() <= LONGEST_NAME {
                    files.insert(
                        format!("{directory}/{file}"),
                        entry.stub(learned.of(entry).as_deref()).into_bytes(),
                    );
                }
            }
            let module = catalog::stub_module(server, visible);
            files.insert(format!("{directory}/__init__.py"), module.into_bytes());
        }
        files
    }
}

//! The files that describe tools, as programs find them below `/tools`.

use std::collections::BTreeMap;

use catalog::{Catalog, Entry};
use types::Principal;

use crate::broker::Broker;
use crate::learner::LearnedTypes;

impl Broker {
    /// The files of every tool that `principal` may call, as `tools/<server>/<tool>.py`. A server that has not listed
    /// its tools has a directory without any.
    pub fn files(
        &self,
        principal: &Principal,
        catalog: &Catalog,
        learned: &LearnedTypes,
    ) -> BTreeMap<String, Vec<u8>> {
        let visible = |entry: &Entry| self.shared.may_call(principal, entry);
        // What entries keep for good is made first: between megabytes of files it would hold on to their memory.
        for entry in catalog.entries().filter(|entry| visible(entry)) {
            let _ = entry.signature();
        }
        let files = catalog::modules(catalog, &visible, &|entry| learned.of(entry));
        let bytes = |(name, text): (String, String)| (name, text.into_bytes());
        files.into_iter().map(bytes).collect()
    }
}

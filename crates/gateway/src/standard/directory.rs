//! Which server stands behind a name or a uri, as far as the lists have told.

use std::collections::HashMap;
use std::sync::Arc;

use types::ServerTools;

use super::lists::Kind;

/// A tool or prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The server's name in the configuration.
    pub(super) server: String,
    /// The name that the server gave it.
    pub(super) name: String,
}

/// What the lists have told. It is replaced list by list.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// By the names that the client sees.
    pub(super) tools: HashMap<String, Place>,
    /// What the tools were listed from the last time.
    pub(super) listed: Option<Arc<Vec<ServerTools>>>,
    /// What the tools were listed from that the client was shown last, until it is told of a change.
    pub(super) shown: Option<Arc<Vec<ServerTools>>>,
    /// By the names that the client sees.
    pub(super) prompts: HashMap<String, Place>,
    /// Servers by the uris of their resources.
    pub(super) resources: HashMap<String, String>,
    /// Templates of uris with their servers, in configured order.
    pub(super) templates: Vec<(String, String)>,
    /// Lists of which the client has not seen the last page.
    pub(super) begun: HashMap<Kind, Vec<String>>,
}

impl Directory {
    /// The server of a resource: the one that lists it, else the one whose template begins like it, the longest first.
    pub(super) fn server_of(&self, uri: &str) -> Option<&str> {
        if let Some(server) = self.resources.get(uri) {
            return Some(server);
        }
        let candidates = self.templates.iter().map(|(template, server)| {
            let fixed = template.split('{').next().unwrap_or_default();
            (fixed, template == uri, server)
        });
        candidates
            .filter(|(fixed, is_itself, _)| *is_itself || (!fixed.is_empty() && uri.starts_with(fixed)))
            .rev()
            .max_by_key(|(fixed, is_itself, _)| (*is_itself, fixed.len()))
            .map(|(_, _, server)| server.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_leads_to_the_server_that_lists_it_or_has_the_closest_template() {
        let mut directory = Directory::default();
        let owned = |pair: (&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        directory.resources.extend([owned(("x://a/1", "listing"))]);
        directory.templates.extend(
            [
                ("x://a/{id}", "one"),
                ("x://a/b/{id}", "two"),
                ("x://a/{other}", "three"),
                ("{any}", "four"),
            ]
            .map(owned),
        );
        let check = |uri: &str, expected: Option<&str>| {
            assert_eq!(directory.server_of(uri), expected, "{uri}");
        };
        check("x://a/1", Some("listing"));
        check("x://a/2", Some("one"));
        check("x://a/b/2", Some("two"));
        check("x://a/{other}", Some("three"));
        check("y://", None);
    }
}

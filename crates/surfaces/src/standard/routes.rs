//! Maps names and URIs to servers, based on the lists known so far.

use std::collections::HashMap;
use std::sync::Arc;

use types::ServerTools;

use super::lists::ListKind;

/// The server's tool or prompt with this client name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    /// Configured name.
    pub(super) server: String,
    /// The server's own name of the tool or prompt.
    pub(super) name: String,
}

/// One client's routes. Each list replaces its own part.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// Tools by client name.
    pub(super) tools: HashMap<String, Route>,
    /// The servers' lists that `tools` was built from.
    pub(super) listed: Option<Arc<Vec<ServerTools>>>,
    /// The servers' lists in the last `tools/list` response; `None` after a change notification.
    pub(super) sent: Option<Arc<Vec<ServerTools>>>,
    /// Prompts by client name.
    pub(super) prompts: HashMap<String, Route>,
    /// Servers by resource URI.
    pub(super) resources: HashMap<String, String>,
    /// URI templates with servers, in configured order.
    pub(super) templates: Vec<(String, String)>,
    /// Lists whose last page the client has not yet read.
    pub(super) unfinished: HashMap<ListKind, Vec<String>>,
}

impl Routes {
    /// The server that lists the resource, else the server whose template has the longest matching prefix.
    pub(super) fn server_of(&self, uri: &str) -> Option<&str> {
        if let Some(server) = self.resources.get(uri) {
            return Some(server);
        }
        let candidates = self.templates.iter().map(|(template, server)| {
            let prefix = template.split('{').next().unwrap_or_default();
            (prefix, template == uri, server)
        });
        candidates
            .filter(|(prefix, is_exact, _)| *is_exact || (!prefix.is_empty() && uri.starts_with(prefix)))
            .rev()
            .max_by_key(|(prefix, is_exact, _)| (*is_exact, prefix.len()))
            .map(|(_, _, server)| server.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_leads_to_the_server_that_lists_it_or_has_the_closest_template() {
        let mut routes = Routes::default();
        let owned = |pair: (&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        routes.resources.extend([owned(("x://a/1", "listing"))]);
        routes.templates.extend(
            [
                ("x://a/{id}", "one"),
                ("x://a/b/{id}", "two"),
                ("x://a/{other}", "three"),
                ("{any}", "four"),
            ]
            .map(owned),
        );
        let check = |uri: &str, expected: Option<&str>| {
            assert_eq!(routes.server_of(uri), expected, "{uri}");
        };
        check("x://a/1", Some("listing"));
        check("x://a/2", Some("one"));
        check("x://a/b/2", Some("two"));
        check("x://a/{other}", Some("three"));
        check("y://", None);
    }
}

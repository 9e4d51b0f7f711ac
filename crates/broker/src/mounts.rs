//! The mounted tools of a virtual server: a filter on the lists of all servers.
//!
//! Names, stubs, search, check, calls and resources of a view all use its filtered lists. So an unmounted tool looks
//! like a missing one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tool_files::ScannedTools;
use types::{MountRules, MountableTool, Principal, ServerTools, Tool};
use upstream::{Hub, ServerOwner};

use crate::visible_servers::VisibleServers;

type Tools = Arc<[Arc<Tool>]>;

/// The mount rules of one virtual server, and the servers visible to its callers.
#[derive(Debug)]
pub(crate) struct Mounts {
    rules: MountRules,
    visible: VisibleServers,
    hub: Hub,
    /// The mounted tools of each server, with the list that they come from. An unchanged list gives the same result.
    mounted: Mutex<HashMap<String, Mounted>>,
}

#[derive(Debug)]
struct Mounted {
    of: Tools,
    tags: Vec<String>,
    tools: Tools,
}

// === impl Mounts ===

impl Mounts {
    pub(crate) fn new(rules: MountRules, visible: VisibleServers, hub: Hub) -> Self {
        Self {
            rules,
            visible,
            hub,
            mounted: Mutex::default(),
        }
    }

    /// Whether callers may see the server or tool file directory that has this name now.
    pub(crate) fn shows(&self, server: &str, files: &ScannedTools) -> bool {
        match self.hub.owner(server) {
            ServerOwner::User(ownership) => self.visible.shows(server, &ownership),
            ServerOwner::Operator => true,
            // The list can lag behind the hub, which drops a server's owner when it removes the server.
            ServerOwner::Unknown => files.servers.iter().any(|known| known.listed.name == server),
        }
    }

    /// The servers with a mounted tool. A server without a list stays if one of its tools may be mounted.
    pub(crate) fn filtered(&self, lists: &[ServerTools], files: &ScannedTools) -> Vec<ServerTools> {
        let mut mounted = self.mounted.lock().unwrap_or_else(PoisonError::into_inner);
        mounted.retain(|name, _| lists.iter().any(|server| server.name == *name));
        let seen = lists.iter().filter(|server| self.shows(&server.name, files));
        let shown = seen.filter_map(|server| {
            let tags = self.hub.tags(&server.name);
            let Some(all) = &self.tools(server) else {
                return self.may_mount(&server.name, &tags, lists).then(|| server.clone());
            };
            let known = mounted
                .get(&server.name)
                .filter(|known| Arc::ptr_eq(&known.of, all) && known.tags == tags);
            let tools = match known {
                Some(known) => known.tools.clone(),
                None => {
                    let tools: Tools = self.mounted_of(&server.name, all, &tags);
                    let made = Mounted {
                        of: all.clone(),
                        tags,
                        tools: tools.clone(),
                    };
                    mounted.insert(server.name.clone(), made);
                    tools
                }
            };
            (!tools.is_empty()).then(|| ServerTools {
                tools: Some(tools),
                ..server.clone()
            })
        });
        shown.collect()
    }

    /// The server's list, or the one that it has for the user of this view.
    fn tools(&self, server: &ServerTools) -> Option<Tools> {
        let own = || self.hub.tools_of(self.visible.user()?, &server.name);
        server.tools.clone().or_else(own)
    }

    /// The user of this view, if it is that of one user.
    pub(crate) fn user(&self) -> Option<&Principal> {
        self.visible.user()
    }

    fn mounted_of(&self, server: &str, tools: &[Arc<Tool>], tags: &[String]) -> Tools {
        let mounted = tools.iter().filter(|tool| {
            self.rules.mounts(&MountableTool {
                server,
                name: &format!("{server}.{}", tool.name),
                original_name: &tool.name,
                tags,
            })
        });
        mounted.cloned().collect()
    }

    /// Whether a tool of this server may be mounted, before tool names are known.
    fn may_mount(&self, server: &str, tags: &[String], lists: &[ServerTools]) -> bool {
        let is_of = |name: &str, server: &str| {
            let rest = name.strip_prefix(server);
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        // `SERVER.TOOL` is a tool of that server; any other name may be a tool of this server.
        let included = &self.rules.include_tools;
        let is_elsewhere =
            |name: &String| lists.iter().any(|other| is_of(name, &other.name)) && !is_of(name, server);
        if !included.is_empty() && included.iter().all(is_elsewhere) {
            return false;
        }
        let rules = MountRules {
            include_tools: Vec::new(),
            exclude_tools: Vec::new(),
            ..self.rules.clone()
        };
        rules.mounts(&MountableTool {
            server,
            name: "",
            original_name: "",
            tags,
        })
    }
}

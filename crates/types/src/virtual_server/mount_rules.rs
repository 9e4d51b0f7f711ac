//! Which upstream tools a virtual server mounts.

/// Six lists that a mounted tool satisfies together; an empty list is satisfied by every tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MountRules {
    /// The tool has one of these tags.
    pub include_tags: Vec<String>,
    /// The tool has none of these tags.
    pub exclude_tags: Vec<String>,
    /// The tool's server is one of these slugs.
    pub include_servers: Vec<String>,
    /// The tool's server is none of these slugs.
    pub exclude_servers: Vec<String>,
    /// One of these is the tool's name or its original name.
    pub include_tools: Vec<String>,
    /// None of these is the tool's name or its original name.
    pub exclude_tools: Vec<String>,
}

/// What the rules see of a tool.
#[derive(Debug, Clone, Copy)]
pub struct MountableTool<'a> {
    /// The slug of its server; `local` for tools without one.
    pub server: &'a str,
    /// As clients see it.
    pub name: &'a str,
    /// As its server calls it.
    pub original_name: &'a str,
    /// Its own, and those of its server.
    pub tags: &'a [String],
}

impl MountRules {
    /// The names of the lists, in the order of the fields.
    pub const NAMES: [&str; 6] = [
        "include_tags",
        "exclude_tags",
        "include_servers",
        "exclude_servers",
        "include_tools",
        "exclude_tools",
    ];

    /// The lists, in the order of [`MountRules::NAMES`].
    pub fn lists(&self) -> [&Vec<String>; 6] {
        [
            &self.include_tags,
            &self.exclude_tags,
            &self.include_servers,
            &self.exclude_servers,
            &self.include_tools,
            &self.exclude_tools,
        ]
    }

    /// The lists, in the order of [`MountRules::NAMES`].
    pub fn lists_mut(&mut self) -> [&mut Vec<String>; 6] {
        [
            &mut self.include_tags,
            &mut self.exclude_tags,
            &mut self.include_servers,
            &mut self.exclude_servers,
            &mut self.include_tools,
            &mut self.exclude_tools,
        ]
    }

    /// Whether the server mounts the tool. Names and tags are compared byte for byte.
    pub fn mounts(&self, tool: &MountableTool<'_>) -> bool {
        let tagged = |list: &[String]| list.iter().any(|tag| tool.tags.contains(tag));
        let served = |list: &[String]| list.iter().any(|slug| slug == tool.server);
        let named = |list: &[String]| {
            let mut names = list.iter();
            names.any(|name| name == tool.name || name == tool.original_name)
        };
        let is_included = (self.include_tags.is_empty() || tagged(&self.include_tags))
            && (self.include_servers.is_empty() || served(&self.include_servers))
            && (self.include_tools.is_empty() || named(&self.include_tools));
        is_included
            && !tagged(&self.exclude_tags)
            && !served(&self.exclude_servers)
            && !named(&self.exclude_tools)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn is_mounted(rules: &[(&str, &[&str])]) -> bool {
        let mut read = MountRules::default();
        for (name, list) in rules {
            let at = MountRules::NAMES.iter().position(|known| known == name);
            *read.lists_mut()[at.expect("a list's name")] = words(list);
        }
        read.mounts(&MountableTool {
            server: "my-stub",
            name: "my-stub-list-things",
            original_name: "list_things",
            tags: &words(&["analytics", "prod"]),
        })
    }

    #[test]
    fn s0_10_all_six_lists_hold_together() {
        let check = |rules: &[(&str, &[&str])], expected| {
            assert_eq!(is_mounted(rules), expected, "{rules:?}");
        };
        check(&[], true);
        check(&[("include_tags", &["prod", "x"])], true);
        check(&[("include_tags", &["x"])], false);
        check(&[("include_tags", &["Prod"])], false);
        check(&[("exclude_tags", &["x"])], true);
        check(&[("exclude_tags", &["x", "prod"])], false);
        check(&[("include_tags", &["prod"]), ("exclude_tags", &["prod"])], false);
        check(&[("include_servers", &["my-stub"])], true);
        check(&[("include_servers", &["my_stub"])], false);
        check(&[("exclude_servers", &["my-stub"])], false);
        check(&[("include_tools", &["list_things"])], true);
        check(&[("include_tools", &["my-stub-list-things"])], true);
        check(&[("include_tools", &["things"])], false);
        check(&[("exclude_tools", &["list_things"])], false);
        check(&[("exclude_tools", &["my-stub-list-things"])], false);
        check(
            &[("include_tools", &["list_things"]), ("include_tags", &["x"])],
            false,
        );
    }

    fn list() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[abc]", 0..3)
    }

    proptest! {
        #[test]
        fn an_excluded_tool_is_never_mounted(lists in [list(), list(), list(), list(), list(), list()]) {
            let [include_tags, exclude_tags, include_servers, exclude_servers, include_tools, exclude_tools] = lists;
            let rules = MountRules {
                include_tags, exclude_tags, include_servers, exclude_servers, include_tools, exclude_tools,
            };
            let tags = words(&["c"]);
            let tool = MountableTool { server: "a", name: "b", original_name: "a", tags: &tags };
            let has = |list: &[String], words: &[&str]| list.iter().any(|word| words.contains(&word.as_str()));
            let is_excluded = has(&rules.exclude_tags, &["c"])
                || has(&rules.exclude_servers, &["a"])
                || has(&rules.exclude_tools, &["a", "b"]);
            let is_left_out = (!rules.include_tags.is_empty() && !has(&rules.include_tags, &["c"]))
                || (!rules.include_servers.is_empty() && !has(&rules.include_servers, &["a"]))
                || (!rules.include_tools.is_empty() && !has(&rules.include_tools, &["a", "b"]));
            prop_assert_eq!(rules.mounts(&tool), !is_excluded && !is_left_out);
        }
    }
}

//! Lists by which a client keeps tools of a server from the model.

use serde_json::Value;

/// A tool that no server has: whether it may be called says whether all others may.
const ANY_OTHER: &str = "any_other_tool_of_this_server";

/// One such list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The field it stands in.
    pub key: String,
    /// The tools that it names.
    pub tools: Vec<String>,
    /// Whether it names those that the model may use, not those that it may not.
    pub is_only: bool,
}

impl Filter {
    /// The list of a field; none if it is no list of names.
    pub(crate) fn of(key: &str, value: &Value, is_only: bool) -> Option<Filter> {
        let names = value.as_array()?.iter();
        let tools = names.map(|name| name.as_str().map(str::to_owned));
        Some(Filter {
            key: key.to_owned(),
            tools: tools.collect::<Option<Vec<String>>>()?,
            is_only,
        })
    }

    /// Whether what is `forbidden` already keeps the same tools from the model.
    pub fn is_met(&self, forbidden: impl Fn(&str) -> bool) -> bool {
        if self.is_only {
            forbidden(ANY_OTHER)
        } else {
            self.tools.iter().all(|tool| forbidden(tool))
        }
    }

    /// What is to be done so that a server of that name offers no more than before.
    pub fn told(&self, server: &str) -> String {
        let rule = |tool: &String| format!("\"{server}.{tool}\"");
        let rules: Vec<String> = self.tools.iter().map(rule).collect();
        let (key, rules) = (&self.key, rules.join(", "));
        if self.is_only {
            format!(
                "`{key}` shows the model these tools alone: {rules}; write them into `allow` of `[policy]` in codeyard.toml, and \"OTHER.*\" for each other server"
            )
        } else {
            format!(
                "`{key}` keeps tools from the model: write {rules} into `deny` of `[policy]` in codeyard.toml"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn policy_meets_a_list() {
        let never = Filter::of("excludeTools", &json!(["rm", "mv"]), false).unwrap();
        assert!(never.is_met(|tool| ["rm", "mv", "x"].contains(&tool)));
        assert!(!never.is_met(|tool| tool == "rm"));
        assert!(never.told("a").contains("write \"a.rm\", \"a.mv\" into `deny`"));
        let only = Filter::of("includeTools", &json!(["ls"]), true).unwrap();
        assert!(only.is_met(|tool| tool != "ls"));
        assert!(!only.is_met(|tool| tool == "rm"));
        assert!(only.told("a").contains("these tools alone: \"a.ls\""));
        assert_eq!(Filter::of("excludeTools", &json!(["rm", 1]), false), None);
        assert_eq!(Filter::of("excludeTools", &json!("rm"), false), None);
    }
}

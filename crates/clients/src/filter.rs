//! A client's lists of shown and hidden tools, and equivalent rules of ours.

use serde_json::{Map, Value, json};

/// Rules for resources, prompts and completions, which a client's tool lists do not restrict.
const OFFERS: [&str; 3] = ["resources/*", "prompts/*", "completion/*"];

/// Meaning of a list of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// The only tools that the model may use.
    Shown,
    /// Tools that the model may not use.
    Hidden,
}

/// A client's list of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The list's field.
    pub key: String,
    /// The tools that it names.
    pub tools: Vec<String>,
    /// The list's meaning.
    pub names: Names,
}

impl Filter {
    /// The list in a field. `None` for another type, or if our rules cannot match a name exactly.
    pub(crate) fn of(key: &str, value: &Value, names: Names) -> Option<Filter> {
        let name = |value: &Value| {
            let name = value.as_str()?;
            (!name.is_empty() && name.trim() == name).then(|| name.to_owned())
        };
        let tools = value.as_array()?.iter().map(name);
        Some(Filter {
            key: key.to_owned(),
            tools: tools.collect::<Option<Vec<String>>>()?,
            names,
        })
    }

    fn is_only(&self) -> bool {
        self.names == Names::Shown
    }

    /// Whether the model sees a tool of that name.
    pub fn shows(&self, tool: &str) -> bool {
        self.tools.iter().any(|named| named == tool) == self.is_only()
    }

    /// Whether an entry of ours hides at least the same tools. `forbidden` covers all rules except the entry's `allow`.
    pub fn is_met(&self, server: &str, allow: &[String], forbidden: impl Fn(&str) -> bool) -> bool {
        if self.is_only() {
            let wanted = self.patterns(server);
            !allow.is_empty() && allow.iter().all(|rule| wanted.contains(rule))
        } else {
            self.tools.iter().all(|tool| forbidden(tool))
        }
    }

    /// The remedy, so that our server with this name offers no more tools than before.
    pub fn told(&self, server: &str) -> String {
        let does = if self.is_only() {
            "shows the model only some tools"
        } else {
            "hides tools from the model"
        };
        format!(
            "`{}` {does}: write \"{}\": {} into the entry of `{server}`",
            self.key,
            self.field(),
            json!(self.patterns(server))
        )
    }

    /// Our field with the same effect.
    pub fn field(&self) -> &'static str {
        if self.is_only() { "allow" } else { "deny" }
    }

    /// Our field's patterns for a server with this name.
    fn patterns(&self, server: &str) -> Vec<String> {
        let tools = self.tools.iter().map(|tool| pattern(server, &escaped(tool)));
        let offers = OFFERS.iter().map(|offer| pattern(server, offer));
        tools.chain(offers.filter(|_| self.is_only())).collect()
    }
}

/// Our fields with the joint effect of these lists.
pub(crate) fn rules(filters: &[Filter], server: &str) -> Map<String, Value> {
    let mut rules: Map<String, Value> = Map::new();
    for filter in filters {
        let patterns = filter.patterns(server);
        let known = rules.get(filter.field()).and_then(Value::as_array);
        let mut all: Vec<Value> = known.cloned().unwrap_or_default();
        if filter.is_only() && known.is_some() {
            // Keep only rules that every list allows.
            all.retain(|rule| patterns.iter().any(|pattern| rule == pattern));
        } else {
            all.extend(patterns.into_iter().map(Value::from));
        }
        rules.insert(filter.field().to_owned(), all.into());
    }
    rules
}

/// A pattern that matches exactly this name.
fn escaped(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for character in name.chars() {
        if "*?[]{}\\".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// A pattern that does not begin with the server's name and a separator, which rules of an entry must not.
fn pattern(server: &str, text: &str) -> String {
    let loosened = |name: &str| name.to_lowercase().replace('-', "_");
    let mut separators = text.match_indices(['.', '/']);
    match separators.find(|(at, _)| loosened(&text[..*at]) == loosened(server)) {
        Some((at, separator)) => format!("{}[{separator}]{}", &text[..at], &text[at + 1..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &[&str]) -> Filter {
        Filter::of("includeTools", &json!(names), Names::Shown).unwrap()
    }

    fn never(names: &[&str]) -> Filter {
        Filter::of("excludeTools", &json!(names), Names::Hidden).unwrap()
    }

    #[test]
    fn a_list_becomes_rules() {
        let offers = json!(["resources/*", "prompts/*", "completion/*"]);
        let with_offers = |names: &[&str]| {
            let mut all = json!(names).as_array().unwrap().clone();
            all.extend(offers.as_array().unwrap().clone());
            Value::from(all)
        };
        for (filters, expected) in [
            (vec![never(&["rm", "mv"])], json!({"deny": ["rm", "mv"]})),
            (
                vec![never(&["r*m", "a[b]", "c\\d", "{e}?"])],
                json!({"deny": ["r\\*m", "a\\[b\\]", "c\\\\d", "\\{e\\}\\?"]}),
            ),
            (
                vec![never(&["a-b.c", "A_B/c", "c.d"])],
                json!({"deny": ["a-b[.]c", "A_B[/]c", "c.d"]}),
            ),
            (vec![only(&["ls"])], json!({"allow": with_offers(&["ls"])})),
            (vec![only(&[])], json!({ "allow": offers })),
            (
                vec![only(&["ls", "rm"]), never(&["rm"]), never(&["mv"])],
                json!({"allow": with_offers(&["ls", "rm"]), "deny": ["rm", "mv"]}),
            ),
            (
                vec![only(&["ls", "rm"]), only(&["mv", "ls"])],
                json!({"allow": with_offers(&["ls"])}),
            ),
        ] {
            assert_eq!(Value::Object(rules(&filters, "a_b")), expected, "{filters:?}");
        }
        let rules = Value::Object(rules(&[only(&[])], "Prompts"));
        assert_eq!(rules["allow"][1], "prompts[/]*");
    }

    #[test]
    fn a_list_without_equivalent_rules_is_none() {
        for value in [json!(["rm", 1]), json!("rm"), json!([""]), json!([" rm"])] {
            assert_eq!(Filter::of("excludeTools", &value, Names::Hidden), None, "{value}");
        }
    }

    #[test]
    fn missing_rules_of_an_entry_are_reported() {
        let list = never(&["rm", "mv"]);
        assert!(list.is_met("a", &[], |tool| ["rm", "mv", "x"].contains(&tool)));
        assert!(!list.is_met("a", &[], |tool| tool == "rm"));
        assert!(
            list.told("a")
                .contains("write \"deny\": [\"rm\",\"mv\"] into the entry of `a`")
        );
        let list = only(&["ls"]);
        let met = |allow: &[&str]| {
            let allow: Vec<String> = allow.iter().map(|rule| (*rule).to_owned()).collect();
            list.is_met("a", &allow, |_| true)
        };
        assert!(met(&["ls"]) && met(&["prompts/*"]) && met(&["ls", "resources/*"]));
        assert!(!met(&[]) && !met(&["ls", "rm"]) && !met(&["*"]));
        assert!(
            list.told("a")
                .contains("only some tools: write \"allow\": [\"ls\",\"resources/*\"")
        );
        assert!(list.shows("ls") && !list.shows("rm"));
    }
}

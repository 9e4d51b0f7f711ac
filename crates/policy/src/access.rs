//! Rules on tools, and decisions about calls.

use std::fmt;
use std::sync::Arc;

use types::{Principal, ToolGlobs, ToolRef, ToolRules};

use crate::mistake::Mistake;
use crate::rules::Rules;

/// Maximum separators in a request's glob. Each separator costs four automata.
const MAX_SEPARATORS: usize = 4;

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    tool: ToolRef,
    /// The deny rule that matched; `None` if there are allow rules and none matched.
    rule: Option<String>,
    /// The place of the server's definition, for a rule in the definition.
    place: Option<Arc<str>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    allow: Rules,
    deny: Rules,
    /// The place of the rules, for rules in a server's definition.
    place: Option<Arc<str>>,
}

// === impl Access ===

impl Access {
    pub(crate) fn new(allow: Rules, deny: Rules) -> Self {
        Self {
            allow,
            deny,
            place: None,
        }
    }

    /// The rules of a server's definition for its own tools.
    pub(crate) fn of_server(server: &str, rules: &ToolRules) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let access = Self {
            allow: Rules::read_own(server, "allow", &rules.allow, &mut mistakes),
            deny: Rules::read_own(server, "deny", &rules.deny, &mut mistakes),
            place: Some(rules.place.as_str().into()),
        };
        if mistakes.is_empty() {
            Ok(access)
        } else {
            Err(mistakes)
        }
    }

    /// The globs of a virtual server's `sandbox_policy`.
    pub(crate) fn of_virtual_server(globs: &ToolGlobs) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let access = Self {
            allow: read_globs("tools.allow", &globs.allow, &mut mistakes),
            deny: read_globs("tools.deny", &globs.deny, &mut mistakes),
            place: Some("this server's sandbox_policy".into()),
        };
        if mistakes.is_empty() {
            Ok(access)
        } else {
            Err(mistakes)
        }
    }

    /// Refuses every tool.
    pub(crate) fn none(rules: &ToolRules) -> Self {
        Self {
            deny: Rules::all(),
            place: Some(rules.place.as_str().into()),
            ..Self::default()
        }
    }

    /// Decides one call. A deny rule matches every spelling of the names, an allow rule only the exact spelling, so a
    /// careless rule refuses too much, never too little.
    pub(crate) fn decide(&self, _principal: &Principal, tool: &ToolRef) -> Result<(), Denied> {
        self.judge(tool, Rules::matching)
    }

    /// Decides by a program's spelling of a name, before the server has confirmed the name.
    pub(crate) fn decide_unconfirmed(&self, _principal: &Principal, tool: &ToolRef) -> Result<(), Denied> {
        self.judge(tool, Rules::matching_loosely)
    }

    /// Whether the rules may allow some tool of the server.
    pub(crate) fn reaches(&self, _principal: &Principal, server: &str) -> bool {
        !self.deny.cover(server) && (self.allow.is_empty() || self.allow.name(server))
    }

    fn judge(
        &self,
        tool: &ToolRef,
        allowing: for<'a> fn(&'a Rules, &ToolRef) -> Option<&'a str>,
    ) -> Result<(), Denied> {
        let denied = |rule: Option<&str>| Denied {
            tool: tool.clone(),
            rule: rule.map(str::to_owned),
            place: self.place.clone(),
        };
        if let Some(rule) = self.deny.matching_loosely(tool) {
            return Err(denied(Some(rule)));
        }
        if !self.allow.is_empty() && allowing(&self.allow, tool).is_none() {
            return Err(denied(None));
        }
        Ok(())
    }
}

/// Reads globs of a request, within a bound on their cost.
fn read_globs(field: &str, globs: &[String], mistakes: &mut Vec<Mistake>) -> Rules {
    let before = mistakes.len();
    for (index, glob) in globs.iter().enumerate() {
        if glob.matches(['.', '/']).count() > MAX_SEPARATORS {
            mistakes.push(Mistake {
                field: format!("{field}[{index}]"),
                message: format!("has more than {MAX_SEPARATORS} '.' and '/'; write '*' for a part of them"),
            });
        }
    }
    if mistakes.len() > before {
        return Rules::all();
    }
    Rules::read(field, globs, mistakes)
}

// === impl Denied ===

impl Denied {
    /// The refusal of a tool that no allow rule matches.
    pub fn without_rule(tool: &ToolRef) -> Denied {
        Denied {
            tool: tool.clone(),
            rule: None,
            place: None,
        }
    }

    /// The refused tool.
    pub fn tool(&self) -> &ToolRef {
        &self.tool
    }

    /// Whether a deny rule matched; otherwise no allow rule matched.
    pub fn is_by_rule(&self) -> bool {
        self.rule.is_some()
    }
}

impl std::error::Error for Denied {}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool '{}' is denied by policy", self.tool)?;
        match (&self.rule, &self.place) {
            (Some(rule), None) => write!(f, " (deny rule '{rule}')"),
            (Some(rule), Some(place)) => write!(f, " (deny rule '{rule}' of {place})"),
            (None, None) => f.write_str(" (no allow rule matches)"),
            (None, Some(place)) => write!(f, " (no allow rule of {place} matches)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use types::{Principal, ToolRef, ToolRules};

    use crate::{Policy, PolicyConfig, check_rules};

    fn policy(allow: &[&str], deny: &[&str]) -> Policy {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
        Policy::new(PolicyConfig {
            allow: owned(allow),
            deny: owned(deny),
            ..PolicyConfig::default()
        })
        .expect("valid rules")
    }

    /// Checks the message about one call; `ok` if it is allowed.
    fn check(allow: &[&str], deny: &[&str], server: &str, tool: &str, expected: &str) {
        let decision = policy(allow, deny).admit(&Principal::local(), &ToolRef::new(server, tool));
        let said = match decision {
            Ok(permit) => {
                assert_eq!(permit.tool().clone(), ToolRef::new(server, tool));
                "ok".to_owned()
            }
            Err(denied) => denied.to_string(),
        };
        assert_eq!(
            said, expected,
            "{server}.{tool} with allow {allow:?}, deny {deny:?}"
        );
    }

    #[test]
    fn without_rules_all_is_allowed() {
        check(&[], &[], "stub", "add", "ok");
    }

    #[test]
    fn deny_wins() {
        let denied = |rule: &str| format!("tool 'stub.add' is denied by policy (deny rule '{rule}')");
        for rule in [
            "stub.add",
            "stub/add",
            "stub.*",
            "*.add",
            "*/a?d",
            "*",
            "*.*",
            "st{ub,ab}.add",
            "stub.[a-c]dd",
        ] {
            check(&[], &[rule], "stub", "add", &denied(rule));
            check(&["stub.add"], &[rule], "stub", "add", &denied(rule));
        }
        for rule in ["stub.ad", "other.*", "*.sub", "stub.add.*"] {
            check(&[], &[rule], "stub", "add", "ok");
        }
    }

    #[test]
    fn tools_without_an_allow_rule_are_refused() {
        check(&["stub.*"], &[], "stub", "add", "ok");
        check(&["a.b", "*/add"], &[], "stub", "add", "ok");
        check(
            &["stub.*"],
            &[],
            "other",
            "add",
            "tool 'other.add' is denied by policy (no allow rule matches)",
        );
    }

    #[test]
    fn a_server_is_visible_if_one_of_its_tools_may_be() {
        let check = |allow: &[&str], deny: &[&str], expected: bool| {
            let seen = policy(allow, deny).may_see(&Principal::local(), "stub");
            assert_eq!(seen, expected, "allow {allow:?}, deny {deny:?}");
        };
        check(&[], &[], true);
        check(&[], &["stub.add"], true);
        check(&[], &["stub.*"], false);
        check(&["stub.add"], &[], true);
        check(&["stub.add"], &["stub.*"], false);
        check(&["other.*"], &[], false);
        check(&["other.*"], &["stub.*"], false);
    }

    #[test]
    fn a_star_stays_in_its_part() {
        let none = "tool 'github.enterprise.read' is denied by policy (no allow rule matches)";
        check(&["github*.read"], &[], "github", "enterprise.read", none);
        check(&["github*.read"], &[], "github.enterprise", "read", "ok");
        check(&["a.b.c"], &[], "a.b", "c", "ok");
        check(&["a.b.c"], &[], "a", "b.c", "ok");
    }

    /// Checks the message about one call under a server's own rules; `ok` if it is allowed.
    fn check_own(allow: &[&str], deny: &[&str], tool: &str, expected: &str) {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
        let rules = ToolRules {
            place: "PLACE".to_owned(),
            allow: owned(allow),
            deny: owned(deny),
        };
        let own = policy(&[], &["my-stub.never"]).with_servers([("my-stub", &rules)]);
        let said = |server: &str| {
            let decided = own.admit(&Principal::local(), &ToolRef::new(server, tool));
            decided.map_or_else(|denied| denied.to_string(), |_| "ok".to_owned())
        };
        assert_eq!(
            said("my-stub"),
            expected,
            "{tool} with allow {allow:?}, deny {deny:?}"
        );
        assert_eq!(said("other"), "ok", "{tool} of another server");
    }

    #[test]
    fn rules_of_a_definition_apply_to_its_own_tools() {
        let denied = |rule: &str| {
            format!("tool 'my-stub.list-things' is denied by policy (deny rule '{rule}' of PLACE)")
        };
        for rule in [
            "list-things",
            "*",
            "list-*",
            "List_Things",
            "list-thing?",
            "[l]ist-things",
        ] {
            check_own(&[], &[rule], "list-things", &denied(rule));
            check_own(&["*"], &[rule], "list-things", &denied(rule));
        }
        for rule in ["list", "things", "*s.*"] {
            check_own(&[], &[rule], "list-things", "ok");
        }
        let none = "tool 'my-stub.list-things' is denied by policy (no allow rule of PLACE matches)";
        check_own(&["add", "list-things"], &[], "list-things", "ok");
        check_own(&["add", "list_things"], &[], "list-things", none);
        check_own(&["a.b"], &[], "a.b", "ok");
        check_own(&["*"], &[], "resources/read", "ok");
        check_own(
            &["*"],
            &[],
            "never",
            "tool 'my-stub.never' is denied by policy (deny rule 'my-stub.never')",
        );
    }

    #[test]
    fn an_unconfirmed_name_may_have_another_spelling() {
        let rules = ToolRules {
            place: "PLACE".to_owned(),
            allow: vec!["list-things".to_owned()],
            deny: Vec::new(),
        };
        let policy = policy(&["my-stub.*-things"], &[]).with_servers([("my-stub", &rules)]);
        let asked =
            |tool: &str| policy.admit_unconfirmed(&Principal::local(), &ToolRef::new("my-stub", tool));
        assert!(asked("list_things").is_ok());
        assert!(asked("lose_things").is_err() && asked("list_thing").is_err());
    }

    #[test]
    fn wrong_rules_of_a_definition_are_reported_and_refuse_everything() {
        let rules = ToolRules {
            place: "PLACE".to_owned(),
            allow: ["", "crm.add", "*/add", "CRM.", "x[", "a.add"]
                .map(str::to_owned)
                .to_vec(),
            deny: [
                "c?m.add",
                "crm[.]add",
                "{crm.a,crm.b}",
                "{a,{b,x/y}}",
                "{[]}].a,b}",
                r"\{a.b\}",
                "{a[.]b,c}.d",
                r"{a\.b,c}",
            ]
            .map(str::to_owned)
            .to_vec(),
        };
        let mistakes = check_rules("crm", &rules).expect_err("mistakes");
        let said: Vec<String> = mistakes
            .into_iter()
            .map(|m| format!("{}: {}", m.field, m.message))
            .collect();
        let named = |text: &str, tool: &str, whole: &str| {
            format!(
                "'{text}' names the server, which is left out here; write '{tool}', or '{whole}' if all of it is the name of a tool"
            )
        };
        let braced =
            |text: &str| format!("'{text}' has a '.' or '/' between '{{' and '}}'; write one rule for each");
        let expected = [
            "allow[0]: is empty; write a tool's name, with '*' for any text".to_owned(),
            format!("allow[1]: {}", named("crm.add", "add", "crm[.]add")),
            format!("allow[2]: {}", named("*/add", "add", "*[/]add")),
            format!("allow[3]: {}", named("CRM.", "*", "CRM[.]*")),
            "allow[4]: 'x[' is not a valid pattern: unclosed character class; missing ']'".to_owned(),
            format!("deny[0]: {}", named("c?m.add", "add", "c?m[.]add")),
            format!("deny[2]: {}", braced("{crm.a,crm.b}")),
            format!("deny[3]: {}", braced("{a,{b,x/y}}")),
            format!("deny[4]: {}", braced("{[]}].a,b}")),
        ];
        assert_eq!(said, expected);
        let policy = policy(&[], &[]).with_servers([("crm", &rules)]);
        assert!(
            policy
                .admit(&Principal::local(), &ToolRef::new("crm", "x"))
                .is_err()
        );
    }

    #[test]
    fn careless_spelling_refuses_too_much_rather_than_too_little() {
        for rule in ["my_stub.list_things", "My-Stub.List-Things", "my-stub/list_*"] {
            let expected = format!("tool 'my-stub.list-things' is denied by policy (deny rule '{rule}')");
            check(&[], &[rule], "my-stub", "list-things", &expected);
        }
        let expected = "tool 'my-stub.list-things' is denied by policy (no allow rule matches)";
        check(&["my_stub.list_things"], &[], "my-stub", "list-things", expected);
    }

    proptest! {
        #[test]
        fn a_deny_rule_of_the_exact_names_always_denies(server in "[a-zA-Z0-9 _.-]{1,12}", tool in "[a-zA-Z0-9_./-]{1,12}") {
            let rule = format!("{server}.{tool}");
            prop_assume!(rule.trim() == rule);
            let policy = policy(&["*"], &[&rule]);
            prop_assert!(policy.admit(&Principal::local(), &ToolRef::new(server, tool)).is_err());
        }
    }
}

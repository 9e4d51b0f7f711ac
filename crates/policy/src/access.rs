//! Who may call what: the decision, and the permit that proves it.

use std::fmt;

use types::{Principal, ToolRef};

use crate::rules::Rules;

/// Proof that the policy allowed one call of one tool. Only [`crate::Policy::authorize`] makes one.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a permit stands for one call"]
pub struct Permit {
    tool: ToolRef,
}

/// The refusal of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    tool: ToolRef,
    /// The deny rule that matched; `None` if there are allow rules and none matched.
    rule: Option<String>,
}

/// The rules of access.
#[derive(Debug, Clone, Default)]
pub(crate) struct Access {
    allow: Rules,
    deny: Rules,
}

// === impl Access ===

impl Access {
    pub(crate) fn new(allow: Rules, deny: Rules) -> Self {
        Self { allow, deny }
    }

    /// Decides one call. A deny rule holds in every spelling of the names, an allow rule only in the exact one: so
    /// a rule that is written carelessly refuses too much, never too little.
    pub(crate) fn decide(&self, _principal: &Principal, tool: &ToolRef) -> Result<Permit, Denied> {
        let denied = |rule: Option<&str>| Denied {
            tool: tool.clone(),
            rule: rule.map(str::to_owned),
        };
        if let Some(rule) = self.deny.matching_loosely(tool) {
            return Err(denied(Some(rule)));
        }
        if !self.allow.is_empty() && self.allow.matching(tool).is_none() {
            return Err(denied(None));
        }
        Ok(Permit { tool: tool.clone() })
    }
}

// === impl Permit ===

impl Permit {
    /// The tool that may be called.
    pub fn tool(&self) -> &ToolRef {
        &self.tool
    }

    /// Uses the permit up.
    pub fn into_tool(self) -> ToolRef {
        self.tool
    }
}

// === impl Denied ===

impl std::error::Error for Denied {}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tool '{}' is denied by policy", self.tool)?;
        match &self.rule {
            Some(rule) => write!(f, " (deny rule '{rule}')"),
            None => f.write_str(" (no allow rule matches)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use types::{Principal, ToolRef};

    use crate::{Config, Policy};

    fn policy(allow: &[&str], deny: &[&str]) -> Policy {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
        Policy::new(Config {
            allow: owned(allow),
            deny: owned(deny),
            ..Config::default()
        })
        .expect("valid rules")
    }

    /// Checks what is said of one call; `ok` if it is allowed.
    fn check(allow: &[&str], deny: &[&str], server: &str, tool: &str, expected: &str) {
        let decision = policy(allow, deny).authorize(&Principal::local(), &ToolRef::new(server, tool));
        let said = match decision {
            Ok(permit) => {
                assert_eq!(permit.into_tool(), ToolRef::new(server, tool));
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
    fn allow_rules_leave_out_the_rest() {
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
    fn a_star_stays_in_its_part() {
        let none = "tool 'github.enterprise.read' is denied by policy (no allow rule matches)";
        check(&["github*.read"], &[], "github", "enterprise.read", none);
        check(&["github*.read"], &[], "github.enterprise", "read", "ok");
        check(&["a.b.c"], &[], "a.b", "c", "ok");
        check(&["a.b.c"], &[], "a", "b.c", "ok");
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
            prop_assert!(policy.authorize(&Principal::local(), &ToolRef::new(server, tool)).is_err());
        }
    }
}

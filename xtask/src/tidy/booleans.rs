//! Rule: no function takes a boolean; an enum, or two functions, show the meaning at the call.
//!
//! Trait implementations are exempt. `exceptions.toml` lists signatures that a library dictates.

use std::collections::BTreeSet;

use super::findings::{Finding, Rule};
use super::tree::Tree;

pub(super) fn check(tree: &Tree, outside: &BTreeSet<String>) -> Vec<Finding> {
    let modules = tree.product(outside).flat_map(|member| &member.modules);
    let functions = modules.flat_map(|module| module.facts.functions.iter().map(move |it| (module, it)));
    functions
        .flat_map(|(module, function)| {
            function.booleans.iter().map(move |parameter| {
                Finding::new(
                    Rule::BooleanParameters,
                    format!("{}::{}({parameter})", module.path, function.name),
                    (&module.file, function.first),
                    format!(
                        "`{}` takes the boolean `{parameter}`; make it an enum or two functions",
                        function.name
                    ),
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    fn places(member: &str, text: &str) -> Vec<String> {
        let tree = tree::of(&[(&format!("{member}/src/lib.rs"), text)]);
        let findings = check(&tree, &["bench".to_owned()].into());
        findings.into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn a_boolean_parameter_of_the_product_fails() {
        assert_eq!(places("a", "fn f(n: u8, on: bool) {}"), ["a::f(on)"]);
        assert_eq!(
            places("a", "impl S { fn f(self, on: &mut bool) {} }"),
            ["a::S::f(on)"]
        );
        assert_eq!(
            places("a", "trait T { fn f(on: Option<bool>); }"),
            ["a::T::f(on)"]
        );
        assert_eq!(
            places("a", "mod m { fn f() { fn g(on: bool) {} } }"),
            ["a::m::f::g(on)"]
        );
    }

    #[test]
    fn implementations_of_traits_tests_and_other_crates_pass() {
        for text in [
            "impl serde::Visitor for S { fn visit_bool(self, value: bool) {} }",
            "fn f(list: Vec<bool>) -> bool { list.iter().all(|on: &bool| *on) }",
            "#[cfg(test)] mod tests { fn f(on: bool) {} }",
            "struct S { on: bool }",
        ] {
            assert_eq!(places("a", text), [""; 0], "{text}");
        }
        assert_eq!(places("bench", "fn f(on: bool) {}"), [""; 0]);
    }
}

//! Rule: a type's name has at most three meanings in the workspace.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Finding, Rule};
use super::tree::Tree;

const LIMIT: usize = 3;

pub(super) struct Definition<'a> {
    pub(super) kind: &'static str,
    pub(super) module: &'a str,
    pub(super) file: &'a str,
    pub(super) line: usize,
}

pub(super) fn check(tree: &Tree, outside: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, definitions) in definitions(tree, outside) {
        if definitions.len() <= LIMIT {
            continue;
        }
        findings.extend(definitions.iter().map(|definition| {
            Finding::new(
                Rule::TypeNames,
                format!("{}::{name}", definition.module),
                (definition.file, definition.line),
                format!(
                    "`{name}` names {} types in the workspace, at most {LIMIT} are allowed; choose a more specific name",
                    definitions.len()
                ),
            )
        }));
    }
    findings
}

pub(super) fn definitions<'a>(
    tree: &'a Tree,
    outside: &'a BTreeSet<String>,
) -> BTreeMap<&'a str, Vec<Definition<'a>>> {
    let mut names: BTreeMap<&str, Vec<Definition>> = BTreeMap::new();
    for module in tree.product(outside).flat_map(|member| &member.modules) {
        for definition in &module.facts.types {
            names.entry(&definition.name).or_default().push(Definition {
                kind: definition.kind,
                module: &module.path,
                file: &module.file,
                line: definition.line,
            });
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    #[test]
    fn the_fourth_thing_of_one_name_fails() {
        let count = |last: &str| {
            let tree = tree::of(&[
                (
                    "a/src/lib.rs",
                    "mod m; struct Found; #[cfg(test)] mod tests { struct Found; }",
                ),
                ("a/src/m.rs", "enum Found {}"),
                (
                    "b/src/lib.rs",
                    "trait Found {} impl Other for X { type Found = u8; }",
                ),
                ("bench/src/lib.rs", "struct Found;"),
                ("c/src/lib.rs", last),
            ]);
            check(&tree, &["bench".to_owned()].into()).len()
        };
        assert_eq!(count("type Hit = u8;"), 0);
        assert_eq!(count("type Found = u8;"), 4);
        assert_eq!(count("fn f() { struct Found; }"), 4);
    }
}

//! Rule: at most three modules of a crate import each other in a cycle.
//!
//! A module imports the targets of its `use` declarations and of the paths in its code. A name counts for its
//! defining module, even through re-exports. Re-exports are not imports.

use std::collections::BTreeSet;

use super::findings::{Finding, Rule};
use super::tree::facts::ImportVisibility;
use super::tree::{ModuleId, Target, Tree};

const LIMIT: usize = 3;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, member) in tree.crates.iter().enumerate() {
        let imports = imports(tree, index);
        for cycle in cycles(&imports).iter().filter(|cycle| cycle.len() > LIMIT) {
            findings.extend(cycle.iter().map(|module| {
                let inside = imports[*module].iter().filter(|other| cycle.contains(other));
                let inside: Vec<&str> = inside.map(|other| member.modules[*other].path.as_str()).collect();
                Finding::new(
                    Rule::ImportCycles,
                    member.modules[*module].path.clone(),
                    (&member.modules[*module].file, 1),
                    format!(
                        "the module is in a cycle of {} modules, at most {LIMIT} are allowed; it imports {}",
                        cycle.len(),
                        inside.join(", ")
                    ),
                )
            }));
        }
    }
    findings
}

/// Imports within the crate, by module.
pub(super) fn imports(tree: &Tree, member: usize) -> Vec<BTreeSet<usize>> {
    let modules = 0..tree.crates[member].modules.len();
    modules
        .map(|module| {
            targets(tree, ModuleId { member, module })
                .filter(|target| target.member == member && target.module != module)
                .map(|target| target.module)
                .collect()
        })
        .collect()
}

fn targets(tree: &Tree, module: ModuleId) -> impl Iterator<Item = ModuleId> {
    let facts = &tree.crates[module.member].modules[module.module].facts;
    let declared = facts.imports.iter();
    let declared = declared
        .filter(|import| import.visibility == ImportVisibility::Private)
        .filter_map(move |import| {
            let target = tree.resolve(module, &import.path)?;
            // An imported module counts only if a path goes through it.
            let is_used = import.name.is_none() || matches!(target, Target::Item(..));
            target.module().filter(|_| is_used)
        });
    let mentioned =
        facts
            .references
            .iter()
            .filter_map(move |reference| match tree.resolve(module, &reference.path)? {
                Target::Item(target, _) => Some(target),
                _ => None,
            });
    declared.chain(mentioned)
}

/// The sets of two or more nodes that reach each other, largest first.
pub(super) fn cycles(edges: &[BTreeSet<usize>]) -> Vec<BTreeSet<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|from| reach(edges, from)).collect();
    let mut cycles: Vec<BTreeSet<usize>> = (0..edges.len())
        .map(|node| {
            let back = reached[node]
                .iter()
                .filter(|other| reached[**other].contains(&node));
            back.copied().collect::<BTreeSet<usize>>()
        })
        .filter(|cycle| cycle.len() > 1)
        .collect();
    cycles.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    cycles.dedup();
    cycles
}

fn reach(edges: &[BTreeSet<usize>], from: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(node) = next.pop() {
        next.extend(edges[node].iter().filter(|other| reached.insert(**other)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    /// The places found in a crate whose module `d` has this text.
    fn places(d: &str) -> Vec<String> {
        let tree = tree::of(&[
            (
                "a/src/lib.rs",
                "mod b; mod c; mod d; mod e; pub use b::B; pub use c::C;",
            ),
            ("a/src/b.rs", "use crate::C; pub struct B;"),
            (
                "a/src/c.rs",
                "pub struct C; fn f() { crate::d::g(format!(\"{}\", super::e::h())) }",
            ),
            ("a/src/d.rs", d),
            ("a/src/e.rs", "use super::d; pub fn h() { d::g() }"),
        ]);
        check(&tree).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn a_cycle_of_four_fails() {
        let four = ["a::b", "a::c", "a::d", "a::e"];
        assert_eq!(places("use super::B; pub fn g() {}"), four);
        assert_eq!(places("pub fn g() -> crate::B { todo() }"), four);
        assert_eq!(places("pub fn g() { select! { crate::B => 1, } }"), four);
        assert_eq!(places("pub use crate::B; pub fn g(b: B) {}"), four);
    }

    #[test]
    fn smaller_cycles_re_exports_and_tests_pass() {
        let none = [""; 0];
        assert_eq!(places("use crate::C; pub fn g() {}"), none);
        assert_eq!(places("pub use crate::B; pub fn g() {}"), none);
        assert_eq!(
            places("pub fn g() {} #[cfg(test)] mod tests { use crate::B; }"),
            none
        );
    }

    #[test]
    fn cycles_are_sets_of_nodes_that_reach_each_other() {
        let edges = |pairs: &[(usize, usize)]| {
            let mut edges = vec![BTreeSet::new(); 6];
            for (from, to) in pairs {
                edges[*from].insert(*to);
            }
            cycles(&edges)
        };
        assert!(edges(&[(0, 1), (1, 2), (0, 2)]).is_empty());
        assert_eq!(
            edges(&[(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (1, 2), (4, 5)]),
            [[2, 3, 4].into(), BTreeSet::from([0, 1])]
        );
    }
}

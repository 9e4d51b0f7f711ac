//! Rule: only the crates in `layers.toml` may make a type that stands for a decision of the edge, such as
//! `Principal`.

use super::findings::{Finding, Rule};
use super::layers::{Constructor, Layers};
use super::tree::facts::{Form, Reference};
use super::tree::{ModuleId, Target, Tree};

pub(super) fn check(tree: &Tree, layers: &Layers) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, constructor) in &layers.constructors {
        let forbidden = tree
            .modules()
            .filter(|(_, member, _)| !constructor.only.contains(&member.name));
        for (id, member, module) in forbidden {
            let made = module.facts.references.iter().filter(|reference| {
                let is_own = member.name == constructor.of && reference.implements.as_ref() == Some(name);
                !is_own && is_made(reference, constructor) && is_type(tree, id, reference, name, constructor)
            });
            findings.extend(made.map(|reference| {
                let context = match reference.context.as_str() {
                    "" => String::new(),
                    context => format!("::{context}"),
                };
                let written = reference.path.join("::");
                let only = constructor.only.join(", ");
                Finding::new(
                    Rule::Constructors,
                    format!("{}{context}: {written}", module.path),
                    (&module.file, reference.line),
                    format!("only {only} may make a `{name}`: {}", constructor.why),
                )
            }));
        }
    }
    findings
}

fn is_made(reference: &Reference, constructor: &Constructor) -> bool {
    let function = reference.path.last().filter(|_| reference.path.len() > 1);
    reference.form == Form::Literal || function.is_some_and(|name| constructor.functions.contains(name))
}

fn is_type(
    tree: &Tree,
    from: ModuleId,
    reference: &Reference,
    name: &str,
    constructor: &Constructor,
) -> bool {
    match tree.resolve(from, &reference.path) {
        Some(Target::Item(target, item)) => item == name && tree.crates[target.member].name == constructor.of,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    const TABLE: &str = r#"
        crates = {}
        [constructors.Principal]
        of = "types"
        functions = ["new", "local"]
        only = ["gateway"]
        why = "the edge knows who asks"
    "#;
    const TYPES: &str = "pub struct Principal { id: u8 } pub struct Other;
        impl Principal { pub fn local() -> Self { Self { id: 0 } } }
        impl From<u8> for Principal { fn from(id: u8) -> Principal { Principal { id } } }";

    fn places(member: &str, text: &str) -> Vec<String> {
        let file = format!("{member}/src/lib.rs");
        let tree = tree::of(&[("types/src/lib.rs", TYPES), (&file, text)]);
        check(&tree, &Layers::read(TABLE).unwrap())
            .into_iter()
            .map(|finding| finding.place)
            .collect()
    }

    #[test]
    fn inner_crates_make_no_principal() {
        for (text, place) in [
            (
                "fn f() { types::Principal::local(); }",
                "store::f: types::Principal::local",
            ),
            (
                "use types::Principal; fn f() { Principal { id: 1 } }",
                "store::f: Principal",
            ),
            (
                "use types::Principal as P; const A: P = P::new(1);",
                "store: P::new",
            ),
            (
                "use types::Principal; fn f() { x.or_else(Principal::local) }",
                "store::f: Principal::local",
            ),
            (
                "use types::*; fn f() { assert!(a == Principal { id: 1 }) }",
                "store::f: Principal",
            ),
            (
                "impl Trait for types::Principal { fn f() -> Self { Self { id: 0 } } }",
                "store::Principal::f: types::Principal",
            ),
        ] {
            assert_eq!(places("store", text), [place], "{text}");
            assert_eq!(places("gateway", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn tests_patterns_and_other_types_pass() {
        for text in [
            "#[cfg(test)] mod tests { fn f() { types::Principal::local(); } }",
            "use types::Principal; fn f(Principal { id }: &Principal) {}",
            "use types::Other; fn f() { Other::local(); Other { } }",
            "struct Principal; fn f() { Principal::local() }",
        ] {
            assert_eq!(places("store", text), [""; 0], "{text}");
        }
    }
}

//! Rule: no crate re-exports another crate's items; users of a re-export depend on the defining crate.

use std::collections::BTreeSet;

use super::findings::{Finding, Rule};
use super::layers::Layers;
use super::tree::facts::ImportVisibility;
use super::tree::{Target, Tree};

/// A use of one crate's item through another crate.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IndirectUse<'a> {
    file: &'a str,
    line: usize,
    /// The path as written.
    written: String,
    pub(super) from: &'a str,
    /// The package that defines the item.
    pub(super) to: String,
}

pub(super) fn check(tree: &Tree, layers: &Layers) -> Vec<Finding> {
    let re_exports = tree.modules().flat_map(|(id, _, module)| {
        let public = module.facts.imports.iter();
        let public = public.filter(|import| import.visibility == ImportVisibility::Public);
        public.filter_map(move |import| {
            let package = tree.foreign_crate(id, &import.path)?;
            let written = written(&import.path);
            Some(Finding::new(
                Rule::ReExports,
                format!("{}: pub use {written}", module.path),
                (&module.file, import.line),
                format!("`pub use {written}` re-exports the API of `{package}`; its users depend on `{package}` themselves"),
            ))
        })
    });
    let indirect_uses = indirect_uses(tree).into_iter().filter_map(|indirect| {
        let refusal = layers.refusal(indirect.from, &indirect.to)?;
        Some(Finding::new(
            Rule::ReExports,
            format!("{}: {}", indirect.from, indirect.written),
            (indirect.file, indirect.line),
            format!(
                "`{}` belongs to `{}`; xtask/layers.toml {refusal}",
                indirect.written, indirect.to
            ),
        ))
    });
    re_exports.chain(indirect_uses).collect()
}

pub(super) fn indirect_uses(tree: &Tree) -> BTreeSet<IndirectUse<'_>> {
    tree.modules()
        .flat_map(|(id, member, module)| {
            let imports = module.facts.imports.iter().map(|it| (&it.path, it.line));
            let references = module.facts.references.iter().map(|it| (&it.path, it.line));
            imports.chain(references).filter_map(move |(path, line)| {
                let through = tree.foreign_crate(id, path)?;
                let to = match tree.resolve(id, path)? {
                    Target::Foreign(package) => package,
                    Target::Module(target) | Target::Item(target, _) => {
                        tree.crates[target.member].name.clone()
                    }
                };
                (to != through && to != member.name).then(|| IndirectUse {
                    file: &module.file,
                    line,
                    written: written(path),
                    from: &member.name,
                    to,
                })
            })
        })
        .collect()
}

fn written(path: &[String]) -> String {
    path.join("::")
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    fn found(upstream: &str, config: &str) -> Vec<String> {
        let tree = tree::of(&[
            ("jail/src/lib.rs", "pub struct Confinement;"),
            ("upstream/src/lib.rs", "mod m; pub use m::Own;"),
            ("upstream/src/m.rs", upstream),
            ("config/src/lib.rs", config),
        ]);
        let layers = Layers::read(
            "[crates.jail]\ndoes = \"x\"\nmay_use = []
             [crates.upstream]\ndoes = \"x\"\nmay_use = [\"jail\"]
             [crates.config]\ndoes = \"x\"\nmay_use = [\"upstream\"]",
        );
        let findings = check(&tree, &layers.unwrap());
        findings.into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn another_crates_api_is_not_passed_on() {
        let none = [""; 0];
        assert_eq!(
            found("pub struct Own; pub(crate) use jail::Confinement;", ""),
            none
        );
        assert_eq!(
            found("pub use jail::Confinement as Own;", ""),
            ["upstream::m: pub use jail::Confinement"]
        );
        assert_eq!(found("pub use serde::*;", ""), ["upstream::m: pub use serde"]);
        assert_eq!(
            found("pub extern crate serde as other;", ""),
            ["upstream::m: pub use ::serde"]
        );
        assert_eq!(found("pub use std::fmt;", ""), ["upstream::m: pub use std::fmt"]);
    }

    #[test]
    fn users_of_a_re_export_depend_on_the_defining_crate() {
        let re_export = "pub use jail::Confinement as Own;";
        for (config, place) in [
            ("use upstream::Own;", "config: upstream::Own"),
            ("fn f(own: upstream::Own) {}", "config: upstream::Own"),
        ] {
            assert_eq!(found(re_export, config)[1..], [place], "{config}");
        }
        assert_eq!(found("pub struct Own;", "use upstream::Own;"), [""; 0]);
        // A crate that may use `jail` may do so by any path.
        let tree = tree::of(&[
            ("jail/src/lib.rs", "pub struct Confinement;"),
            ("upstream/src/lib.rs", "pub use jail::Confinement;"),
            ("config/src/lib.rs", "use upstream::Confinement;"),
        ]);
        assert_eq!(
            indirect_uses(&tree)
                .iter()
                .map(|it| it.to.as_str())
                .collect::<Vec<_>>(),
            ["jail"]
        );
    }
}

//! The workspace's Rust code: crates, modules, and the definitions and uses of each module.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use facts::Facts;
use serde_json::Value;

pub(super) mod facts;
mod names;

pub(super) use names::{ModuleId, Target};

/// All crates that cargo knows, without their tests, examples and build scripts.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) crates: Vec<Crate>,
}

#[derive(Debug)]
pub(super) struct Crate {
    pub(super) name: String,
    /// Ordinary dependencies: the name in code to the package's name.
    pub(super) dependencies: BTreeMap<String, String>,
    /// The first is the root of the library, or of the program if there is no library.
    pub(super) modules: Vec<Module>,
}

#[derive(Debug)]
pub(super) struct Module {
    /// For example `broker::call`; the crate's root has the package's name.
    pub(super) path: String,
    pub(super) file: String,
    /// Index of the root of its target.
    pub(super) root: usize,
    pub(super) parent: Option<usize>,
    pub(super) children: BTreeMap<String, usize>,
    pub(super) facts: Facts,
}

#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    /// Root files of its targets, relative to the checkout, the library first.
    pub(super) roots: Vec<String>,
    pub(super) dependencies: BTreeMap<String, String>,
}

impl Package {
    /// Parses `cargo metadata`, without targets that need a feature.
    pub(super) fn all(metadata: &Value) -> Vec<Package> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let checkout = format!("{}/", text(&metadata["workspace_root"]));
        let packages = list(&metadata["packages"]);
        packages
            .iter()
            .map(|package| {
                let mut roots: Vec<(bool, String)> = list(&package["targets"])
                    .iter()
                    .filter(|target| list(&target["required-features"]).is_empty())
                    .filter(|target| target["kind"][0] == "lib" || target["kind"][0] == "bin")
                    .map(|target| (target["kind"][0] != "lib", text(&target["src_path"])))
                    .collect();
                roots.sort();
                let ordinary = list(&package["dependencies"]);
                Package {
                    name: text(&package["name"]),
                    roots: roots
                        .into_iter()
                        .map(|(_, path)| path.trim_start_matches(&checkout).to_owned())
                        .collect(),
                    dependencies: ordinary
                        .iter()
                        .filter(|dependency| dependency["kind"].is_null())
                        .map(|dependency| {
                            let name = text(&dependency["name"]);
                            let alias = dependency["rename"].as_str().unwrap_or(&name);
                            (alias.replace('-', "_"), name)
                        })
                        .collect(),
                }
            })
            .collect()
    }
}

impl Tree {
    pub(super) fn read(packages: Vec<Package>, files: &BTreeMap<&str, &str>) -> Result<Tree> {
        let crates = packages.into_iter().map(|package| {
            let mut builder = Builder {
                files,
                modules: Vec::new(),
            };
            for root in &package.roots {
                builder.root(&package.name, root)?;
            }
            Ok(Crate {
                name: package.name,
                dependencies: package.dependencies,
                modules: builder.modules,
            })
        });
        Ok(Tree {
            crates: crates.collect::<Result<_>>()?,
        })
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = (ModuleId, &Crate, &Module)> {
        self.crates.iter().enumerate().flat_map(|(index, member)| {
            let modules = member.modules.iter().enumerate();
            modules.map(move |(at, module)| {
                let id = ModuleId {
                    member: index,
                    module: at,
                };
                (id, member, module)
            })
        })
    }

    pub(super) fn product<'a>(&'a self, outside: &'a BTreeSet<String>) -> impl Iterator<Item = &'a Crate> {
        self.crates
            .iter()
            .filter(|member| !outside.contains(&member.name))
    }
}

struct Builder<'a> {
    files: &'a BTreeMap<&'a str, &'a str>,
    modules: Vec<Module>,
}

impl Builder<'_> {
    fn root(&mut self, name: &str, file: &str) -> Result<()> {
        let (directory, stem) = split(file);
        let path = match stem {
            "lib" | "main" => name.to_owned(),
            program => format!("{name}::{program}"),
        };
        let facts = self.parse(file)?;
        let root = self.modules.len();
        self.add(path, file, None, root, facts, directory)
    }

    fn parse(&self, file: &str) -> Result<Facts> {
        let text = self
            .files
            .get(file)
            .with_context(|| format!("git does not track {file}: add it"))?;
        let syntax = syn::parse_file(text).with_context(|| format!("cannot parse {file}"))?;
        Ok(Facts::of(&syntax.items))
    }

    fn add(
        &mut self,
        path: String,
        file: &str,
        parent: Option<usize>,
        root: usize,
        mut facts: Facts,
        directory: &str,
    ) -> Result<()> {
        let index = self.modules.len();
        let declarations = std::mem::take(&mut facts.modules);
        self.modules.push(Module {
            path: path.clone(),
            file: file.to_owned(),
            root,
            parent,
            children: BTreeMap::new(),
            facts,
        });
        for declaration in declarations {
            let name = declaration.name;
            let below = format!("{directory}/{name}");
            let next = self.modules.len();
            let path = format!("{path}::{name}");
            match (declaration.body, declaration.file) {
                (Some(facts), _) => self.add(path, file, Some(index), root, facts, &below)?,
                (None, Some(named)) => {
                    let child = format!("{}/{named}", split(file).0);
                    let facts = self.parse(&child)?;
                    self.add(path, &child, Some(index), root, facts, split(&child).0)?;
                }
                (None, None) => {
                    let child = format!("{below}.rs");
                    let facts = self.parse(&child)?;
                    self.add(path, &child, Some(index), root, facts, &below)?;
                }
            }
            self.modules[index].children.insert(name, next);
        }
        Ok(())
    }
}

/// The directory of a Rust file and its name without the extension.
fn split(file: &str) -> (&str, &str) {
    let (directory, name) = file.rsplit_once('/').unwrap_or((".", file));
    (directory, name.trim_end_matches(".rs"))
}

/// A tree of crates whose files have these paths below `crates`; each crate may use the others and `serde`.
#[cfg(test)]
pub(super) fn of(files: &[(&str, &str)]) -> Tree {
    let paths: Vec<String> = files.iter().map(|(path, _)| format!("crates/{path}")).collect();
    let names: BTreeSet<&str> = files
        .iter()
        .filter_map(|(path, _)| Some(path.split_once('/')?.0))
        .collect();
    let packages = names
        .iter()
        .map(|name| Package {
            name: (*name).to_owned(),
            roots: vec![format!("crates/{name}/src/lib.rs")],
            dependencies: names
                .iter()
                .chain(&["serde"])
                .filter(|other| *other != name)
                .map(|other| (other.replace('-', "_"), (*other).to_owned()))
                .collect(),
        })
        .collect();
    let texts = files.iter().map(|(_, text)| *text);
    Tree::read(packages, &paths.iter().map(String::as_str).zip(texts).collect()).unwrap()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn modules_are_those_that_are_declared_outside_tests() {
        let tree = of(&[
            (
                "a/src/lib.rs",
                "mod b; mod inline { mod d; } #[cfg(test)] mod tests;",
            ),
            ("a/src/b.rs", "mod c;"),
            ("a/src/b/c.rs", ""),
            ("a/src/inline/d.rs", ""),
            ("a/src/tests.rs", "this is never parsed"),
        ]);
        let paths: Vec<&str> = tree.crates[0]
            .modules
            .iter()
            .map(|module| module.path.as_str())
            .collect();
        assert_eq!(paths, ["a", "a::b", "a::b::c", "a::inline", "a::inline::d"]);
        assert_eq!(tree.crates[0].modules[4].file, "crates/a/src/inline/d.rs");
    }

    #[test]
    fn packages_are_read_from_cargo_metadata() {
        let target = |kind: &str, path: &str, features: &[&str]| json!({"kind": [kind], "src_path": format!("/w/{path}"), "required-features": features});
        let packages = Package::all(&json!({"workspace_root": "/w", "packages": [{
            "name": "a",
            "targets": [
                target("bin", "crates/a/src/main.rs", &[]), target("lib", "crates/a/src/lib.rs", &[]),
                target("bin", "crates/a/src/bin/b.rs", &["weak"]), target("test", "crates/a/tests/t.rs", &[]),
            ],
            "dependencies": [
                {"name": "tool-files", "kind": null}, {"name": "serde", "kind": null, "rename": "other"},
                {"name": "insta", "kind": "dev"},
            ],
        }]}));
        assert_eq!(packages[0].roots, ["crates/a/src/lib.rs", "crates/a/src/main.rs"]);
        let dependencies: Vec<(&str, &str)> = packages[0]
            .dependencies
            .iter()
            .map(|(name, package)| (name.as_str(), package.as_str()))
            .collect();
        assert_eq!(dependencies, [("other", "serde"), ("tool_files", "tool-files")]);
    }
}

//! Rule: a crate depends only on the workspace crates and libraries that `layers.toml` allows.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::file::Problem;

/// The helper that any crate's tests may use.
const TEST_HELPER: &str = "test-support";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layers {
    crates: BTreeMap<String, Layer>,
    #[serde(default)]
    libraries: BTreeMap<String, Library>,
    /// By the type's name.
    #[serde(default)]
    pub(super) constructors: BTreeMap<String, Constructor>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    does: String,
    may_use: MayUse,
    #[serde(default)]
    tests_may_use: Vec<String>,
    /// Whether the crate is a tool of the developers, outside the product.
    #[serde(default)]
    outside_product: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MayUse {
    These(Vec<String>),
    Word(Any),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Any {
    Any,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Library {
    only: Vec<String>,
    /// Whether every crate's tests may use it.
    #[serde(default)]
    tests: bool,
    why: String,
}

/// A type that only some crates may make; tests and examples of any crate may.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Constructor {
    pub(super) of: String,
    /// Associated functions that make a value.
    pub(super) functions: Vec<String>,
    pub(super) only: Vec<String>,
    pub(super) why: String,
}

impl Layers {
    pub(super) fn read(table: &str) -> Result<Layers> {
        toml::from_str(table).context("xtask/layers.toml")
    }

    pub(super) fn outside_product(&self) -> BTreeSet<String> {
        let outside = self.crates.iter().filter(|(_, layer)| layer.outside_product);
        outside.map(|(name, _)| name.clone()).collect()
    }

    /// Why a crate may not use a package; `None` if it may.
    pub(super) fn refusal(&self, from: &str, to: &str) -> Option<String> {
        let names: Vec<&str> = self.crates.keys().map(String::as_str).collect();
        let edge = Edge {
            from,
            to,
            in_tests: false,
        };
        refusal(self, self.crates.get(from)?, &edge, &names)
    }
}

struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    in_tests: bool,
}

/// Compares the table with the output of `cargo metadata`.
pub(super) fn check(layers: &Layers, metadata: &Value) -> Result<Vec<Problem>> {
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata names no packages")?;
    let names: Vec<&str> = packages
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();
    let mut problems = Vec::new();
    let mut report = |message: String| {
        problems.push(Problem {
            path: "xtask/layers.toml".into(),
            line: None,
            message,
        });
    };
    for name in layers
        .crates
        .keys()
        .filter(|name| !names.contains(&name.as_str()))
    {
        report(format!("names `{name}`, but the workspace has no such crate"));
    }
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        if !manifest.ends_with(&format!("/{name}/Cargo.toml")) {
            report(format!(
                "`{name}` lies in {manifest}; rename the folder to the crate's name"
            ));
        }
        let Some(layer) = layers.crates.get(name) else {
            report(format!("lacks an entry for `{name}`"));
            continue;
        };
        if layer.does.trim().is_empty() {
            report(format!("does not say what `{name}` does"));
        }
        for edge in edges(package, name) {
            if let Some(message) = refusal(layers, layer, &edge, &names) {
                report(message);
            }
        }
    }
    Ok(problems)
}

fn edges<'a>(package: &'a Value, from: &'a str) -> impl Iterator<Item = Edge<'a>> {
    package["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .map(move |dependency| Edge {
            from,
            to: dependency["name"].as_str().unwrap_or_default(),
            in_tests: dependency["kind"] == "dev",
        })
}

fn refusal(layers: &Layers, layer: &Layer, edge: &Edge, names: &[&str]) -> Option<String> {
    let Edge { from, to, in_tests } = edge;
    if names.contains(to) {
        let allowed = match &layer.may_use {
            MayUse::Word(Any::Any) => true,
            MayUse::These(these) => these.iter().any(|name| name == to),
        };
        let helps_tests =
            *in_tests && (*to == TEST_HELPER || layer.tests_may_use.iter().any(|name| name == to));
        return (!allowed && !helps_tests).then(|| format!("does not allow `{from}` to depend on `{to}`"));
    }
    let library = layers.libraries.get(*to)?;
    let allowed = library.only.iter().any(|name| name == from) || (*in_tests && library.tests);
    (!allowed).then(|| format!("does not allow `{from}` to link `{to}`: {}", library.why))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: &str = r#"
        [crates.types]
        does = "words"
        may_use = []
        [crates.session]
        does = "life"
        may_use = ["types"]
        [crates.test-support]
        does = "fakes"
        may_use = "any"
        [libraries.rmcp]
        only = ["test-support"]
        why = "wire types stay at the edge"
        [libraries.anyhow]
        only = []
        tests = true
        why = "errors are types"
    "#;

    /// The problems of a workspace where `session` has one more dependency.
    fn with_edge(to: &str, kind: Option<&str>) -> Vec<String> {
        let package = |name: &str, dependencies: Value| json!({"name": name, "manifest_path": format!("/w/crates/{name}/Cargo.toml"), "dependencies": dependencies});
        let metadata = json!({"packages": [
            package("types", json!([])),
            package("session", json!([{"name": "types", "kind": null}, {"name": to, "kind": kind}])),
            package("test-support", json!([{"name": "session", "kind": null}, {"name": "rmcp", "kind": null}])),
        ]});
        check(&Layers::read(TABLE).unwrap(), &metadata)
            .unwrap()
            .into_iter()
            .map(|problem| problem.message)
            .collect()
    }

    #[test]
    fn the_table_decides_about_crates_of_the_workspace() {
        assert_eq!(with_edge("types", Some("dev")), [""; 0]);
        assert_eq!(with_edge("test-support", Some("dev")), [""; 0]);
        let expected = ["does not allow `session` to depend on `test-support`"];
        assert_eq!(with_edge("test-support", None), expected);
        assert_eq!(with_edge("test-support", Some("build")), expected);
    }

    #[test]
    fn the_table_decides_about_libraries() {
        assert_eq!(with_edge("serde", None), [""; 0]);
        assert_eq!(with_edge("anyhow", Some("dev")), [""; 0]);
        assert_eq!(with_edge("anyhow", None).len(), 1);
        let refused = with_edge("rmcp", Some("dev"));
        assert_eq!(
            refused,
            ["does not allow `session` to link `rmcp`: wire types stay at the edge"]
        );
    }

    #[test]
    fn the_table_and_the_workspace_name_the_same_crates() {
        let metadata = json!({"packages": [
            {"name": "extra", "manifest_path": "/w/crates/other/Cargo.toml", "dependencies": []},
        ]});
        let messages: Vec<String> = check(&Layers::read(TABLE).unwrap(), &metadata)
            .unwrap()
            .into_iter()
            .map(|it| it.message)
            .collect();
        assert_eq!(messages.len(), 5, "{messages:?}");
        assert!(
            messages
                .iter()
                .any(|message| message.contains("lacks an entry for `extra`"))
        );
        assert!(
            messages
                .iter()
                .any(|message| message.contains("rename the folder to the crate's name"))
        );
        assert!(messages.iter().any(|message| message.contains("names `session`")));
    }
}

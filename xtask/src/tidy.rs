//! The project's rules, each a pure function over a file's text or over cargo's description of the workspace.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use file::{File, Problem};

use crate::{layout, run, tasks};

mod booleans;
mod characters;
mod constructors;
mod cycles;
mod file;
mod findings;
mod heading;
mod layers;
mod length;
mod lints;
mod modules;
mod pages;
mod places;
mod re_exports;
mod report;
mod source;
mod tree;
mod type_names;
mod unfinished;
mod unsafety;

/// Rules for single files.
const FILE_RULES: [fn(&File) -> Vec<Problem>; 7] = [
    heading::check,
    unsafety::check,
    length::check,
    modules::check,
    unfinished::check,
    characters::check,
    lints::check,
];

/// Arguments of `cargo xtask tidy`.
#[derive(Debug, clap::Args)]
pub struct Tidy {
    /// Check nothing; print the product's crates, edges, cycles, sizes, repeated names and booleans.
    #[arg(long)]
    report: bool,
    /// Print the report as JSON, to compare two states of the tree.
    #[arg(long, requires = "report")]
    json: bool,
}

/// Checks every tracked file, the dependency graph and the structure of the code; prints each problem, or the report.
pub fn run(tidy: &Tidy) -> Result<()> {
    tasks::setup::packages(tasks::setup::FOR_TIDY)?;
    let texts = tracked()?;
    let files: Vec<File> = texts.iter().map(|(path, text)| File { path, text }).collect();
    let metadata = metadata()?;
    let layers = layers::Layers::read(&data("layers.toml")?)?;
    let rust = files.iter().filter(|file| file.is_rust());
    let rust: BTreeMap<&str, &str> = rust.map(|file| (file.path, file.text)).collect();
    let tree = tree::Tree::read(tree::Package::all(&metadata), &rust)?;
    let outside = layers.outside_product();
    let findings = [
        cycles::check(&tree),
        re_exports::check(&tree, &layers),
        constructors::check(&tree, &layers),
        type_names::check(&tree, &outside),
        booleans::check(&tree, &outside),
    ]
    .concat();
    if tidy.report {
        let report = report::Report::of(&tree, &outside, &files, &metadata, &findings);
        let text = if tidy.json {
            serde_json::to_string_pretty(&report)?
        } else {
            report.tables()
        };
        tasks::say(text.trim_end());
        return Ok(());
    }
    let private = places::Private::of_this_machine();
    let mut problems = Vec::new();
    for file in &files {
        problems.extend(FILE_RULES.iter().flat_map(|rule| rule(file)));
        problems.extend(places::check(file, &private));
    }
    problems.extend(pages::check(&files));
    problems.extend(layers::check(&layers, &metadata)?);
    problems.extend(findings::compare(&data("exceptions.toml")?, findings)?);
    for problem in &problems {
        tasks::say(&problem.to_string());
    }
    match problems.len() {
        0 => {
            tasks::say(&format!("tidy: {} files, no problems", files.len()));
            Ok(())
        }
        count => bail!("tidy: {count} problems"),
    }
}

/// Reads a table beside this program's sources.
fn data(name: &str) -> Result<String> {
    let path = layout::root().join("xtask").join(name);
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Path and text of the files that git tracks.
fn tracked() -> Result<Vec<(String, String)>> {
    // A checkout may belong to another user than the tester.
    let listing = run::output(
        "git",
        &["-c", "safe.directory=*", "ls-files", "-z"],
        layout::root(),
    )?;
    let paths = listing.split('\0').filter(|path| !path.is_empty());
    Ok(paths
        .filter_map(|path| {
            // A dangling link has no text.
            let bytes = std::fs::read(layout::root().join(path)).ok()?;
            Some((path.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
        })
        .collect())
}

fn metadata() -> Result<serde_json::Value> {
    let text = run::output(
        "cargo",
        &["metadata", "--format-version=1", "--no-deps", "--locked"],
        layout::root(),
    )?;
    serde_json::from_str(&text).context("cargo metadata is not JSON")
}

//! `cargo xtask tidy --report`: the product's structure, to compare two states of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use table::Table;

use super::file::File;
use super::findings::{Finding, Rule};
use super::tree::{Crate, Tree};
use super::{cycles, length, re_exports, source, type_names};

mod table;

const LARGEST: usize = 25;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    total: Size,
    crates: BTreeMap<String, Size>,
    /// Ordinary and build dependencies between the product's crates.
    edges: BTreeMap<String, BTreeSet<String>>,
    /// The crates behind the re-exports that a crate uses.
    edges_by_re_exports: BTreeMap<String, BTreeSet<String>>,
    cycles: Vec<Cycle>,
    largest_files: Vec<Length>,
    largest_functions: Vec<Length>,
    repeated_type_names: BTreeMap<String, Vec<String>>,
    boolean_parameters: Vec<Boolean>,
    /// All findings of the structural rules, including excepted ones.
    findings: BTreeMap<Rule, BTreeSet<String>>,
}

/// Lines as in the length rule: no blank lines, comments and inline test modules.
#[derive(Debug, Default, Serialize)]
struct Size {
    lines: usize,
    rust: usize,
    python: usize,
    files: usize,
    modules: usize,
    functions: usize,
}

#[derive(Debug, Serialize)]
struct Cycle {
    size: usize,
    #[serde(rename = "crate")]
    member: String,
    modules: Vec<String>,
    /// By module.
    imports: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Length {
    lines: usize,
    name: String,
}

#[derive(Debug, Serialize)]
struct Boolean {
    function: String,
    parameters: Vec<String>,
    place: String,
}

impl Report {
    /// Measures the tracked files below `crates`, without the crates outside the product.
    pub(super) fn of(
        tree: &Tree,
        outside: &BTreeSet<String>,
        files: &[File],
        metadata: &Value,
        findings: &[Finding],
    ) -> Report {
        let texts: BTreeMap<&str, File> = files.iter().map(|file| (file.path, *file)).collect();
        let mut report = Report {
            total: Size::default(),
            crates: BTreeMap::new(),
            edges: edges(tree, outside, metadata),
            edges_by_re_exports: BTreeMap::new(),
            cycles: cycles(tree, outside),
            largest_files: Vec::new(),
            largest_functions: Vec::new(),
            repeated_type_names: BTreeMap::new(),
            boolean_parameters: Vec::new(),
            findings: BTreeMap::new(),
        };
        for member in tree.product(outside) {
            report.measure(member, &texts);
            report.booleans(member);
        }
        for size in report.crates.values() {
            report.total.add(size);
        }
        for list in [&mut report.largest_files, &mut report.largest_functions] {
            list.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.name.cmp(&b.name)));
            list.truncate(LARGEST);
        }
        for indirect in re_exports::indirect_uses(tree) {
            if !outside.contains(indirect.from) {
                let edges = report
                    .edges_by_re_exports
                    .entry(indirect.from.to_owned())
                    .or_default();
                edges.insert(indirect.to);
            }
        }
        for (name, definitions) in type_names::definitions(tree, outside) {
            if definitions.len() > 1 {
                let place = |it: &type_names::Definition| {
                    format!("{} {} {}:{}", it.kind, it.module, it.file, it.line)
                };
                let places = definitions.iter().map(place).collect();
                report.repeated_type_names.insert(name.to_owned(), places);
            }
        }
        for finding in findings {
            let places = report.findings.entry(finding.rule).or_default();
            places.insert(finding.place.clone());
        }
        report
    }

    fn measure(&mut self, member: &Crate, texts: &BTreeMap<&str, File>) {
        let directory = format!("crates/{}/", member.name);
        let python = texts.values().filter(|file| is_python_of(file, &directory));
        let build = format!("{directory}build.rs");
        let rust: BTreeSet<&str> = member
            .modules
            .iter()
            .map(|module| module.file.as_str())
            .chain([build.as_str()])
            .collect();
        let mut size = Size {
            modules: member.modules.len(),
            functions: member
                .modules
                .iter()
                .map(|module| module.facts.functions.len())
                .sum(),
            ..Size::default()
        };
        for file in rust.iter().filter_map(|path| texts.get(path)).chain(python) {
            let lines = length::count(file).unwrap_or_default();
            size.lines += lines;
            size.files += 1;
            if file.is_python() {
                size.python += lines;
            } else {
                size.rust += lines;
            }
            self.largest_files.push(Length {
                lines,
                name: file.path.to_owned(),
            });
        }
        self.crates.insert(member.name.clone(), size);
        for module in &member.modules {
            let Some(file) = texts.get(module.file.as_str()) else {
                continue;
            };
            let lines = source::lines(file.text);
            self.largest_functions
                .extend(module.facts.functions.iter().map(|function| {
                    Length {
                        lines: lines[function.first - 1..function.last]
                            .iter()
                            .filter(|line| line.is_code())
                            .count(),
                        name: format!(
                            "{}::{} {}:{}",
                            module.path, function.name, module.file, function.first
                        ),
                    }
                }));
        }
    }

    fn booleans(&mut self, member: &Crate) {
        for module in &member.modules {
            let functions = module.facts.functions.iter();
            let found = functions.filter(|function| !function.booleans.is_empty());
            self.boolean_parameters.extend(found.map(|function| Boolean {
                function: format!("{}::{}", module.path, function.name),
                parameters: function.booleans.clone(),
                place: format!("{}:{}", module.file, function.first),
            }));
        }
    }

    pub(super) fn tables(&self) -> String {
        let mut crates = Table::new(
            "crates, in lines of product code",
            [
                "crate",
                "lines",
                "rust",
                "python",
                "files",
                "modules",
                "functions",
            ],
        );
        for (name, size) in self
            .crates
            .iter()
            .map(|(name, size)| (name.as_str(), size))
            .chain([("total", &self.total)])
        {
            let numbers = [
                size.lines,
                size.rust,
                size.python,
                size.files,
                size.modules,
                size.functions,
            ];
            crates.row(
                [name.to_owned()]
                    .into_iter()
                    .chain(numbers.map(|number| number.to_string())),
            );
        }
        let mut edges = Table::new("edges between crates", ["crate", "uses", "through re-exports"]);
        for (name, uses) in &self.edges {
            let through = self.edges_by_re_exports.get(name).map(joined).unwrap_or_default();
            edges.row([name.clone(), joined(uses), through]);
        }
        let mut cycles = Table::new("import cycles within crates", ["size", "crate", "modules"]);
        for cycle in &self.cycles {
            let modules: BTreeSet<String> = cycle.modules.iter().cloned().collect();
            cycles.row([cycle.size.to_string(), cycle.member.clone(), joined(&modules)]);
        }
        let largest = |title, list: &[Length]| {
            let mut table = Table::new(title, ["lines", "name"]);
            for entry in list {
                table.row([entry.lines.to_string(), entry.name.clone()]);
            }
            table
        };
        let mut names = Table::new("type names for more than one thing", ["things", "name", "places"]);
        let mut by_count: Vec<_> = self.repeated_type_names.iter().collect();
        by_count.sort_by_key(|(name, places)| (std::cmp::Reverse(places.len()), *name));
        for (name, places) in by_count {
            for (at, place) in places.iter().enumerate() {
                let first = |text: String| if at == 0 { text } else { String::new() };
                names.row([
                    first(places.len().to_string()),
                    first(name.clone()),
                    place.clone(),
                ]);
            }
        }
        let mut booleans = Table::new(
            "functions with boolean parameters",
            ["function", "parameters", "place"],
        );
        for found in &self.boolean_parameters {
            booleans.row([
                found.function.clone(),
                found.parameters.join(", "),
                found.place.clone(),
            ]);
        }
        let mut findings = Table::new("places that break a rule, excepted or not", ["rule", "places"]);
        for (rule, places) in &self.findings {
            findings.row([rule.to_string(), places.len().to_string()]);
        }
        [
            crates,
            edges,
            cycles,
            largest("largest files", &self.largest_files),
            largest("largest functions", &self.largest_functions),
            names,
            booleans,
            findings,
        ]
        .map(|table| table.to_string())
        .join("\n")
    }
}

impl Size {
    fn add(&mut self, other: &Size) {
        self.lines += other.lines;
        self.rust += other.rust;
        self.python += other.python;
        self.files += other.files;
        self.modules += other.modules;
        self.functions += other.functions;
    }
}

/// Whether the file is the product's Python: neither a test nor an example.
fn is_python_of(file: &File, directory: &str) -> bool {
    let below = file.path.strip_prefix(directory).filter(|_| file.is_python());
    below.is_some_and(|below| {
        !below
            .split('/')
            .any(|part| ["tests", "examples", "fixtures"].contains(&part))
    })
}

fn edges(tree: &Tree, outside: &BTreeSet<String>, metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let members: BTreeSet<&str> = tree.crates.iter().map(|member| member.name.as_str()).collect();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter_map(|package| {
            let name = package["name"].as_str().filter(|name| !outside.contains(*name))?;
            let dependencies = package["dependencies"].as_array().into_iter().flatten();
            let inside = dependencies
                .filter(|dependency| dependency["kind"] != "dev")
                .filter_map(|dependency| dependency["name"].as_str())
                .filter(|name| members.contains(name));
            Some((name.to_owned(), inside.map(str::to_owned).collect()))
        })
        .collect()
}

fn cycles(tree: &Tree, outside: &BTreeSet<String>) -> Vec<Cycle> {
    let mut all = Vec::new();
    for (index, member) in tree.crates.iter().enumerate() {
        if outside.contains(&member.name) {
            continue;
        }
        let imports = cycles::imports(tree, index);
        let paths = |modules: &mut dyn Iterator<Item = &usize>| -> Vec<String> {
            modules
                .map(|module| member.modules[*module].path.clone())
                .collect()
        };
        all.extend(cycles::cycles(&imports).iter().map(|cycle| {
            Cycle {
                size: cycle.len(),
                member: member.name.clone(),
                modules: paths(&mut cycle.iter()),
                imports: cycle
                    .iter()
                    .map(|module| {
                        let inside =
                            paths(&mut imports[*module].iter().filter(|other| cycle.contains(other)));
                        (member.modules[*module].path.clone(), inside)
                    })
                    .collect(),
            }
        }));
    }
    all.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.modules.cmp(&b.modules)));
    all
}

fn joined(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

//! The requirements of an environment, with a person's additions and removals.

use serde::{Deserialize, Serialize};

use super::environment::Package;
use super::requirement::{Requirement, key};

/// Installed by [`crate::python::sync`] unless a requirements file is given; in pip's format.
pub const DEFAULT_REQUIREMENTS: &str = include_str!("requirements.txt");

/// The requirements of one environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementSet {
    origin: Origin,
    /// All requirements, as lines for pip.
    pub(super) lines: Vec<String>,
    /// Lines added by `codeyard python add`.
    pub(super) added: Vec<String>,
    /// Names of the default set removed by `codeyard python remove`.
    pub(super) removed: Vec<String>,
}

/// The set before additions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Origin {
    /// The default set.
    Default,
    /// No environment: only additions.
    Nothing,
    /// A requirements file.
    File,
    /// An environment of an older codeyard, which did not record its origin.
    #[default]
    Unknown,
}

impl RequirementSet {
    pub(super) fn standard() -> RequirementSet {
        RequirementSet {
            origin: Origin::Default,
            lines: default_lines(),
            ..RequirementSet::default()
        }
    }

    pub(super) fn nothing() -> RequirementSet {
        RequirementSet {
            origin: Origin::Nothing,
            ..RequirementSet::default()
        }
    }

    /// The set of a requirements file. Plain lines stay; other lines become the versions that were installed.
    pub(super) fn of_file(text: &str, requested: &[Package]) -> RequirementSet {
        let mut lines: Vec<String> = text
            .lines()
            .filter_map(plain)
            .filter(|line| requested.iter().any(|package| key(&package.name) == line.key()))
            .map(|line| line.to_string())
            .collect();
        for package in requested {
            if !lines.iter().any(|line| names(line, &key(&package.name))) {
                lines.push(format!("{}=={}", package.name, package.version));
            }
        }
        RequirementSet {
            origin: Origin::File,
            lines,
            ..RequirementSet::default()
        }
    }

    /// The set of an older codeyard's environment, derived from the marks that pip left.
    pub(super) fn of_marks(requested: &[Package]) -> RequirementSet {
        RequirementSet {
            lines: requested.iter().map(|package| package.name.clone()).collect(),
            ..RequirementSet::default()
        }
    }

    /// Today's default set, with the additions and removals of the previous set.
    pub(super) fn renewed(&self) -> RequirementSet {
        if self.origin == Origin::File {
            return RequirementSet::standard();
        }
        let is_default = |line: &String| {
            let changed = self.added.iter().chain(&self.removed);
            !changed.clone().any(|changed| names(line, &name_of(changed)))
        };
        let mut lines: Vec<String> = default_lines().into_iter().filter(is_default).collect();
        lines.extend(self.added.iter().cloned());
        RequirementSet {
            origin: Origin::Default,
            lines,
            ..self.clone()
        }
    }

    /// Adds requirements, each replacing an older one of the same package.
    pub(super) fn with(&self, requirements: &[Requirement]) -> RequirementSet {
        let mut set = self.clone();
        for requirement in requirements {
            set.forget(&requirement.key());
            set.lines.push(requirement.to_string());
            set.added.push(requirement.to_string());
        }
        set
    }

    pub(super) fn without(&self, names_to_go: &[String]) -> RequirementSet {
        let mut set = self.clone();
        for name in names_to_go.iter().map(|name| key(name)) {
            set.forget(&name);
            if self.origin != Origin::File && default_lines().iter().any(|line| names(line, &name)) {
                set.removed.push(name);
            }
        }
        set
    }

    fn forget(&mut self, name: &str) {
        for list in [&mut self.lines, &mut self.added, &mut self.removed] {
            list.retain(|line| !names(line, name));
        }
    }

    /// The requirement of a package, if requested itself.
    pub fn line_of(&self, name: &str) -> Option<&str> {
        line_of(&self.lines, name)
    }

    /// The requirement that was added for a package.
    pub fn added_line_of(&self, name: &str) -> Option<&str> {
        line_of(&self.added, name)
    }

    /// The names removed from the default set.
    pub fn left_out(&self) -> &[String] {
        &self.removed
    }

    /// Whether a package is requested itself, and not only needed by another package.
    pub(super) fn asks_for(&self, name: &str) -> bool {
        self.line_of(name).is_some()
    }

    /// Whether adding the requirement changes nothing: the same text, or only the name of a requested package.
    pub(super) fn has(&self, requirement: &Requirement) -> bool {
        let text = requirement.to_string();
        self.lines
            .iter()
            .any(|line| *line == text || (requirement.is_name_only() && names(line, &requirement.key())))
    }

    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

fn default_lines() -> Vec<String> {
    DEFAULT_REQUIREMENTS
        .lines()
        .filter_map(plain)
        .map(|line| line.to_string())
        .collect()
}

fn plain(line: &str) -> Option<Requirement> {
    let line = line.split(" #").next().unwrap_or(line);
    let line = line.split(';').next().unwrap_or(line);
    Requirement::parse(line).ok()
}

fn name_of(line: &str) -> String {
    plain(line).map_or_else(|| key(line), |line| line.key())
}

fn line_of<'a>(lines: &'a [String], name: &str) -> Option<&'a str> {
    let name = key(name);
    lines.iter().find(|line| names(line, &name)).map(String::as_str)
}

fn names(line: &str, name: &str) -> bool {
    name_of(line) == name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<Requirement> {
        vec![Requirement::parse(text).unwrap()]
    }

    fn package(name: &str, version: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
        }
    }

    #[test]
    fn every_line_of_the_default_set_is_plain() {
        let count = DEFAULT_REQUIREMENTS
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .count();
        assert_eq!(default_lines().len(), count);
    }

    #[test]
    fn additions_and_removals_outlive_a_renewal() {
        let set = RequirementSet::standard()
            .with(&parsed("rich"))
            .with(&parsed("numpy==1.26.4"))
            .without(&["Plotly".to_owned()]);
        let renewed = set.renewed();
        assert_eq!(renewed, set);
        assert!(renewed.asks_for("Rich") && !renewed.asks_for("plotly"));
        assert!(renewed.lines.contains(&"numpy==1.26.4".to_owned()));
        let again = set.with(&parsed("plotly")).without(&["rich".to_owned()]);
        assert!(again.asks_for("plotly") && again.removed.is_empty() && !again.asks_for("rich"));
        let alone = RequirementSet::nothing().with(&parsed("rich")).renewed();
        assert!(alone.asks_for("rich") && alone.asks_for("numpy"));
    }

    #[test]
    fn a_bare_name_keeps_the_requested_versions() {
        let set = RequirementSet::nothing().with(&parsed("httpx==0.27.0"));
        assert!(set.has(&parsed("HTTPX")[0]) && set.has(&parsed("httpx==0.27.0")[0]));
        assert!(!set.has(&parsed("httpx==0.28.0")[0]) && !set.has(&parsed("rich")[0]));
        assert_eq!(set.with(&parsed("httpx>=0.28")).text(), "httpx>=0.28\n");
    }

    #[test]
    fn a_file_is_remembered_by_its_plain_lines_and_what_else_it_installed() {
        let text = "--index-url https://me:secret@index.example/\n-r more.txt\n# pandas\n\
                    requests[socks]>=2  # for later\nold; python_version < '3'\n./wheels/tiny.whl\n";
        let requested = [
            package("requests", "2.32"),
            package("Tiny", "1.0"),
            package("deep", "3"),
        ];
        let set = RequirementSet::of_file(text, &requested);
        assert_eq!(set.lines, ["requests[socks]>=2", "Tiny==1.0", "deep==3"]);
        assert_eq!(set.renewed(), RequirementSet::standard());
    }
}

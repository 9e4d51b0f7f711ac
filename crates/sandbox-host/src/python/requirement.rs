//! A requirement that a user may add: a package of the index, with optional extras and versions.

use std::fmt;

/// One package in pip's syntax: `rich`, `httpx==0.27.0`, `requests[socks]>=2,<3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    name: String,
    extras: Vec<String>,
    versions: Vec<String>,
}

/// Why a text is not a [`Requirement`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// The text is blank.
    #[error("a package name is empty; write NAME or NAME==VERSION")]
    Empty,
    /// The text begins with a dash.
    #[error(
        "`{0}` is an option, expected a package name; pip's own settings (`PIP_INDEX_URL`, `pip.conf`) choose the index"
    )]
    Option(String),
    /// A URL, also after a name and `@`.
    #[error(
        "`{0}` is a URL, expected a package name; list URLs in a requirements file and run `codeyard python sync --requirements FILE`"
    )]
    Url(String),
    /// A file or directory.
    #[error(
        "`{0}` is a path, expected a package name; list paths in a requirements file and run `codeyard python sync --requirements FILE`"
    )]
    Path(String),
    /// Anything else.
    #[error("`{0}` is not a package name; write NAME, NAME==VERSION or 'NAME>=VERSION,<VERSION'")]
    Malformed(String),
    /// Two requirements of one package.
    #[error("`{0}` and `{1}` are the same package; give it once")]
    Twice(String, String),
}

impl Requirement {
    /// Parses one argument.
    pub fn parse(text: &str) -> Result<Requirement, RequirementError> {
        let text = text.trim();
        let whole = || text.to_owned();
        if text.is_empty() {
            return Err(RequirementError::Empty);
        }
        if text.starts_with('-') {
            return Err(RequirementError::Option(whole()));
        }
        if text.contains("://") || text.contains('@') {
            return Err(RequirementError::Url(whole()));
        }
        if text.contains(['/', '\\']) || text.starts_with(['.', '~']) || is_file(text) {
            return Err(RequirementError::Path(whole()));
        }
        split(text).ok_or_else(|| RequirementError::Malformed(whole()))
    }

    /// Parses all arguments of a command. Identical requirements count once.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Requirement>, RequirementError> {
        let mut all: Vec<Requirement> = Vec::new();
        for text in texts {
            let requirement = Requirement::parse(text)?;
            match all.iter().find(|other| other.key() == requirement.key()) {
                None => all.push(requirement),
                Some(other)
                    if other.extras == requirement.extras && other.versions == requirement.versions => {}
                Some(other) => {
                    return Err(RequirementError::Twice(
                        other.to_string(),
                        requirement.to_string(),
                    ));
                }
            }
        }
        Ok(all)
    }

    /// As the user wrote it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Without extras and versions.
    pub fn is_name_only(&self) -> bool {
        self.extras.is_empty() && self.versions.is_empty()
    }

    /// The normalised name, equal for all spellings.
    pub(super) fn key(&self) -> String {
        key(&self.name)
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        if !self.extras.is_empty() {
            write!(formatter, "[{}]", self.extras.join(","))?;
        }
        formatter.write_str(&self.versions.join(","))
    }
}

/// A package's name as the index compares it: lower case, with one dash for each run of `-`, `_` and `.`.
pub(super) fn key(name: &str) -> String {
    let words: Vec<&str> = name
        .split(['-', '_', '.'])
        .filter(|word| !word.is_empty())
        .collect();
    words.join("-").to_lowercase()
}

/// Whether a text without directories names a file that pip would install.
fn is_file(text: &str) -> bool {
    [".whl", ".tar.gz", ".zip", ".txt"]
        .iter()
        .any(|ending| text.ends_with(ending))
}

fn split(text: &str) -> Option<Requirement> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (extras, rest) = extras(rest.trim_start())?;
    let versions = match rest.trim() {
        "" => Vec::new(),
        rest => rest.split(',').map(version).collect::<Option<_>>()?,
    };
    is_name(name).then(|| Requirement {
        name: name.to_owned(),
        extras,
        versions,
    })
}

fn extras(text: &str) -> Option<(Vec<String>, &str)> {
    let Some(inside) = text.strip_prefix('[') else {
        return Some((Vec::new(), text));
    };
    let (inside, rest) = inside.split_once(']')?;
    let extras: Vec<String> = inside.split(',').map(|extra| extra.trim().to_owned()).collect();
    extras
        .iter()
        .all(|extra| is_name(extra))
        .then_some((extras, rest))
}

fn version(text: &str) -> Option<String> {
    const OPERATORS: [&str; 8] = ["===", "~=", "==", "!=", "<=", ">=", "<", ">"];
    let text = text.trim();
    let operator = OPERATORS.iter().find(|operator| text.starts_with(**operator))?;
    let number = text.strip_prefix(operator)?.trim();
    let is_number = number.starts_with(|c: char| c.is_ascii_alphanumeric())
        && number
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".*+!_-".contains(c));
    is_number.then(|| format!("{operator}{number}"))
}

fn is_name(text: &str) -> bool {
    let is_end = |c: char| c.is_ascii_alphanumeric();
    text.starts_with(is_end) && text.ends_with(is_end) && text.chars().all(|c| is_end(c) || "-_.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_extras_and_versions_are_read() {
        for (text, shown) in [
            ("rich", "rich"),
            (" httpx == 0.27.0 ", "httpx==0.27.0"),
            (
                "requests[socks, security] >=2, <3",
                "requests[socks,security]>=2,<3",
            ),
            ("Ruamel.YAML~=0.18", "Ruamel.YAML~=0.18"),
            ("torch==2.1.0+cpu", "torch==2.1.0+cpu"),
            ("django==4.*", "django==4.*"),
        ] {
            assert_eq!(Requirement::parse(text).unwrap().to_string(), shown);
        }
        assert_eq!(key("Ruamel__YAML.clib"), "ruamel-yaml-clib");
    }

    #[test]
    fn invalid_requirements_are_reported_by_kind() {
        let check = |text: &str, expected: fn(String) -> RequirementError| {
            assert_eq!(
                Requirement::parse(text).unwrap_err(),
                expected(text.to_owned()),
                "{text}"
            );
        };
        assert_eq!(Requirement::parse("  ").unwrap_err(), RequirementError::Empty);
        check("--index-url", RequirementError::Option);
        check("-r", RequirementError::Option);
        check("https://example.org/rich.whl", RequirementError::Url);
        check("rich @ file:///tmp/rich.whl", RequirementError::Url);
        check("git+ssh://git@example.org/rich", RequirementError::Url);
        check("./rich", RequirementError::Path);
        check("..", RequirementError::Path);
        check("~rich", RequirementError::Path);
        check("rich-1.0-py3-none-any.whl", RequirementError::Path);
        check("requirements.txt", RequirementError::Path);
        for text in [
            "my package",
            "rich,httpx",
            "rich==",
            "rich=1",
            "rich==1.0 httpx",
            "rich[",
            "rich[a",
            "rich[]",
            "rich;python_version<'3'",
            "rich\nhttpx",
            "rich $(id)",
            "_rich",
            "rich-",
            "riсh",
        ] {
            check(text, RequirementError::Malformed);
        }
    }

    #[test]
    fn one_package_is_given_once() {
        let parse = |texts: [&str; 2]| Requirement::parse_all(&texts.map(str::to_owned));
        assert_eq!(parse(["rich", "Rich"]).unwrap().len(), 1);
        assert_eq!(
            parse(["rich==13", "Rich==14"]).unwrap_err(),
            RequirementError::Twice("rich==13".into(), "Rich==14".into())
        );
    }
}

//! Globs on `server.tool`: each part is matched separately, so `*` never crosses the separator.

use globset::{ErrorKind, Glob, GlobBuilder, GlobMatcher};
use types::ToolRef;

use crate::mistake::Mistake;

/// Rules in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    text: String,
    /// One reading per separator in the text, because names of servers and tools may contain separators.
    readings: Vec<Reading>,
}

#[derive(Debug, Clone)]
struct Reading {
    server: Part,
    tool: Part,
}

#[derive(Debug, Clone)]
struct Part {
    exact: GlobMatcher,
    /// Ignores case and treats `-` as `_`, like the spelling in programs.
    loose: GlobMatcher,
}

// === impl Rules ===

impl Rules {
    /// Reads all rules of `field`; adds mistakes to `mistakes`.
    pub(crate) fn read(field: &str, texts: &[String], mistakes: &mut Vec<Mistake>) -> Self {
        Self::read_each(field, texts, mistakes, Rule::read)
    }

    pub(crate) fn all() -> Self {
        Self(Rule::read("*").into_iter().collect())
    }

    /// Reads the rules of a server's definition for its own tools; these omit the server's name.
    pub(crate) fn read_own(server: &str, field: &str, texts: &[String], mistakes: &mut Vec<Mistake>) -> Self {
        Self::read_each(field, texts, mistakes, |text| Rule::read_own(server, text))
    }

    fn read_each(
        field: &str,
        texts: &[String],
        mistakes: &mut Vec<Mistake>,
        read: impl Fn(&str) -> Result<Rule, String>,
    ) -> Self {
        let mut rules = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            match read(text) {
                Ok(rule) => rules.push(rule),
                Err(message) => mistakes.push(Mistake {
                    field: format!("{field}[{index}]"),
                    message,
                }),
            }
        }
        Self(rules)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a rule matches every tool of the server, in any spelling of its name.
    pub(crate) fn cover(&self, server: &str) -> bool {
        let server = loosened(server);
        let mut readings = self.readings();
        readings.any(|r| r.tool.is_anything() && r.server.loose.is_match(&server))
    }

    /// Whether a rule may match a tool of the server with exactly this name.
    pub(crate) fn name(&self, server: &str) -> bool {
        self.readings().any(|r| r.server.exact.is_match(server))
    }

    fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.0.iter().flat_map(|rule| &rule.readings)
    }

    /// The first rule that matches the exact names.
    pub(crate) fn matching(&self, tool: &ToolRef) -> Option<&str> {
        let rule = self.0.iter().find(|rule| {
            let mut readings = rule.readings.iter();
            readings.any(|r| r.server.exact.is_match(&tool.server) && r.tool.exact.is_match(&tool.tool))
        });
        rule.map(|rule| rule.text.as_str())
    }

    /// The first rule that matches any spelling that a program may use.
    pub(crate) fn matching_loosely(&self, tool: &ToolRef) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let (server, name) = (loosened(&tool.server), loosened(&tool.tool));
        let rule = self.0.iter().find(|rule| {
            let mut readings = rule.readings.iter();
            readings.any(|r| r.server.loose.is_match(&server) && r.tool.loose.is_match(&name))
        });
        rule.map(|rule| rule.text.as_str())
            .or_else(|| self.matching(tool))
    }
}

// === impl Rule ===

impl Rule {
    fn read(text: &str) -> Result<Rule, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is empty; write 'server.tool', with '*' for any text".to_owned());
        }
        let pattern = if text == "*" { "*.*" } else { text };
        let mut readings = Vec::new();
        let mut problem = None;
        for (at, _) in pattern.match_indices(['.', '/']) {
            let (server, tool) = (&pattern[..at], &pattern[at + 1..]);
            if server.is_empty() || tool.is_empty() {
                continue;
            }
            match (Part::read(server), Part::read(tool)) {
                (Ok(server), Ok(tool)) => readings.push(Reading { server, tool }),
                (Err(error), _) | (_, Err(error)) => problem = problem.or(Some(error)),
            }
        }
        if !readings.is_empty() {
            return Ok(Rule {
                text: text.to_owned(),
                readings,
            });
        }
        Err(match problem {
            Some(problem) => format!("'{text}' is not a valid pattern: {problem}"),
            None => {
                let server = text.trim_matches(['.', '/']);
                format!("'{text}' is not a tool name; write '{server}.*' for all tools of a server")
            }
        })
    }

    fn read_own(server: &str, text: &str) -> Result<Rule, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("is empty; write a tool's name, with '*' for any text".to_owned());
        }
        let wrong = |problem| format!("'{text}' is not a valid pattern: {problem}");
        let reading = Reading {
            server: Part::read("*").map_err(wrong)?,
            tool: Part::read(text).map_err(wrong)?,
        };
        if has_braced_separator(text) {
            return Err(format!(
                "'{text}' has a '.' or '/' between '{{' and '}}'; write one rule for each"
            ));
        }
        match names_server(server, text) {
            Some(at) => Err(names_too_much(text, at)),
            None => Ok(Rule {
                text: text.to_owned(),
                readings: vec![reading],
            }),
        }
    }
}

/// Whether a choice (`{a,b}`) in the pattern contains the separator, which is not recognised there.
fn has_braced_separator(pattern: &str) -> bool {
    let mut separators = pattern.match_indices(['.', '/']);
    separators.any(|(at, _)| {
        glob(&pattern[..at]).is_err_and(|error| matches!(error.kind(), ErrorKind::UnclosedAlternates))
    })
}

/// The separator's position, if the text has the form `server.tool` and names this server.
fn names_server(server: &str, text: &str) -> Option<usize> {
    let mut separators = text.match_indices(['.', '/']).map(|(at, _)| at);
    let server = loosened(server);
    separators.find(|at| Part::read(&text[..*at]).is_ok_and(|part| part.loose.is_match(&server)))
}

/// Explains a rule that would match nothing, because tools have no server's name here.
fn names_too_much(text: &str, at: usize) -> String {
    let (server, rest) = text.split_at(at);
    let (separator, tool) = rest.split_at(1);
    let tool = if tool.is_empty() { "*" } else { tool };
    format!(
        "'{text}' names the server, which is left out here; write '{tool}', or '{server}[{separator}]{tool}' if all of it is the name of a tool"
    )
}

// === impl Part ===

impl Part {
    fn read(pattern: &str) -> Result<Self, String> {
        let matcher = |pattern: &str| {
            let glob = glob(pattern).map_err(|error| error.kind().to_string())?;
            Ok::<_, String>(glob.compile_matcher())
        };
        // In a character class `-` is a range, which must not become `_`.
        let loose = if pattern.contains('[') {
            pattern.to_lowercase()
        } else {
            loosened(pattern)
        };
        Ok(Self {
            exact: matcher(pattern)?,
            loose: matcher(&loose)?,
        })
    }

    fn is_anything(&self) -> bool {
        matches!(self.exact.glob().glob(), "*" | "**")
    }
}

fn glob(pattern: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern).backslash_escape(true).build()
}

fn loosened(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

//! Parses docstrings: text without indentation, and parameter descriptions.

use std::collections::HashMap;

/// Most bytes of a description.
const MAX_DESCRIPTION: usize = 16 * 1024;

/// Headings of parameter sections.
const HEADINGS: [&str; 5] = ["Args:", "Arguments:", "Parameters:", "Params:", "Parameters"];

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct ParameterDoc {
    /// As written in the docstring.
    pub(crate) annotation: Option<String>,
    pub(crate) description: String,
}

/// The text as from `inspect.cleandoc`, shortened if very long.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace('\t', "        ");
    let mut lines: Vec<&str> = text.lines().collect();
    let margin = lines
        .iter()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| indentation(line))
        .min()
        .unwrap_or(0);
    for (index, line) in lines.iter_mut().enumerate() {
        let cut = if index == 0 { indentation(line) } else { margin };
        *line = line.get(cut..).unwrap_or_default().trim_end();
    }
    let mut clean = lines.join("\n").trim_matches('\n').trim_end().to_owned();
    clean.truncate(clean.floor_char_boundary(MAX_DESCRIPTION));
    clean
}

/// Parameters in a clean docstring, by name: from a section `Args:`, one underlined with dashes, or `:param name:`.
pub(crate) fn parameters(clean: &str) -> HashMap<String, ParameterDoc> {
    let mut said = HashMap::new();
    let lines: Vec<&str> = clean.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let rest = lines.get(index + 1..).unwrap_or_default();
        if let Some(field) = line.trim_start().strip_prefix(":param ") {
            said.extend(field_of(field, rest));
        } else if HEADINGS.contains(&line.trim()) {
            let is_underlined = rest.first().is_some_and(|next| is_rule(next));
            match is_underlined {
                true => underlined(rest.get(1..).unwrap_or_default(), &mut said),
                false if line.trim().ends_with(':') => section(indentation(line), rest, &mut said),
                false => {}
            }
        }
    }
    said
}

/// `name (type): what it is`, indented deeper than the heading; continuation lines deeper still.
fn section(heading: usize, lines: &[&str], said: &mut HashMap<String, ParameterDoc>) {
    let mut level = None;
    let mut current: Option<String> = None;
    for line in lines {
        let depth = indentation(line);
        if line.trim().is_empty() {
            continue;
        }
        if depth <= heading {
            return;
        }
        let level = *level.get_or_insert(depth);
        if depth <= level {
            current = entry(line.trim()).map(|(name, entry)| {
                said.insert(name.clone(), entry);
                name
            });
        } else if let Some(entry) = current.as_ref().and_then(|name| said.get_mut(name)) {
            entry.continue_with(line);
        }
    }
}

fn entry(line: &str) -> Option<(String, ParameterDoc)> {
    let (head, description) = line.split_once(':')?;
    // `options (dict[str, int]): …` has its colon after the bracket.
    let (name, annotation) = match head.split_once('(') {
        Some((name, annotation)) => (name.trim(), Some(annotation.trim_end().strip_suffix(')')?)),
        None => (head.trim(), None),
    };
    named(name, annotation, description)
}

/// `name : type`, with the description indented on the lines below.
fn underlined(lines: &[&str], said: &mut HashMap<String, ParameterDoc>) {
    let mut current: Option<String> = None;
    for (index, line) in lines.iter().enumerate() {
        if lines.get(index + 1).is_some_and(|next| is_rule(next)) {
            return;
        }
        if line.trim().is_empty() {
            continue;
        }
        if indentation(line) == 0 {
            let (name, annotation) = match line.split_once(':') {
                Some((name, annotation)) => (name, Some(annotation)),
                None => (*line, None),
            };
            current = named(name.trim(), annotation, "").map(|(name, entry)| {
                said.insert(name.clone(), entry);
                name
            });
        } else if let Some(entry) = current.as_ref().and_then(|name| said.get_mut(name)) {
            entry.continue_with(line);
        }
    }
}

/// `name: what it is` or `type name: what it is`, after `:param `.
fn field_of(field: &str, rest: &[&str]) -> Option<(String, ParameterDoc)> {
    let (head, description) = field.split_once(':')?;
    let (annotation, name) = match head.trim().rsplit_once(' ') {
        Some((annotation, name)) => (Some(annotation), name),
        None => (None, head.trim()),
    };
    let (name, mut said) = named(name, annotation, description)?;
    let further = rest.iter().take_while(|line| {
        !line.trim().is_empty() && !line.trim_start().starts_with(':') && indentation(line) > 0
    });
    for line in further {
        said.continue_with(line);
    }
    Some((name, said))
}

fn named(name: &str, annotation: Option<&str>, description: &str) -> Option<(String, ParameterDoc)> {
    let name = name.trim_start_matches('*');
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let annotation = annotation.map(|text| text.trim().trim_end_matches(", optional").to_owned());
    is_name.then(|| {
        let description = description.trim().to_owned();
        (
            name.to_owned(),
            ParameterDoc {
                annotation,
                description,
            },
        )
    })
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 3 && line.chars().all(|c| c == '-')
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

// === impl ParameterDoc ===

impl ParameterDoc {
    fn continue_with(&mut self, line: &str) {
        if !self.description.is_empty() {
            self.description.push(' ');
        }
        self.description.push_str(line.trim());
    }
}

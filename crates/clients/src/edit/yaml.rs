//! Edits YAML line by line.
//!
//! Supports only block mappings, as Goose writes them; refuses other styles with the line number.

use saphyr::{MarkedYaml, YamlData};
use serde_json::Value;

use super::step::{Refused, Step};
use crate::document::{self, key_of};

pub(super) fn edit(text: &str, steps: &[Step<'_>]) -> Result<String, Refused> {
    let mut text = text.to_owned();
    for step in steps {
        text = match step {
            Step::Set(path, name, value) if value.is_object() => {
                let without = remove(&text, path, name)?;
                add(&without, path, name, value)?
            }
            Step::Set(path, name, value) => set(&text, path, name, value)?,
            Step::Remove(path, name) => remove(&text, path, name)?,
            // Goose has no such lists.
            Step::Append(..) | Step::Drop(..) => {
                return Err(Refused::new("codeyard cannot change lists of this file"));
            }
        };
    }
    Ok(text)
}

/// Sets a scalar in the mapping at these keys.
fn set(text: &str, path: &[String], name: &str, value: &Value) -> Result<String, Refused> {
    let node = document::yaml(text)?;
    let mapping = path.iter().try_fold(node.as_ref(), |node, key| {
        node.map(|node| member(node, key).map(|(_, value)| value))
            .ok_or_else(|| Refused::new("an entry has moved"))
    })?;
    let mapping = mapping.ok_or_else(|| Refused::new("an entry has moved"))?;
    let mut lines = Lines::of(text);
    if let Some((_, old)) = member(mapping, name) {
        let (line, column) = (old.span.start.line(), old.span.start.col());
        let spelled: String = lines
            .rest(line, column)
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        if spelled.is_empty() {
            return Err(Refused::at(
                line,
                &format!("`{name}` is written in an unusual way"),
            ));
        }
        lines.replace(line, column, &spelled, &value.to_string());
        return Ok(lines.text());
    }
    let (line, column) = first_key(mapping, &lines)?;
    lines.insert(line, &format!("{}{name}: {value}", " ".repeat(column)));
    Ok(lines.text())
}

/// Removes a member and its indented lines from the mapping at these keys, if present.
fn remove(text: &str, path: &[String], name: &str) -> Result<String, Refused> {
    let node = document::yaml(text)?;
    let mapping = node.as_ref().and_then(|node| {
        path.iter()
            .try_fold(node, |node, key| member(node, key).map(|(_, value)| value))
    });
    let Some((key, _)) = mapping.and_then(|mapping| member(mapping, name)) else {
        return Ok(text.to_owned());
    };
    let (line, column) = (key.span.start.line(), key.span.start.col());
    let mut lines = Lines::of(text);
    if !lines.rest(line, 0).starts_with(&" ".repeat(column)) {
        return Err(Refused::at(
            line,
            &format!("`{name}` is written in an unusual way"),
        ));
    }
    lines.remove(line, column);
    Ok(lines.text())
}

/// Adds an entry as the first member of the mapping at these keys.
fn add(text: &str, path: &[String], name: &str, entry: &Value) -> Result<String, Refused> {
    let [list] = path else {
        return Err(Refused::new("the list is not at the top"));
    };
    let node = document::yaml(text)?;
    let mut lines = Lines::of(text);
    let Some((key, servers)) = node.as_ref().and_then(|node| member(node, list)) else {
        lines.end();
        lines.push(&format!("{list}:"));
        lines.push_all(&block(name, entry, 2));
        return Ok(lines.text());
    };
    let line = key.span.start.line();
    let members = match &servers.data {
        YamlData::Mapping(members) => members,
        YamlData::Value(_) => {
            lines.insert_all(line + 1, &block(name, entry, 2));
            return Ok(lines.text());
        }
        _ => return Err(Refused::at(line, &format!("`{list}` is not a mapping"))),
    };
    if members.is_empty() {
        let written = format!("{list}: {{}}");
        if !lines.rest(line, 0).trim_end().starts_with(&written) {
            return Err(Refused::at(
                line,
                &format!("`{list}` is written in an unusual way"),
            ));
        }
        lines.replace(line, 0, &written, &format!("{list}:"));
        lines.insert_all(line + 1, &block(name, entry, 2));
        return Ok(lines.text());
    }
    if member(servers, name).is_some() {
        return Err(Refused::at(
            line,
            &format!("there is already another `{name}`; remove it first"),
        ));
    }
    let (first, indent) = first_key(servers, &lines)?;
    if first <= line {
        return Err(Refused::at(line, &format!("`{list}` is written in one line")));
    }
    lines.insert_all(line + 1, &block(name, entry, indent));
    Ok(lines.text())
}

/// Line and column of a mapping's first key, which must be alone on its line.
fn first_key(mapping: &MarkedYaml<'_>, lines: &Lines) -> Result<(usize, usize), Refused> {
    let YamlData::Mapping(members) = &mapping.data else {
        return Err(Refused::at(
            mapping.span.start.line(),
            "an entry is not a mapping",
        ));
    };
    let Some((key, _)) = members.iter().next() else {
        return Err(Refused::at(mapping.span.start.line(), "an entry is empty"));
    };
    let (line, column) = (key.span.start.line(), key.span.start.col());
    let before: String = lines.rest(line, 0).chars().take(column).collect();
    if !before.chars().all(|c| c == ' ') {
        return Err(Refused::at(line, "an entry is written in one line"));
    }
    Ok((line, column))
}

fn member<'a, 'b>(node: &'a MarkedYaml<'b>, name: &str) -> Option<(&'a MarkedYaml<'b>, &'a MarkedYaml<'b>)> {
    let YamlData::Mapping(members) = &node.data else {
        return None;
    };
    members.iter().find(|(key, _)| key_of(key) == name)
}

/// An entry in block style. Texts are written as JSON strings, which are valid YAML.
fn block(name: &str, entry: &Value, indent: usize) -> Vec<String> {
    let mut lines = vec![format!("{}{name}:", " ".repeat(indent))];
    for (field, value) in entry.as_object().into_iter().flatten() {
        lines.push(format!("{}{field}: {value}", " ".repeat(indent + 2)));
    }
    lines
}

/// A text's lines with their ends; lines count from 1, columns from 0 in characters.
struct Lines {
    lines: Vec<String>,
    end: &'static str,
}

impl Lines {
    fn of(text: &str) -> Lines {
        Lines {
            lines: text.split_inclusive('\n').map(str::to_owned).collect(),
            end: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    fn text(&self) -> String {
        self.lines.concat()
    }

    /// The text of a line after a position.
    fn rest(&self, line: usize, column: usize) -> &str {
        let text = self.lines.get(line.wrapping_sub(1)).map_or("", String::as_str);
        let start = text
            .char_indices()
            .nth(column)
            .map_or(text.len(), |(index, _)| index);
        &text[start..]
    }

    fn replace(&mut self, line: usize, column: usize, old: &str, new: &str) {
        let rest = self.rest(line, column).to_owned();
        if let (Some(text), Some(after)) = (self.lines.get_mut(line.wrapping_sub(1)), rest.strip_prefix(old))
        {
            text.truncate(text.len() - rest.len());
            text.push_str(new);
            text.push_str(after);
        }
    }

    /// Inserts text before a line.
    fn insert(&mut self, line: usize, text: &str) {
        if line > self.lines.len() {
            self.end();
        }
        let place = line.saturating_sub(1).min(self.lines.len());
        self.lines.insert(place, format!("{text}{}", self.end));
    }

    /// Removes a line and the following lines that are indented deeper or start a list item in its column.
    fn remove(&mut self, line: usize, column: usize) {
        let belongs = |text: &str| {
            let indent = text.chars().take_while(|c| *c == ' ').count();
            let is_item = indent == column && text[indent..].starts_with("- ");
            !text.trim().is_empty() && (indent > column || is_item)
        };
        let start = line.wrapping_sub(1).min(self.lines.len());
        let below = self.lines.iter().skip(start + 1);
        let end = start + 1 + below.take_while(|text| belongs(text)).count();
        self.lines.drain(start..end.min(self.lines.len()));
    }

    fn insert_all(&mut self, line: usize, texts: &[String]) {
        for (index, text) in texts.iter().enumerate() {
            self.insert(line + index, text);
        }
    }

    /// Terminates the last line, so that another line can follow.
    fn end(&mut self) {
        let end = self.end;
        if let Some(last) = self.lines.last_mut().filter(|last| !last.ends_with('\n')) {
            last.push_str(end);
        }
    }

    fn push(&mut self, text: &str) {
        self.lines.push(format!("{text}{}", self.end));
    }

    fn push_all(&mut self, texts: &[String]) {
        for text in texts {
            self.push(text);
        }
    }
}

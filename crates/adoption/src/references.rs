//! Finds the variables that definitions refer to.

use environment::{Environment, Machine};
use registry::Secrets;
use serde_json::Value;

/// Variables in an entry, without duplicates.
pub fn references(entry: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for reference in entry.to_string().split("${").skip(1) {
        let end = reference.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &reference[..end.unwrap_or(reference.len())];
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Variables of this process in the entries, without duplicates and without variables of every process.
pub(crate) fn own_variables(entries: &[Value], secrets: &Secrets<'_>) -> Vec<String> {
    let is_own = |name: &String| {
        let is_everywhere = matches!(
            name.as_str(),
            "HOME" | "PATH" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME"
        );
        !is_everywhere && secrets.get(name).is_none() && Machine.var(name).ok().flatten().is_some()
    };
    let mut names: Vec<String> = entries.iter().flat_map(references).filter(is_own).collect();
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

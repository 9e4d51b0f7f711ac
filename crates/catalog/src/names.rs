//! Names that a program can write: `my-stub` becomes `my_stub`, `class` becomes `class_`, duplicates get numbers.

use std::collections::{HashMap, HashSet};

/// Words that cannot be names in Python.
pub const PYTHON_KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Longest alias before numbering. A longer name is cut, because aliases become file names.
const MAX_ALIAS: usize = 120;

/// The name in lower case. Each run of characters other than `a-z`, `0-9` and `_` becomes one underscore; a
/// leading digit gets one.
pub fn normalise(name: &str) -> String {
    let mut alias = String::with_capacity(name.len());
    let mut in_run = false;
    for c in name.chars().flat_map(char::to_lowercase) {
        if alias.len() >= MAX_ALIAS {
            break;
        }
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' {
            alias.push(c);
            in_run = false;
        } else if !in_run {
            alias.push('_');
            in_run = true;
        }
    }
    if alias.is_empty() || alias.starts_with(|c: char| c.is_ascii_digit()) {
        alias.insert(0, '_');
    }
    alias
}

/// Whether the name is valid in Python.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !PYTHON_KEYWORDS.contains(&name)
}

/// One unique alias per name, in the given order.
///
/// A name that is its own alias keeps it, even if an earlier name has the same alias. So no alias is ever the exact
/// name of another.
pub fn aliases<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut numbers = HashMap::new();
    let mut aliases: Vec<Option<String>> = names
        .clone()
        .map(|name| {
            let alias = base_alias(name);
            (alias == name && taken.insert(alias.clone())).then_some(alias)
        })
        .collect();
    for (name, slot) in names.zip(&mut aliases) {
        if slot.is_none() {
            *slot = Some(free_alias(base_alias(name), &mut taken, &mut numbers));
        }
    }
    aliases.into_iter().flatten().collect()
}

fn base_alias(name: &str) -> String {
    let mut alias = normalise(name);
    // Python reserves such names, and some of them are names of special files.
    if alias.starts_with("__") && alias.ends_with("__") {
        alias = normalise(alias.trim_matches('_'));
    }
    if PYTHON_KEYWORDS.contains(&alias.as_str()) {
        alias.push('_');
    }
    alias
}

/// `numbers` holds the next number to try for each base, so that many equal names need no quadratic search.
fn free_alias(base: String, taken: &mut HashSet<String>, numbers: &mut HashMap<String, u32>) -> String {
    if taken.insert(base.clone()) {
        return base;
    }
    let number = numbers.entry(base.clone()).or_insert(2);
    loop {
        let alias = format!("{base}_{number}");
        *number += 1;
        if taken.insert(alias.clone()) {
            return alias;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(names: &[&str], expected: &[&str]) {
        assert_eq!(aliases(names.iter().copied()), expected, "{names:?}");
    }

    #[test]
    fn names_become_python_names() {
        check(&["github"], &["github"]);
        check(
            &["my-stub", "Weather (EU)", "1password"],
            &["my_stub", "weather_eu_", "_1password"],
        );
        check(&["a--b", "a  c", "a_-_b"], &["a_b", "a_c", "a___b"]);
        check(
            &["class", "import", "None", "print"],
            &["class_", "import_", "none", "print"],
        );
        check(&["日本", "", "***"], &["_", "__2", "__3"]);
        check(&["getIssue", "Ünïcode"], &["getissue", "_n_code"]);
    }

    #[test]
    fn names_with_a_meaning_in_python_lose_their_underscores() {
        check(&["__init__", "__debug__", "____"], &["init", "debug", "_"]);
        check(&["init", "__init__", "__class__"], &["init", "init_2", "class_"]);
        check(&["_private", "__half"], &["_private", "__half"]);
    }

    #[test]
    fn clashes_are_numbered_in_order() {
        check(&["a-b", "a.b", "a b"], &["a_b", "a_b_2", "a_b_3"]);
        check(&["a-b", "a.b", "a_b_2"], &["a_b", "a_b_3", "a_b_2"]);
        check(&["class", "Class"], &["class_", "class__2"]);
    }

    #[test]
    fn an_exact_name_keeps_its_alias() {
        check(&["my-stub", "my_stub"], &["my_stub_2", "my_stub"]);
    }

    proptest! {
        #[test]
        fn every_list_of_names_gets_distinct_identifiers(names in proptest::collection::vec(".{0,12}|[a-z_]{1,2}|_{0,3}(class|[A-Z0-9-])?_{0,3}|[0-9]{1,2}", 0..30)) {
            let aliases = aliases(names.iter().map(String::as_str));
            prop_assert_eq!(aliases.len(), names.len());
            let distinct: HashSet<_> = aliases.iter().collect();
            prop_assert_eq!(distinct.len(), names.len(), "{:?}", aliases);
            for alias in &aliases {
                prop_assert!(is_identifier(alias), "{alias:?}");
                prop_assert!(!(alias.starts_with("__") && alias.ends_with("__")), "{alias:?}");
            }
        }
    }
}

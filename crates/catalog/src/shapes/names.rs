//! Names of generated types: unique, and not reserved in any of the languages.

use std::collections::HashSet;

/// Longest name in bytes, before numbering.
const MAX_NAME: usize = 40;

/// Replaces a name without any usable character.
const NAMELESS: &str = "Item";

/// Capitalized names that stubs use, or that Python or TypeScript define. Names ending in `Error` or
/// `Warning` also count as Python's.
const RESERVED: [&str; 48] = [
    "Any",
    "Literal",
    "Text",
    "TypedDict",
    "None",
    "True",
    "False",
    "Ellipsis",
    "NotImplemented",
    "BaseException",
    "BaseExceptionGroup",
    "Exception",
    "ExceptionGroup",
    "GeneratorExit",
    "KeyboardInterrupt",
    "StopAsyncIteration",
    "StopIteration",
    "SystemExit",
    "Warning",
    "Array",
    "ArrayBuffer",
    "AsyncIterable",
    "BigInt",
    "Boolean",
    "Date",
    "Function",
    "Infinity",
    "Iterable",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Omit",
    "Partial",
    "Pick",
    "Promise",
    "Proxy",
    "Readonly",
    "Record",
    "RegExp",
    "Required",
    "Set",
    "String",
    "Symbol",
    "WeakMap",
];

/// `line_items`, `lineItems` and `@line.items` become `LineItems`.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::new();
    let mut begins = true;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            begins = true;
        } else if camel.len() < MAX_NAME {
            camel.push(if begins { c.to_ascii_uppercase() } else { c });
            begins = false;
        }
    }
    if camel.starts_with(|c: char| c.is_ascii_digit()) {
        camel.insert_str(0, NAMELESS);
    }
    if camel.is_empty() {
        NAMELESS.to_owned()
    } else {
        camel
    }
}

/// `Entities` becomes `Entity`, `Labels` becomes `Label`.
pub(super) fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    match name.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u']) => stem.to_owned(),
        _ => name.to_owned(),
    }
}

/// Takes the name, or adds the next free number.
pub(super) fn free(wanted: &str, taken: &mut HashSet<String>) -> String {
    let reserved = RESERVED.contains(&wanted) || wanted.ends_with("Error") || wanted.ends_with("Warning");
    let base = if reserved {
        format!("{wanted}{NAMELESS}")
    } else {
        wanted.to_owned()
    };
    let mut name = base.clone();
    let mut number = 2_u32;
    while !taken.insert(name.clone()) {
        name = format!("{base}{number}");
        number += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_names_of_types() {
        let check = |name: &str, expected: &str| assert_eq!(camel(name), expected);
        check("line_items", "LineItems");
        check("lineItems", "LineItems");
        check("@odata.type", "OdataType");
        check("2fa", "Item2fa");
        check("日本", "Item");
        check("", "Item");
        assert_eq!(camel(&"a".repeat(1_000)).len(), MAX_NAME);
    }

    #[test]
    fn one_of_several_is_named_after_them() {
        let check = |name: &str, expected: &str| assert_eq!(singular(name), expected);
        check("Entities", "Entity");
        check("Labels", "Label");
        check("Address", "Address");
        check("Status", "Status");
        check("Children", "Children");
        check("Ids", "Ids");
    }

    #[test]
    fn no_name_is_given_twice_or_has_a_meaning() {
        let mut taken = HashSet::new();
        let mut check = |wanted: &str, expected: &str| assert_eq!(free(wanted, &mut taken), expected);
        check("Label", "Label");
        check("Label", "Label2");
        check("Label2", "Label22");
        check("Label", "Label3");
        check("Any", "AnyItem");
        check("ValueError", "ValueErrorItem");
    }
}

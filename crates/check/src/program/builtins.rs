//! Python's built-in functions that the check understands.

/// Builtins that ask what a value is.
pub(super) const ASKING: [&str; 5] = ["isinstance", "type", "callable", "hasattr", "dir"];

/// Builtins that are useless on a call that is not awaited.
pub(super) const BLIND: [&str; 16] = [
    "print", "len", "str", "repr", "sorted", "list", "sum", "min", "max", "set", "tuple", "dict", "int",
    "float", "any", "all",
];

/// Whether the check understands this builtin.
pub(super) fn is_builtin(name: &str) -> bool {
    let others = ["filter", "map", "reversed", "iter", "next", "enumerate", "zip"];
    BLIND.contains(&name) || ASKING.contains(&name) || others.contains(&name)
}

//! Client names of tools and prompts: prefixed with the server's alias, unique, and within every client's length
//! limit.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// Longest name in bytes that every client accepts.
const LONGEST: usize = 64;
/// Hexadecimal digits of a hash in a name.
const DIGITS: usize = 8;

/// `alias_name` for each pair, independent of the pairs' order. If a name is too long, duplicate, or in `taken`, it
/// ends in a hash of alias and name.
pub(crate) fn prefixed(pairs: &[(&str, &str)], taken: &[&str]) -> Vec<String> {
    let plain: Vec<String> = pairs
        .iter()
        .map(|(alias, name)| format!("{alias}_{name}"))
        .collect();
    let mut times: HashMap<&str, usize> = HashMap::new();
    for name in plain.iter().map(String::as_str).chain(taken.iter().copied()) {
        *times.entry(name).or_default() += 1;
    }
    let fits = |name: &String| name.len() <= LONGEST && times[name.as_str()] == 1;
    let names = plain.iter().zip(pairs).map(|(name, pair)| {
        if fits(name) {
            name.clone()
        } else {
            hashed(name, *pair)
        }
    });
    names.collect()
}

fn hashed(prefixed: &str, (alias, name): (&str, &str)) -> String {
    let mut hash = Sha256::new();
    hash.update(alias);
    hash.update([0]);
    hash.update(name);
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let start = &prefixed[..prefixed.floor_char_boundary(LONGEST - DIGITS - 1)];
    format!("{start}_{}", &hash[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(prefixed(pairs, &[]), expected, "{pairs:?}");
    }

    #[test]
    fn the_server_precedes_the_name() {
        check(
            &[("git", "log"), ("fs", "read"), ("fs", "log")],
            &["git_log", "fs_read", "fs_log"],
        );
        check(&[], &[]);
    }

    #[test]
    fn colliding_names_differ_in_any_order() {
        let one = prefixed(&[("a", "b_c"), ("a_b", "c"), ("a", "d")], &[]);
        let other = prefixed(&[("a", "d"), ("a_b", "c"), ("a", "b_c")], &[]);
        assert_eq!((&one[0], &one[1], &one[2]), (&other[2], &other[1], &other[0]));
        assert_ne!(one[0], one[1]);
        assert!(one.iter().all(|name| name.starts_with("a_")), "{one:?}");
        assert_eq!(one[2], "a_d");
    }

    #[test]
    fn taken_names_are_avoided() {
        let named = prefixed(&[("execute", "code"), ("a", "b")], &["execute_code"]);
        assert!(named[0].starts_with("execute_code_"), "{named:?}");
        assert_eq!(named[1], "a_b");
    }

    #[test]
    fn long_names_are_cut_and_stay_different() {
        let (first, second) = ("n".repeat(300), format!("{}x", "n".repeat(299)));
        let named = prefixed(
            &[("server", &first), ("server", &second), ("s", &"é".repeat(70))],
            &[],
        );
        assert!(named.iter().all(|name| name.len() <= LONGEST), "{named:?}");
        assert_ne!(named[0], named[1]);
        let exactly = "x".repeat(LONGEST - 2);
        check(&[("s", &exactly)], &[&format!("s_{exactly}")]);
    }
}

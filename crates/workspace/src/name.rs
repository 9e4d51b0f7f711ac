//! Safe file names for principals and sessions, distinct for distinct names.
//!
//! Letters, digits, `_`, `-` and inner dots stay unchanged; every other byte becomes `%XX`. A longer name is cut and
//! ends in `%-` and its hash. No other encoding contains `%-`.

use sha2::{Digest, Sha256};

/// Longest encoding in bytes. File systems allow 255 bytes, and temporary names need some of them.
const MAX: usize = 200;

/// Bytes of the readable part of a cut name.
const KEPT: usize = 100;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

pub(crate) fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, byte) in name.bytes().enumerate() {
        let plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || (byte == b'.' && index > 0);
        if plain {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    if name.is_empty() {
        // No other name has this encoding: in other names, two digits or the mark of a cut name follow `%`.
        out.push('%');
    }
    if out.len() > MAX {
        let hash = Sha256::digest(name.as_bytes());
        out.truncate(KEPT);
        out.push_str("%-");
        out.extend(
            hash.iter()
                .flat_map(|byte| [byte >> 4, byte & 15])
                .map(|half| char::from(HEX[usize::from(half)])),
        );
    }
    out
}

/// Decodes a file name; `None` if it is foreign or was cut.
pub(crate) fn decode(file: &str) -> Option<String> {
    if file == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(file.len());
    let mut rest = file.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first == b'%' {
            let digits = tail
                .get(..2)
                .and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok().filter(|name| encode(name) == file)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_readable_where_they_can_be() {
        for (name, file) in [
            ("local", "local"),
            ("s-k3fq", "s-k3fq"),
            ("report.v2", "report.v2"),
            (".", "%2E"),
            ("..", "%2E."),
            ("", "%"),
            ("%", "%25"),
            ("a/b", "a%2Fb"),
            ("../../etc", "%2E.%2F..%2Fetc"),
            ("Ann Lee", "Ann%20Lee"),
            ("ü", "%C3%BC"),
            ("a\0b", "a%00b"),
        ] {
            assert_eq!(encode(name), file);
            assert_eq!(decode(file).as_deref(), Some(name));
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_distinct() {
        let (one, two) = ("x".repeat(5000), format!("{}y", "x".repeat(4999)));
        assert!(encode(&one).len() <= MAX && encode(&one).starts_with("xxx"));
        assert_ne!(encode(&one), encode(&two));
        assert_eq!(decode(&encode(&one)), None);
        assert_eq!(encode(&"é".repeat(33)).len(), 198);
        assert_eq!(decode(&encode(&"é".repeat(33))), Some("é".repeat(33)));
    }

    #[test]
    fn foreign_file_names_are_no_names() {
        for file in [
            ".new-1-2",
            "a b",
            "%2",
            "%zz",
            "%2f",
            "%61",
            "a%-00",
            "lost+found",
        ] {
            assert_eq!(decode(file), None, "{file}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_one_safe_component_and_comes_back(name in any::<String>()) {
            let file = encode(&name);
            prop_assert!(!file.is_empty() && file.len() <= MAX && !file.starts_with('.') && !file.contains(['/', '\0']));
            if let Some(back) = decode(&file) {
                prop_assert_eq!(back, name);
            } else {
                prop_assert!(file.contains("%-"));
            }
        }

        #[test]
        fn distinct_names_never_meet(one in "[a./%\\-A2é]{0,8}", two in "[a./%\\-A2é]{0,8}") {
            prop_assert_eq!(one == two, encode(&one) == encode(&two));
        }
    }
}

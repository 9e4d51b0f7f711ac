//! Decides which keys of a result are names and which may be data; only names are stored.
//!
//! A key is a name if it is one of [`WITH_NUMBERS`], or if it
//!
//! - has at most 48 bytes, all of them ASCII letters, digits, `_` or `$`, and does not begin with a digit;
//! - has at most two digits, side by side;
//! - has no more than 15 letters of one case in a row.
//!
//! So identifiers, dates, uuids, mail addresses, paths, host names, slugs, sentences and words of other
//! scripts are data.
//!
//! All keys of one object are data, whatever their form, if there are more than
//!
//! - 24 with scalars of one kind,
//! - 4 with objects that have half of all their keys in common,
//! - 16 with objects that share a key,
//! - 128 in total.
//!
//! Lists count as their items, and null as any kind. At one place with n keys that are in all objects, the
//! other keys are data once there are more than 8 × (1 + n) keys.

/// Longest name, in bytes.
const LONGEST: usize = 48;

/// Longest run of letters of one case; real words and most words in keys are shorter.
const LONGEST_WORD: usize = 15;

/// Names that have more digits than a name may have.
const WITH_NUMBERS: [&str; 5] = ["sha224", "sha256", "sha384", "sha512", "x86_64"];

pub(super) fn is_name(key: &str) -> bool {
    let bytes = key.as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    let Some(first) = bytes.first() else { return false };
    if bytes.len() > LONGEST || first.is_ascii_digit() || !bytes.iter().all(is_plain) {
        return false;
    }
    WITH_NUMBERS.contains(&key) || has_few_digits(bytes) && has_short_words(bytes)
}

fn has_short_words(bytes: &[u8]) -> bool {
    let is_short = |is_letter: fn(&u8) -> bool| {
        let mut words = bytes.split(|byte| !is_letter(byte));
        words.all(|word| word.len() <= LONGEST_WORD)
    };
    is_short(u8::is_ascii_lowercase) && is_short(u8::is_ascii_uppercase)
}

fn has_few_digits(bytes: &[u8]) -> bool {
    let mut runs = bytes
        .split(|byte| !byte.is_ascii_digit())
        .filter(|run| !run.is_empty());
    match (runs.next(), runs.next()) {
        (None, _) => true,
        (Some(run), None) => run.len() <= 2,
        (Some(_), Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_told_from_data_by_their_form() {
        for name in [
            "id",
            "ID",
            "createdAt",
            "created_at",
            "_links",
            "$schema",
            "line2",
            "address_line_2",
            "md5",
            "p95",
            "utf8",
            "base64",
            "sha256",
            "x86_64",
            "HTTPStatusCode",
            "MetadataDirective",
            "characteristics",
            "author_association_of_the_pull_request",
        ] {
            assert!(is_name(name), "{name}");
        }
        for data in [
            "",
            "2024",
            "2024-01-31",
            "user123",
            "T024BE7LH",
            "a1b2",
            "3fa85f64-5717-4562-b3fc-2c963f66afa6",
            "5f4dcc3b5aa765d61d8327deb882cf99",
            "ann@example.com",
            "Ann Lee",
            "src/main.rs",
            "main.rs",
            "example.com",
            "my-project",
            "Größe",
            "Анна",
            "1st",
            "app.kubernetes.io/name",
            "a\nb",
            "sk_live_abcdefghijklmnop",
            "ABCDEFGHIJKLMNOPQRST",
            &"x_".repeat(25),
        ] {
            assert!(!is_name(data), "{data}");
        }
    }
}

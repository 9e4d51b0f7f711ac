//! Rule: documents are plain text without emoji.

use super::file::{File, Problem};

/// Checks only documents, because tests need emoji as data.
pub(super) fn check(file: &File) -> Vec<Problem> {
    if !file.path.ends_with(".md") {
        return Vec::new();
    }
    file.text
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((index, line.chars().find(|character| is_picture(*character))?)))
        .map(|(index, picture)| file.problem(index + 1, format!("U+{:04X} is a picture", u32::from(picture))))
        .collect()
}

fn is_picture(character: char) -> bool {
    matches!(
        character,
        '\u{1F000}'
            ..='\u{1FAFF}'
                | '\u{FE0F}'
                | '\u{2705}'
                | '\u{274C}'
                | '\u{2728}'
                | '\u{26A0}'
                | '\u{26A1}'
                | '\u{2B50}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_arrows_pass_and_emoji_fail() {
        let count = |path, text| check(&File { path, text }).len();
        assert_eq!(count("README.md", "naïve ─► ≤ µs – „quoted“\n"), 0);
        assert_eq!(count("README.md", "done \u{2705}\nfast \u{1F680}\n"), 2);
        assert_eq!(count("test_text.py", "\u{1F680}\n"), 0);
    }
}

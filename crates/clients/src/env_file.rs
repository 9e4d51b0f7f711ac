//! Parses files of variables, one `NAME=VALUE` per line, with the same rules as the clients.

use crate::variables::is_name;

/// The variables in file order.
///
/// # Errors
/// The number of the first wrong line, from 1.
pub fn env_file(text: &str) -> Result<Vec<(String, String)>, usize> {
    let mut all = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(index + 1)?;
        let name = name.trim_end();
        if !is_name(name) {
            return Err(index + 1);
        }
        all.push((name.to_owned(), value_of(value.trim())));
    }
    Ok(all)
}

/// A value without its quotes; in double quotes `\n` is a line break.
fn value_of(text: &str) -> String {
    let between = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    match (between('"'), between('\'')) {
        (Some(inner), _) => inner.replace("\\n", "\n"),
        (_, Some(inner)) => inner.to_owned(),
        // A comment starts after a blank; a `#` within a value is part of the value.
        (None, None) => text
            .split_once(" #")
            .map_or(text, |(value, _)| value)
            .trim_end()
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_quotes_and_comments() {
        let text = "\u{feff}# c\r\nA=1\r\n\nexport B = \"x y\\nz\"\nC='#1'\nD=a#b # c\nE=\n";
        let expected = [("A", "1"), ("B", "x y\nz"), ("C", "#1"), ("D", "a#b"), ("E", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(env_file(text), Ok(expected.to_vec()));
        for text in ["A=1\nnothing\n", "A=1\n1B=2"] {
            assert_eq!(env_file(text), Err(2), "{text}");
        }
    }
}

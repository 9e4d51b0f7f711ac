//! Rule: a file has at most 500 lines of code.

use super::file::{File, Problem};
use super::source::{self, Line};

const LIMIT: usize = 500;

/// Counts lines that are neither blank nor comment, without inline test modules.
pub(super) fn check(file: &File) -> Vec<Problem> {
    match count(file) {
        Some(count) if count > LIMIT => {
            vec![file.problem(1, format!("{count} lines of code; at most {LIMIT} are allowed"))]
        }
        _ => Vec::new(),
    }
}

/// `None` unless the file is Rust or Python.
pub(super) fn count(file: &File) -> Option<usize> {
    if file.is_rust() {
        Some(rust_lines(file.text))
    } else {
        file.is_python().then(|| python_lines(file.text))
    }
}

fn rust_lines(text: &str) -> usize {
    let lines = source::lines(text);
    let code: Vec<&Line> = lines.iter().filter(|line| line.is_code()).collect();
    let mut count = 0;
    let mut at = 0;
    while at < code.len() {
        let is_test_module = code[at].code.trim() == "#[cfg(test)]"
            && code[at + 1..]
                .iter()
                .find(|line| !line.code.trim().starts_with("#["))
                .is_some_and(|line| line.code.trim().starts_with("mod ") && line.code.trim().ends_with('{'));
        let length = if is_test_module {
            block_length(&code[at..])
        } else {
            1
        };
        if !is_test_module {
            count += 1;
        }
        at += length;
    }
    count
}

fn block_length(lines: &[&Line]) -> usize {
    let mut depth = 0_usize;
    for (index, line) in lines.iter().enumerate() {
        let opened = line.code.matches('{').count();
        let closed = line.code.matches('}').count();
        depth = (depth + opened).saturating_sub(closed);
        if depth == 0 && closed > 0 {
            return index + 1;
        }
    }
    lines.len()
}

/// Python docstrings count as comments if they begin their line.
fn python_lines(text: &str) -> usize {
    let mut count = 0;
    let mut closing: Option<&str> = None;
    for line in text.lines().map(str::trim) {
        if let Some(quotes) = closing {
            if line.contains(quotes) {
                closing = None;
            }
            continue;
        }
        match ["\"\"\"", "'''"]
            .into_iter()
            .find(|quotes| line.starts_with(quotes))
        {
            Some(quotes) if line[quotes.len()..].contains(quotes) => {}
            Some(quotes) => closing = Some(quotes),
            None if line.is_empty() || line.starts_with('#') => {}
            None => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_limit_passes_and_a_longer_one_fails() {
        let check = |path, text: &str| check(&File { path, text }).len();
        let lines = |count: usize| "let a = 1;\n".repeat(count);
        assert_eq!(check("a.rs", &lines(500)), 0);
        assert_eq!(check("a.rs", &lines(501)), 1);
        assert_eq!(check("a.py", &"a = 1\n".repeat(501)), 1);
        assert_eq!(check("a.md", &lines(501)), 0);
        let commented = format!("//! Says.\n\n/* {} */\n{}", "\n".repeat(600), lines(500));
        assert_eq!(check("a.rs", &commented), 0);
        let tested = format!(
            "{}#[cfg(test)]\nmod tests {{\n fn f() {{}}\n{}}}\n",
            lines(500),
            lines(300)
        );
        assert_eq!(check("a.rs", &tested), 0);
        assert_eq!(check("a.rs", &format!("{tested}let b = 2;\n")), 1);
    }

    #[test]
    fn python_docstrings_do_not_count_as_code() {
        assert_eq!(
            python_lines("\"\"\"One.\n\nTwo.\n\"\"\"\n# x\ndef f():\n    '''Three.'''\n    return 1\n"),
            2
        );
    }
}

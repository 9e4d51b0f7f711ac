//! Rule: the tree contains no unfinished code.

use super::file::{File, Problem};
use super::source;

/// Macros for missing code, and the attribute that disables a test.
const IN_CODE: [&str; 3] = ["todo!", "unimplemented!", "#[ignore"];
const IN_COMMENTS: [&str; 2] = [concat!("FIX", "ME"), "XXX"];

/// Checks code and comments, but not strings.
pub(super) fn check(file: &File) -> Vec<Problem> {
    if !file.is_rust() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (index, line) in source::lines(file.text).iter().enumerate() {
        let in_code = IN_CODE.iter().find(|word| line.code.contains(**word));
        let in_comment = IN_COMMENTS.iter().find(|word| line.comment.contains(**word));
        if let Some(word) = in_code.or(in_comment) {
            problems.push(file.problem(index + 1, format!("`{word}` leaves something for later")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_code_fails_and_text_about_it_passes() {
        let count = |text| check(&File { path: "a.rs", text }).len();
        assert_eq!(count("fn f() { todo!{} }\n"), 1);
        assert_eq!(count("fn f() { unimplemented![\"x\"] }\n"), 1);
        assert_eq!(count("#[ignore = \"slow\"]\nfn f() {}\n"), 1);
        assert_eq!(count(concat!("// FIX", "ME: later\n")), 1);
        assert_eq!(count("let a = \"todo!\"; // not a to-do\n"), 0);
    }
}

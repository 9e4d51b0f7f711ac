//! Rule: only `crates/jail` and one file of the guest inside the sandbox use `unsafe`; a comment directly above each
//! use explains its soundness.

use super::file::{File, Problem};
use super::source::{self, Line};

const HOMES: [&str; 2] = ["crates/jail/", "crates/typescript-guest/src/bytes.rs"];

pub(super) fn check(file: &File) -> Vec<Problem> {
    if !file.is_rust() {
        return Vec::new();
    }
    let lines = source::lines(file.text);
    let uses = (0..lines.len()).filter(|at| has_word(&lines[*at].code));
    if !HOMES.iter().any(|home| file.path.starts_with(home)) {
        return uses
            .map(|at| file.problem(at + 1, "`unsafe` outside `crates/jail`"))
            .collect();
    }
    uses.filter(|at| !is_harmless(&lines[*at].code) && !is_justified(&lines, *at))
        .map(|at| {
            file.problem(
                at + 1,
                "`unsafe` without a `SAFETY:` comment (or a `# Safety` section) directly above",
            )
        })
        .collect()
}

fn has_word(code: &str) -> bool {
    let part_of_name = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices("unsafe").any(|(at, word)| {
        !code[..at].ends_with(part_of_name) && !code[at + word.len()..].starts_with(part_of_name)
    })
}

/// Whether `unsafe` only names something: a pointer type, or `#[unsafe(no_mangle)]`.
fn is_harmless(code: &str) -> bool {
    let harmless = [": unsafe extern", "<unsafe extern", "#[unsafe("];
    code.matches("unsafe").count()
        == harmless
            .iter()
            .map(|form| code.matches(form).count())
            .sum::<usize>()
}

/// Searches upwards through comments, attributes and the beginning of the same statement.
fn is_justified(lines: &[Line], at: usize) -> bool {
    let says = |line: &Line| line.comment.contains("SAFETY:") || line.comment.contains("# Safety");
    if says(&lines[at]) {
        return true;
    }
    for line in lines[..at].iter().rev() {
        let code = line.code.trim();
        if says(line) {
            return true;
        }
        let blank = code.is_empty() && line.comment.is_empty();
        let attribute = code.starts_with("#[");
        let ends_statement = code.ends_with([';', '{', '}', ',']) && !attribute;
        if blank || ends_statement {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&File { path, text })
            .iter()
            .filter_map(|problem| problem.line)
            .collect()
    }

    #[test]
    fn unsafe_outside_the_jail_fails() {
        assert_eq!(
            found("crates/session/src/lib.rs", "fn f() {\n    unsafe { g() }\n}\n"),
            [2]
        );
        assert_eq!(
            found(
                "crates/session/src/lib.rs",
                "// SAFETY: no\nunsafe impl Send for A {}\n"
            ),
            [2]
        );
        let harmless = "#![forbid(unsafe_code)]\n// unsafe\nlet a = \"unsafe\";\nlet not_unsafe = 1;\n";
        assert_eq!(found("crates/session/src/lib.rs", harmless), [0; 0]);
    }

    #[test]
    fn each_use_in_the_jail_needs_a_reason() {
        let bare = "fn f() {\n    let a = 1;\n    unsafe { g(a) }\n}\n";
        assert_eq!(found("crates/jail/src/a.rs", bare), [3]);
        let far = "// SAFETY: for something else.\nlet a = 1;\nunsafe { g(a) }\n";
        assert_eq!(found("crates/jail/src/a.rs", far), [3]);
        let justified = "// SAFETY: `g` only reads.\nlet b =\n    unsafe { g(a) };\n";
        assert_eq!(found("crates/jail/src/a.rs", justified), [0; 0]);
        let function =
            "/// Does it.\n///\n/// # Safety\n///\n/// Once only.\n#[inline]\npub unsafe fn f() {}\n";
        assert_eq!(found("crates/jail/src/a.rs", function), [0; 0]);
        assert_eq!(
            found(
                "crates/jail/src/a.rs",
                "struct A { call: unsafe extern \"C\" fn() }\n"
            ),
            [0; 0]
        );
    }
}

//! Rule: the module `foo` is `foo.rs`, never `foo/mod.rs`, so that a file's name tells its content.

use super::file::{File, Problem};

pub(super) fn check(file: &File) -> Vec<Problem> {
    if file.path == "mod.rs" || file.path.ends_with("/mod.rs") {
        return vec![file.problem(
            1,
            "name the file after its module and put it beside the directory",
        )];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bare_name_fails() {
        let count = |path| check(&File { path, text: "" }).len();
        assert_eq!(count("crates/a/src/b/mod.rs"), 1);
        assert_eq!(count("crates/a/src/b.rs"), 0);
        assert_eq!(count("crates/a/src/kmod.rs"), 0);
    }
}

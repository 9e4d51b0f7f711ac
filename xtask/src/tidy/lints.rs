//! Rule: every crate uses the workspace's lint table; only those that need `unsafe` have their own.

use super::file::{File, Problem};

const EXEMPT: [&str; 2] = ["crates/jail/Cargo.toml", "crates/typescript-guest/Cargo.toml"];

pub(super) fn check(file: &File) -> Vec<Problem> {
    let is_member = file.path.ends_with("/Cargo.toml") && !EXEMPT.contains(&file.path);
    if !is_member || inherits(file.text) {
        return Vec::new();
    }
    vec![file.problem(1, "the manifest does not say `[lints] workspace = true`")]
}

fn inherits(manifest: &str) -> bool {
    let table: Option<toml::Table> = manifest.parse().ok();
    table.is_some_and(|table| {
        table.get("lints").and_then(|lints| lints.get("workspace")) == Some(&toml::Value::Boolean(true))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_without_the_table_fails() {
        let count = |path, text| check(&File { path, text }).len();
        assert_eq!(count("crates/a/Cargo.toml", "[package]\nname = \"a\"\n"), 1);
        assert_eq!(
            count("crates/a/Cargo.toml", "[lints.rust]\nunsafe_code = \"allow\"\n"),
            1
        );
        assert_eq!(count("crates/a/Cargo.toml", "[lints]\nworkspace = true\n"), 0);
        assert_eq!(count("crates/jail/Cargo.toml", "[lints.rust]\n"), 0);
        assert_eq!(count("Cargo.toml", "[workspace]\n"), 0);
    }
}

//! Rule: limits on the words of a page and of all pages, on lines of text, and on words of a table's cell.

use super::file::{File, Problem};

/// Words of one page.
const PAGE_WORDS: usize = 3_050;
/// Pages and words for users and operators: 16 pages, and one for each feature that came later.
const USER_PAGES: usize = 23;
const USER_WORDS: usize = 26_800;
/// Words for contributors.
const CONTRIBUTOR_WORDS: usize = 10_000;
/// Lines of README.md.
const README_LINES: usize = 120;
/// Characters of a line outside tables and examples.
const LINE: usize = 100;
/// Words of a table's cell.
const CELL_WORDS: usize = 30;

const CONTRIBUTING: &str = "docs/contributing/";

/// Checks all pages.
pub(super) fn check(files: &[File]) -> Vec<Problem> {
    let pages = || files.iter().filter(|file| is_page(file));
    let mut problems: Vec<Problem> = pages().flat_map(page).collect();
    let (contributor, user): (Vec<&File>, Vec<&File>) = pages()
        .filter(|file| file.path.starts_with("docs/"))
        .partition(|file| file.path.starts_with(CONTRIBUTING));
    let totals = [
        ("pages for users", user.len(), USER_PAGES),
        ("words for users", total(&user), USER_WORDS),
        ("words for contributors", total(&contributor), CONTRIBUTOR_WORDS),
    ];
    for (what, count, most) in totals.into_iter().filter(|(_, count, most)| count > most) {
        problems.push(Problem {
            path: "docs".to_owned(),
            line: None,
            message: format!("{count} {what}; at most {most} are allowed"),
        });
    }
    problems
}

/// The pages of `docs/` and those at the top of the checkout.
fn is_page(file: &File) -> bool {
    let is_at_top = !file.path.contains('/');
    file.path.ends_with(".md") && (is_at_top || file.path.starts_with("docs/"))
}

fn total(pages: &[&File]) -> usize {
    pages.iter().map(|page| words(page.text)).sum()
}

/// Bullets and the bars of tables do not count.
fn words(text: &str) -> usize {
    let words = text.split_whitespace();
    words
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count()
}

fn page(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let count = words(file.text);
    if file.path.starts_with("docs/") && count > PAGE_WORDS {
        problems.push(file.problem(1, format!("{count} words; at most {PAGE_WORDS} are allowed")));
    }
    let lines = file.text.lines().count();
    if file.path == "README.md" && lines > README_LINES {
        problems.push(file.problem(1, format!("{lines} lines; at most {README_LINES} are allowed")));
    }
    let mut is_example = false;
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_example = !is_example;
        } else if is_example {
            continue;
        } else if line.starts_with('|') {
            problems.extend(longest_cell(line).map(|cell| file.problem(index + 1, cell)));
        } else if line.chars().count() > LINE && line.trim().contains(' ') {
            problems.push(file.problem(index + 1, format!("longer than {LINE} characters")));
        }
    }
    problems
}

fn longest_cell(row: &str) -> Option<String> {
    let most = row.split('|').map(words).max()?;
    (most > CELL_WORDS).then(|| format!("a table's cell of {most} words; at most {CELL_WORDS} are allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let problems = check(&[File { path, text }]);
        problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn long_lines_cells_and_pages_are_found() {
        let long = "word ".repeat(31);
        assert_eq!(
            found("docs/a.md", &long),
            ["docs/a.md:1: longer than 100 characters"]
        );
        let row = format!("| a | {long}|");
        assert_eq!(
            found("SECURITY.md", &row),
            ["SECURITY.md:1: a table's cell of 31 words; at most 30 are allowed"]
        );
        assert_eq!(
            found("docs/a.md", &"word\n".repeat(3_051)),
            ["docs/a.md:1: 3051 words; at most 3050 are allowed"]
        );
        assert_eq!(
            found("README.md", &"\n".repeat(121)),
            ["README.md:1: 121 lines; at most 120 are allowed"]
        );
    }

    #[test]
    fn examples_links_and_other_files_are_left_alone() {
        let long = "word ".repeat(31);
        assert_eq!(found("docs/a.md", &format!("```text\n{long}\n```\n")), [""; 0]);
        assert_eq!(
            found("docs/a.md", &format!("[{}](b.md)", "a".repeat(120))),
            [""; 0]
        );
        assert_eq!(found("crates/x/src/manual.md", &long), [""; 0]);
    }
}

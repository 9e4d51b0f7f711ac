//! Each example of the page, run with the package of its section.

use std::path::PathBuf;

use super::Workplace;
use super::claims::PASSED_ON;

const CLIENTS: &str = include_str!("../../../../../docs/clients.md");
const START: &str = include_str!("../../../../../docs/start.md");

/// A section of the page: its heading, its text, and its fenced blocks as kind and text.
pub struct Section<'a> {
    pub heading: &'a str,
    text: &'a str,
    blocks: Vec<(&'a str, &'a str)>,
}

fn blocks(text: &str) -> Vec<(&str, &str)> {
    text.split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
        .collect()
}

fn sections() -> impl Iterator<Item = Section<'static>> {
    CLIENTS.split("\n## ").map(|text| Section {
        heading: text.lines().next().unwrap_or_default(),
        text,
        blocks: blocks(text),
    })
}

/// The text before the libraries' sections.
pub fn introduction() -> Section<'static> {
    sections().next().unwrap()
}

/// The sections of the libraries.
pub fn libraries() -> impl Iterator<Item = Section<'static>> {
    sections()
        .skip(1)
        .filter(|section| section.heading != "Over HTTP")
}

impl Section<'_> {
    pub fn block(&self, kinds: &[&str]) -> Option<(&str, &str)> {
        self.blocks.iter().find(|(kind, _)| kinds.contains(kind)).copied()
    }

    /// The argument of `pip install` or `npm install`.
    pub fn package(&self) -> &str {
        let named = self
            .text
            .split_once(" install \"")
            .and_then(|(_, rest)| rest.split_once('"'));
        named.expect("a package").0
    }

    /// The example, as kind and text.
    pub fn example(&self) -> (&str, &str) {
        self.block(&["python", "ts", "sh"]).expect("an example")
    }

    /// The example's output on the page.
    pub fn expected(&self) -> String {
        let own = self.block(&["text"]).map(|(_, text)| text.to_owned());
        own.unwrap_or_else(|| introduction().block(&["text"]).unwrap().1.to_owned())
    }
}

/// Runs an example with its library's program; returns the output.
#[track_caller]
pub fn run(workplace: &Workplace, program: PathBuf, kind: &str, example: &str) -> String {
    let (file, program) = match kind {
        "python" => ("example.py", program.into_os_string()),
        "ts" => ("example.mts", program.into_os_string()),
        _ => ("example.sh", "sh".into()),
    };
    workplace.write(file, example);
    workplace.printed(program, file)
}

#[test]
fn examples_print_the_output_on_the_page() {
    let workplace = Workplace::new();
    let first = introduction();
    let (_, servers) = blocks(START)
        .into_iter()
        .find(|(kind, _)| *kind == "json")
        .unwrap();
    workplace.write("servers.json", servers);
    workplace.write("program.py", first.block(&["python"]).unwrap().1);
    let mut examples = 0;
    for section in libraries() {
        examples += 1;
        let Some(program) = workplace.program(section.package()) else {
            continue;
        };
        let (kind, example) = section.example();
        let printed = run(&workplace, program, kind, example);
        let expected = section.expected();
        assert!(
            fits(&printed, &expected),
            "{}: the page says:\n{expected}\nand this is printed:\n{printed}",
            section.heading
        );
        for variable in workplace.passed_on() {
            assert!(PASSED_ON.contains(&&*variable), "{}: {variable}", section.heading);
            assert!(first.text.contains(&format!("`{variable}`")), "{variable}");
        }
        println!("ran: {}", section.heading);
    }
    assert_eq!(examples, 7);
}

/// Whether a text matches the page, where a line `…` stands for any lines.
pub fn fits(printed: &str, expected: &str) -> bool {
    let mut left = printed.lines();
    let mut skips = false;
    for expected in expected.lines() {
        if expected == "…" {
            skips = true;
            continue;
        }
        let found = if skips {
            left.any(|line| line == expected)
        } else {
            left.next() == Some(expected)
        };
        if !found {
            return false;
        }
        skips = false;
    }
    skips || left.next().is_none()
}

//! The examples over HTTP: each library against one codeyard with nine real servers.

use test_support::Codeyard;

use super::Workplace;
use super::page::{fits, libraries, run};
use crate::http::served::Served;

/// Calls each of the nine servers, and draws a figure.
const PROGRAM: &str = include_str!("nine_servers.py");

/// The address on the page.
const ADDRESS: &str = "http://127.0.0.1:8700/mcp";

/// An example after the changes of the page's `diff` block: lines with `-` are replaced by lines with `+`.
#[track_caller]
fn changed(example: &str, diff: &str) -> String {
    let mut text = example.to_owned();
    let mut lines = diff.lines().peekable();
    while lines.peek().is_some() {
        let mut take = |sign: char| {
            let mut taken = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with(sign)) {
                taken.push_str(&line[1..]);
                taken.push('\n');
            }
            taken
        };
        let (old, new) = (take('-'), take('+'));
        assert!(
            !old.is_empty(),
            "each change begins with a line that goes:\n{diff}"
        );
        let mut old_lines = old.lines();
        // Removed lines may lie apart; the new lines replace the first.
        let first = format!("{}\n", old_lines.next().unwrap());
        assert!(text.contains(&first), "the example has no line {first}");
        text = text.replacen(&first, &new, 1);
        for line in old_lines {
            let line = format!("{line}\n");
            assert!(text.contains(&line), "the example has no line {line}");
            text = text.replacen(&line, "", 1);
        }
    }
    text
}

/// The text without an answer's line about the client's session, also in JSON.
fn without_session(printed: &str) -> String {
    let mut text = printed.to_owned();
    for line_end in ["\n", "\\n"] {
        while let Some(start) = text.find(&format!("{line_end}session: c-")) {
            let after = start + line_end.len();
            let end = text[after..].find(['\n', '\\', '"']);
            text.replace_range(start..end.map_or(text.len(), |end| after + end), "");
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn every_library_uses_nine_real_servers_over_http() {
    let codeyard = Codeyard::new()
        .unwrap()
        .managed_environment()
        .unwrap()
        .real_servers()
        .unwrap();
    let served = Served::start(codeyard, &[]).await;
    let workplace = Workplace::new();
    workplace.write("program.py", PROGRAM);
    let mut examples = 0;
    for section in libraries() {
        examples += 1;
        let (_, diff) = section.block(&["diff"]).expect("what differs over HTTP");
        let (kind, example) = section.example();
        let example = changed(example, diff).replace(ADDRESS, &served.url());
        assert!(
            example.contains(&served.url()) && !example.contains("codeyard mcp"),
            "{example}"
        );
        let Some(program) = workplace.program(section.package()) else {
            continue;
        };
        let printed = without_session(&run(&workplace, program, kind, &example));
        let expected = section
            .expected()
            .replace("Falcon Dairy", "nine servers answered");
        assert!(
            fits(&printed, &expected),
            "{}: expected:\n{expected}\nand this is printed:\n{printed}",
            section.heading
        );
        assert!(
            workplace.passed_on().is_empty(),
            "{} starts no codeyard",
            section.heading
        );
        println!("ran over HTTP: {}", section.heading);
    }
    assert_eq!(examples, 7);
}

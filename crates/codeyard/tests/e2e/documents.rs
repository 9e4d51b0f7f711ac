//! The examples of the documents, run unchanged.

use serde_json::json;
use test_support::{BridgeClient, CodeClient, Codeyard, ServerDefinition, codeyard_binary};

const WRITING_PROGRAMS: &str = include_str!("../../../../docs/writing-programs.md");
const TYPESCRIPT: &str = include_str!("../../../../docs/typescript.md");
const SHELL: &str = include_str!("../../../../docs/shell.md");
const MISTAKES: &str = include_str!("../../../../docs/contributing/programs.md");
const README: &str = include_str!("../../../../README.md");
const SURFACES: &str = include_str!("../../../../docs/surfaces.md");
const SPECIFICATION: &str = include_str!("../../../../SPECIFICATION.md");
const CONFIGURATION: &str = include_str!("../../../../docs/configuration.md");

/// The fenced blocks of a page: kind and text.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| block.split_once('\n'))
}

/// The text below a second-level heading of a page, up to the next one.
#[track_caller]
fn section<'page>(page: &'page str, heading: &str) -> &'page str {
    let (_, text) = page.split_once(&format!("\n## {heading}\n")).expect(heading);
    text.split("\n## ").next().unwrap()
}

/// An installation with one of the demonstration's servers.
fn with_demo(codeyard: Codeyard, server: &str) -> Codeyard {
    let definition = ServerDefinition::new(codeyard_binary().to_string_lossy(), &["demo-server", server]);
    codeyard.server(server, &definition)
}

#[tokio::test]
async fn examples_of_writing_programs_work_as_documented() {
    let compared = check_examples(Codeyard::new().unwrap(), WRITING_PROGRAMS).await;
    assert!(compared > 14, "{compared}");
}

#[tokio::test]
async fn examples_in_typescript_work_as_documented() {
    let compared = check_examples(Codeyard::new().unwrap(), TYPESCRIPT).await;
    assert!(compared > 6, "{compared}");
}

#[tokio::test]
async fn examples_in_bash_work_as_documented() {
    let compared = check_examples(Codeyard::new().unwrap(), SHELL).await;
    assert!(compared >= 3, "{compared}");
}

/// The text of a table cell that is code.
fn code_of(cell: &str) -> &str {
    cell.trim().trim_matches('`').trim()
}

#[tokio::test]
async fn frequent_mistakes_get_a_remedy() {
    let mut client = CodeClient::of(with_demo(Codeyard::new().unwrap(), "crm")).await;
    let (_, table) = MISTAKES.split_once("| program | the answer says |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut tried = 0;
    for row in rows {
        let (program, words) = row.trim_matches('|').split_once("` | `").unwrap();
        let ran = client.run(code_of(program)).await;
        let answer = ran.shown();
        for words in code_of(words).split('…') {
            assert!(answer.contains(words), "{program}: {words:?} is not in {answer}");
        }
        tried += 1;
    }
    assert!(tried >= 25, "{tried}");
}

/// Runs a page's programs in one session; each prints the block behind it. Skips `console` and `toml`. Returns the
/// number of compared programs.
async fn check_examples(codeyard: Codeyard, page: &str) -> usize {
    let mut client = CodeClient::of(with_demo(codeyard, "crm")).await;
    let mut shown: Option<String> = None;
    let mut compared = 0;
    for (kind, text) in blocks(page) {
        match kind {
            "python" | "typescript" | "bash" => {
                let ran = client.execute(json!({"code": text, "language": kind})).await;
                shown = Some(ran.shown().trim_end().to_owned());
            }
            "text" => {
                assert_shown(shown.take().as_deref(), text.trim_end());
                compared += 1;
            }
            "console" | "toml" => {}
            other => panic!("a block of kind {other:?}"),
        }
    }
    compared
}

/// Compares the output with the page, where a line `…` stands for any lines.
#[track_caller]
fn assert_shown(shown: Option<&str>, expected: &str) {
    let (Some((first, rest)), Some(shown)) = (expected.split_once("\n…\n"), shown) else {
        return assert_eq!(shown, Some(expected));
    };
    let mut left = shown.strip_prefix(first);
    for part in rest.split("\n…\n") {
        let part = format!("\n{part}");
        left = left.and_then(|left| left.split_once(&part)).map(|(_, left)| left);
    }
    assert_eq!(
        left,
        Some(""),
        "the page says:\n{expected}\nand this is shown:\n{shown}"
    );
}

#[tokio::test]
async fn the_example_of_saved_tools_works_as_documented() {
    let mut client = BridgeClient::of(Codeyard::new().unwrap()).await;
    let mut blocks = blocks(section(SURFACES, "Saved tools and memories"));
    let (program, printed) = (blocks.next().unwrap().1, blocks.next().unwrap().1);
    let answer = client.run(program).await;
    assert_eq!(answer.text().trim_end(), printed.trim_end(), "{answer:?}");
}

#[tokio::test]
async fn the_program_of_the_readme_works_as_documented() {
    let codeyard = with_demo(Codeyard::new().unwrap().managed_environment().unwrap(), "orders");
    let program = blocks(README).find(|(kind, _)| *kind == "python").unwrap().1;
    let file = codeyard.work_directory().join("late.py");
    std::fs::write(&file, program).unwrap();
    let ran = codeyard.run(["run".as_ref(), file.as_os_str()]).await.unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    let said = blocks(README)
        .find_map(|(_, text)| text.strip_prefix("$ codeyard run late.py"))
        .unwrap();
    let said = said.split_once('\n').unwrap().1;
    assert_eq!(printed, said, "{}", String::from_utf8_lossy(&ran.stderr));
}

#[tokio::test]
async fn settings_of_the_configuration_page_are_accepted() {
    let mut accepted = 0;
    for (_, toml) in blocks(CONFIGURATION).filter(|(kind, _)| *kind == "toml") {
        let codeyard = Codeyard::new().unwrap().settings(toml);
        let ran = codeyard.run(["tools"]).await.unwrap();
        assert!(
            ran.status.success(),
            "{toml}\n{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        accepted += 1;
    }
    assert!(accepted > 0);
}

#[test]
fn every_test_that_the_specification_of_the_bridge_names_exists() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/bridge");
    let sources = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let sources: Vec<String> = sources
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| format!("{} {}", path.display(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    let mut named = 0;
    for row in section(SPECIFICATION, "The one-tool bridge")
        .lines()
        .filter(|line| line.starts_with("| ") && line.ends_with("` |"))
    {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for test in tests.split(", ").map(|test| test.trim_matches('`')) {
            let exists = |source: &String| {
                source.contains(&format!("fn {test}")) || source.contains(&format!("/{test}.rs"))
            };
            assert!(sources.iter().any(exists), "{test}: {row}");
            named += 1;
        }
    }
    assert!(named > 50, "{named}");
}

#[tokio::test]
async fn the_page_of_commands_is_the_program_s_output() {
    let printed = Codeyard::new()
        .unwrap()
        .run(["help", "--markdown"])
        .await
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let page = include_str!("../../../../docs/commands.md");
    assert!(
        printed == page,
        "run `codeyard help --markdown > docs/commands.md`"
    );
}

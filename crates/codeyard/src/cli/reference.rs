//! Every command and option as a page in Markdown.

use std::fmt::Write as _;

use clap::{Arg, Command};

use super::help::{self, GROUPS};

/// Characters of a line.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Commands

For everyone who types `codeyard`: each command with its arguments and options, in the groups of
`codeyard --help`. This page is the output of `codeyard help --markdown`.
";

/// The page.
pub fn markdown() -> String {
    let mut cli = help::command();
    cli.build();
    let mut page = HEAD.to_owned();
    for (title, names) in GROUPS {
        let _ = write!(page, "\n## {title}\n");
        for name in names {
            if let Some(command) = cli.find_subcommand(name) {
                describe(command, &format!("codeyard {name}"), &mut page);
            }
        }
    }
    page.push_str("\n## Shared options\n\nEvery command takes these, before or after its name.\n");
    list(
        cli.get_arguments().filter(|known| known.is_global_set()),
        &mut page,
    );
    page
}

/// A command with its arguments, then its own commands.
fn describe(command: &Command, path: &str, page: &mut String) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(page, "\n### `{path}`\n\n{about}.\n");
    let own = command
        .get_arguments()
        .filter(|known| !known.is_global_set() && !known.is_hide_set() && known.get_id() != "help");
    list(own, page);
    for inner in command.get_subcommands() {
        if !inner.is_hide_set() && inner.get_name() != "help" {
            describe(inner, &format!("{path} {}", inner.get_name()), page);
        }
    }
}

fn list<'a>(arguments: impl Iterator<Item = &'a Arg>, page: &mut String) {
    let wrapping = textwrap::Options::new(WIDTH)
        .subsequent_indent("  ")
        .break_words(false);
    for (index, argument) in arguments.enumerate() {
        if index == 0 {
            page.push('\n');
        }
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let help: Vec<&str> = help.split_whitespace().collect();
        let item = format!("- `{}`: {}", written(argument), help.join(" "));
        let _ = writeln!(page, "{}", textwrap::fill(&item, &wrapping));
    }
}

/// `NAME`, or `-s, --long VALUE`.
fn written(argument: &Arg) -> String {
    let values = match argument.get_action().takes_values() {
        true => argument.get_value_names().unwrap_or_default().join(" "),
        false => String::new(),
    };
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    match (names.is_empty(), values.is_empty()) {
        (true, _) => values,
        (false, true) => names.join(", "),
        (false, false) => format!("{} {values}", names.join(", ")),
    }
}

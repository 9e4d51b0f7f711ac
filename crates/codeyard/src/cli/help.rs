//! Layout of help: a command's own options, one line for the shared ones, and the grouped first page.

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Cli;

/// A command's help. One line stands for the shared options, which are the same everywhere.
const TEMPLATE: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}

Shared options: --config, --settings, --data, --database, --tools, --log (`codeyard help options`){after-help}";

/// Display position of `--help` among the options.
const LAST: usize = 1000;

/// The commands of the first page by what they are for, the commonest first.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["demo", "import", "install", "mcp", "doctor"]),
    ("Use", &["run", "call", "tools", "task", "runs"]),
    ("Servers", &["servers", "login", "logout", "trust", "config"]),
    (
        "Many users",
        &["serve", "token", "user", "team", "logins", "audit", "keys"],
    ),
    ("Look", &["ps", "top", "advise", "saved", "records", "workspace"]),
    (
        "More",
        &["python", "typescript", "demo-server", "completions", "help"],
    ),
];

pub fn command() -> Command {
    let first = first_page();
    styled(Cli::command()).help_template(first)
}

/// Lists the shared options under each command, for shell completion.
pub fn with_shared_options() -> Command {
    Cli::command().mut_args(|argument| match argument.get_help_heading() {
        Some(_) => argument.hide(false),
        None => argument,
    })
}

/// The help of the command that these words name.
///
/// # Errors
/// An unknown command; the text lists the known ones.
pub fn explain(topic: &[String]) -> Result<String, String> {
    if topic == ["options"] {
        return Ok(options());
    }
    let mut cli = command();
    cli.build();
    let mut found = &mut cli;
    for (at, word) in topic.iter().enumerate() {
        let names: Vec<String> = subcommands(found);
        found = found
            .find_subcommand_mut(word)
            .ok_or_else(|| unknown(&topic[..at], word, &names))?;
    }
    Ok(found.render_help().to_string())
}

fn unknown(before: &[String], word: &str, names: &[String]) -> String {
    let command = [&["codeyard".to_owned()], before].concat().join(" ");
    match names {
        [] => format!("`{command}` has no command `{word}`; `{command} --help` shows what it takes"),
        names => format!(
            "`{command}` has no command `{word}`; there is {}",
            names.join(", ")
        ),
    }
}

fn subcommands(command: &Command) -> Vec<String> {
    let visible = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    visible.map(|inner| inner.get_name().to_owned()).collect()
}

fn styled(command: Command) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|inner| inner.get_name().to_owned())
        .collect();
    let styled = names.iter().fold(command, |command, name| {
        command.mut_subcommand(name, self::styled)
    });
    // Clap's long form takes three lines an option.
    let help = Arg::new("help").short('h').long("help").help("Print help");
    styled
        .help_template(TEMPLATE)
        .disable_help_flag(true)
        .arg(help.action(ArgAction::HelpShort).display_order(LAST))
}

fn first_page() -> String {
    let cli = Cli::command();
    let mut out = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        out.push_str(&format!("\n{title}:\n"));
        for name in names {
            let about = cli.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            out.push_str(&format!("  {name:12} {about}\n"));
        }
    }
    out.push_str(
        "\nOptions:\n  -h, --help     Print help; `codeyard COMMAND --help` for a command\n  -V, --version  Print version\n\n\
         Shared options: --config, --settings, --data, --database, --tools, --log (`codeyard help options`){after-help}",
    );
    out
}

fn options() -> String {
    let mut shared = Command::new("codeyard")
        .disable_help_flag(true)
        .help_template("Options that every command takes, before or after its name:\n\n{options}{after-help}")
        .after_help(super::examples::OPTIONS_HELP);
    for argument in Cli::command()
        .get_arguments()
        .filter(|known| known.is_global_set())
    {
        shared = shared.arg(argument.clone().hide(false).help_heading(None));
    }
    format!("{}", shared.render_help())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let mut all = subcommands(&Cli::command());
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn the_line_names_every_shared_option() {
        for argument in Cli::command()
            .get_arguments()
            .filter(|known| known.is_global_set())
        {
            let name = format!("--{}", argument.get_long().unwrap_or_default());
            assert!(TEMPLATE.contains(&name) && first_page().contains(&name), "{name}");
            assert!(options().contains(&name), "{name}");
        }
    }
}

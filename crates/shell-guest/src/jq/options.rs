//! Reads the arguments of `jq`.

use std::fs;

use jaq_all::json::{Val, read};

/// The options and arguments of one filter.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the program")]
pub struct JqOptions {
    pub filter: String,
    pub files: Vec<String>,
    /// Names without `$`.
    pub variables: Vec<(String, Val)>,
    pub input: Input,
    pub is_null_input: bool,
    pub slurps: bool,
    pub is_raw: bool,
    pub joins: bool,
    pub sorts_keys: bool,
    pub has_exit_status: bool,
    /// `None` writes each value on one line.
    pub indent: Option<String>,
}

/// How input is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// JSON values.
    #[default]
    Json,
    /// Lines.
    Raw,
}

/// Reads the arguments after the program's name; `None` for help.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<Option<JqOptions>, String> {
    let mut options = JqOptions {
        indent: Some("  ".to_owned()),
        ..JqOptions::default()
    };
    let mut filter = None;
    let mut words = arguments.iter().map(String::as_str);
    let mut are_options = true;
    while let Some(word) = words.next() {
        match word {
            "--" if are_options => are_options = false,
            "-h" | "--help" if are_options => return Ok(None),
            "-f" | "--from-file" if are_options => {
                let file = words.next().ok_or("--from-file takes a file")?;
                filter = Some(read_text(file)?);
            }
            long if are_options && long.starts_with("--") => long_option(&mut options, long, &mut words)?,
            short if are_options && short.len() > 1 && short.starts_with('-') => {
                for flag in short.chars().skip(1) {
                    self::flag(&mut options, flag)?;
                }
            }
            other if filter.is_none() => filter = Some(other.to_owned()),
            file => options.files.push(file.to_owned()),
        }
    }
    options.filter = match filter {
        Some(filter) => filter,
        None if arguments.is_empty() => return Ok(None),
        None => ".".to_owned(),
    };
    Ok(Some(options))
}

fn long_option<'a>(
    options: &mut JqOptions,
    word: &str,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let short = match word {
        "--null-input" => 'n',
        "--raw-output" => 'r',
        "--join-output" => 'j',
        "--compact-output" => 'c',
        "--slurp" => 's',
        "--raw-input" => 'R',
        "--sort-keys" => 'S',
        "--exit-status" => 'e',
        "--monochrome-output" => 'M',
        "--tab" => {
            options.indent = Some("\t".to_owned());
            return Ok(());
        }
        "--indent" => {
            let width = words
                .next()
                .and_then(|width| width.parse().ok())
                .filter(|width| *width <= 7);
            let width: usize = width.ok_or("--indent takes a number from 0 to 7")?;
            options.indent = (width > 0).then(|| " ".repeat(width));
            return Ok(());
        }
        "--arg" | "--argjson" | "--slurpfile" | "--rawfile" => {
            let (Some(name), Some(text)) = (words.next(), words.next()) else {
                return Err(format!("{word} takes a name and a value"));
            };
            options
                .variables
                .push((name.to_owned(), variable(word, name, text)?));
            return Ok(());
        }
        other => return Err(format!("unknown option {other}; see `jq --help`")),
    };
    flag(options, short)
}

fn flag(options: &mut JqOptions, flag: char) -> Result<(), String> {
    match flag {
        'n' => options.is_null_input = true,
        'r' => options.is_raw = true,
        'j' => (options.is_raw, options.joins) = (true, true),
        'c' => options.indent = None,
        's' => options.slurps = true,
        'R' => options.input = Input::Raw,
        'S' => options.sorts_keys = true,
        'e' => options.has_exit_status = true,
        'M' => {}
        other => return Err(format!("unknown option -{other}; see `jq --help`")),
    }
    Ok(())
}

/// The value of a variable.
fn variable(option: &str, name: &str, text: &str) -> Result<Val, String> {
    let invalid = |error: read::Error| format!("{option} {name}: {error}");
    Ok(match option {
        "--argjson" => read::parse_single(text.as_bytes()).map_err(invalid)?,
        "--slurpfile" => {
            let file = read_text(text)?;
            let values: Result<Vec<Val>, _> = read::parse_many(file.as_bytes()).collect();
            Val::from_iter(values.map_err(invalid)?)
        }
        "--rawfile" => Val::from(read_text(text)?),
        _ => Val::from(text.to_owned()),
    })
}

fn read_text(file: &str) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("error: could not open {file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[&str], expected: &str) {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let shown = match parse(&words) {
            Ok(None) => "help".to_owned(),
            Err(problem) => problem,
            Ok(Some(options)) => {
                let flags = [
                    (options.is_null_input, 'n'),
                    (options.is_raw, 'r'),
                    (options.joins, 'j'),
                    (options.slurps, 's'),
                    (options.input == Input::Raw, 'R'),
                    (options.has_exit_status, 'e'),
                    (options.indent.is_none(), 'c'),
                ];
                let flags: String = flags
                    .iter()
                    .filter(|(is_set, _)| *is_set)
                    .map(|(_, flag)| flag)
                    .collect();
                format!(
                    "{} {:?} {flags} {}",
                    options.filter,
                    options.files,
                    options.variables.len()
                )
            }
        };
        assert_eq!(shown, expected, "{line:?}");
    }

    #[test]
    fn arguments() {
        check(&[], "help");
        check(&["-r", ".a"], ".a [] r 0");
        check(&[".a", "-rc", "file"], ".a [\"file\"] rc 0");
        check(&["-nsRe", "."], ". [] nsRe 0");
        check(
            &["--arg", "x", "1", "--argjson", "y", "[2]", "$x"],
            "$x [] 2 ".trim_end().replace(" 2", "  2").as_str(),
        );
        check(&["-c", "--", "-1"], "-1 [] c 0");
        check(&["--bad"], "unknown option --bad; see `jq --help`");
        check(&["-z", "."], "unknown option -z; see `jq --help`");
        check(&["--arg", "x"], "--arg takes a name and a value");
    }
}

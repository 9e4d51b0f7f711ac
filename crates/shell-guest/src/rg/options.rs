//! Reads the arguments of `rg`.

/// The options and arguments of one search.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the program")]
pub struct RgOptions {
    pub patterns: Vec<String>,
    pub paths: Vec<String>,
    pub case: Case,
    pub shown: Shown,
    pub fixed: bool,
    pub words: bool,
    pub whole_lines: bool,
    pub inverts: bool,
    pub multiline: bool,
    pub line_numbers: bool,
    /// Whether lines begin with the path; `None` for the default.
    pub with_path: Option<bool>,
    pub only_matching: bool,
    pub replacement: Option<String>,
    /// Maximum number of matching lines per file.
    pub most: Option<u64>,
    pub before: usize,
    pub after: usize,
    pub globs: Vec<String>,
    pub types: Vec<String>,
    pub other_types: Vec<String>,
    pub depth: Option<usize>,
    pub hidden: bool,
    pub respects_ignore: bool,
    pub follows: bool,
    pub text: bool,
}

/// How letters are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Case {
    #[default]
    Exact,
    Any,
    /// `Any`, unless a pattern has an uppercase letter.
    Smart,
}

/// The printed part of matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shown {
    #[default]
    Lines,
    Count,
    Matching,
    Others,
    Nothing,
    Files,
}

impl RgOptions {
    /// Whether standard input is searched.
    pub fn reads_input(&self) -> bool {
        self.paths.len() == 1 && self.paths[0] == "-" || self.paths.is_empty() && has_input()
    }

    /// Whether lines begin with the path of their file.
    pub fn shows_path(&self) -> bool {
        let is_one_file = || self.paths.len() == 1 && !std::path::Path::new(&self.paths[0]).is_dir();
        self.with_path
            .unwrap_or_else(|| !self.reads_input() && !is_one_file())
    }
}

/// Whether standard input is a pipe or a file.
fn has_input() -> bool {
    use rustix::fs::FileType;

    let kind = rustix::fs::fstat(std::io::stdin()).map(|found| FileType::from_raw_mode(found.st_mode));
    matches!(
        kind,
        Ok(FileType::Fifo | FileType::RegularFile | FileType::Socket)
    )
}

/// Reads the arguments after the program's name; `None` for help.
///
/// # Errors
/// The first mistake.
pub fn parse(arguments: &[String]) -> Result<Option<RgOptions>, String> {
    let mut options = RgOptions {
        respects_ignore: true,
        ..RgOptions::default()
    };
    let mut others = Vec::new();
    let mut words = arguments.iter().cloned();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => others.extend(words.by_ref()),
            "-h" | "--help" => return Ok(None),
            long if long.starts_with("--") => {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (long, None),
                };
                let flag = short_of(name).ok_or_else(|| unknown(name))?;
                if takes_value(flag) {
                    let value = value.or_else(|| words.next());
                    set(&mut options, flag, &value.ok_or_else(|| lacks_value(name))?)?;
                } else {
                    switch(&mut options, flag).ok_or_else(|| unknown(name))?;
                }
            }
            short if short.len() > 1 && short.starts_with('-') => {
                short_flags(&mut options, short, &mut words)?
            }
            _ => others.push(word),
        }
    }
    if options.patterns.is_empty() && options.shown != Shown::Files {
        if others.is_empty() {
            return if arguments.is_empty() {
                Ok(None)
            } else {
                Err("a pattern is missing".to_owned())
            };
        }
        options.patterns.push(others.remove(0));
    }
    options.paths = others;
    Ok(Some(options))
}

/// Reads `-in`, `-A3` and the like.
fn short_flags(
    options: &mut RgOptions,
    word: &str,
    words: &mut impl Iterator<Item = String>,
) -> Result<(), String> {
    let mut rest = word[1..].chars();
    while let Some(flag) = rest.next() {
        let name = format!("-{flag}");
        if takes_value(flag) {
            let attached = rest.as_str();
            let value = match attached.is_empty() {
                true => words.next(),
                false => Some(attached.trim_start_matches('=').to_owned()),
            };
            return set(options, flag, &value.ok_or_else(|| lacks_value(&name))?);
        }
        switch(options, flag).ok_or_else(|| unknown(&name))?;
    }
    Ok(())
}

/// The short form of a long option; capital Greek letters for those without one.
fn short_of(name: &str) -> Option<char> {
    const NAMES: [(&str, char); 32] = [
        ("--regexp", 'e'),
        ("--fixed-strings", 'F'),
        ("--ignore-case", 'i'),
        ("--smart-case", 'S'),
        ("--case-sensitive", 's'),
        ("--word-regexp", 'w'),
        ("--line-regexp", 'x'),
        ("--invert-match", 'v'),
        ("--multiline", 'U'),
        ("--line-number", 'n'),
        ("--no-line-number", 'N'),
        ("--with-filename", 'H'),
        ("--no-filename", 'I'),
        ("--only-matching", 'o'),
        ("--replace", 'r'),
        ("--max-count", 'm'),
        ("--count", 'c'),
        ("--files-with-matches", 'l'),
        ("--files-without-match", 'Λ'),
        ("--quiet", 'q'),
        ("--after-context", 'A'),
        ("--before-context", 'B'),
        ("--context", 'C'),
        ("--glob", 'g'),
        ("--type", 't'),
        ("--type-not", 'T'),
        ("--max-depth", 'd'),
        ("--hidden", '.'),
        ("--no-ignore", 'Ι'),
        ("--unrestricted", 'u'),
        ("--follow", 'L'),
        ("--files", 'Φ'),
    ];
    let ignored = ["--no-heading", "--no-messages", "--text", "--color", "--sort"];
    let found = NAMES
        .iter()
        .find(|(long, _)| *long == name)
        .map(|(_, short)| *short);
    found.or_else(|| match name {
        "--text" => Some('a'),
        "--color" | "--sort" => Some('Σ'),
        name if ignored.contains(&name) => Some('Ν'),
        _ => None,
    })
}

fn takes_value(flag: char) -> bool {
    "ermABCgtTdΣ".contains(flag)
}

/// Sets an option with a value.
fn set(options: &mut RgOptions, flag: char, value: &str) -> Result<(), String> {
    let number = || {
        value
            .parse()
            .map_err(|_| format!("-{flag} takes a number, not `{value}`"))
    };
    match flag {
        'e' => options.patterns.push(value.to_owned()),
        'r' => options.replacement = Some(value.to_owned()),
        'm' => {
            options.most = Some(
                value
                    .parse()
                    .map_err(|_| format!("-m takes a number, not `{value}`"))?,
            )
        }
        'A' => options.after = number()?,
        'B' => options.before = number()?,
        'C' => (options.before, options.after) = (number()?, number()?),
        'g' => options.globs.push(value.to_owned()),
        't' => options.types.push(value.to_owned()),
        'T' => options.other_types.push(value.to_owned()),
        'd' => options.depth = Some(number()?),
        _ => {}
    }
    Ok(())
}

/// Sets an option without a value; `None` if it does not exist.
fn switch(options: &mut RgOptions, flag: char) -> Option<()> {
    match flag {
        'F' => options.fixed = true,
        'i' => options.case = Case::Any,
        'S' => options.case = Case::Smart,
        's' => options.case = Case::Exact,
        'w' => options.words = true,
        'x' => options.whole_lines = true,
        'v' => options.inverts = true,
        'U' => options.multiline = true,
        'n' => options.line_numbers = true,
        'N' => options.line_numbers = false,
        'H' => options.with_path = Some(true),
        'I' => options.with_path = Some(false),
        'o' => options.only_matching = true,
        'c' => options.shown = Shown::Count,
        'l' => options.shown = Shown::Matching,
        'Λ' => options.shown = Shown::Others,
        'q' => options.shown = Shown::Nothing,
        'Φ' => options.shown = Shown::Files,
        '.' => options.hidden = true,
        'Ι' => options.respects_ignore = false,
        // The second `u` includes hidden files.
        'u' => (options.hidden, options.respects_ignore) = (!options.respects_ignore, false),
        'L' => options.follows = true,
        'a' => options.text = true,
        'Ν' => {}
        _ => return None,
    }
    Some(())
}

fn unknown(name: &str) -> String {
    format!("unknown option {name}; see `rg --help`")
}

fn lacks_value(name: &str) -> String {
    format!("{name} takes a value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[&str], expected: &str) {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let shown = match parse(&words) {
            Ok(None) => "help".to_owned(),
            Err(problem) => problem,
            Ok(Some(options)) => format!(
                "{:?} {:?} {:?} {:?} A{} B{}",
                options.patterns, options.paths, options.case, options.shown, options.after, options.before
            ),
        };
        assert_eq!(shown, expected, "{line:?}");
    }

    #[test]
    fn arguments() {
        check(&[], "help");
        check(&["x"], r#"["x"] [] Exact Lines A0 B0"#);
        check(&["-in", "x", "a", "b"], r#"["x"] ["a", "b"] Any Lines A0 B0"#);
        check(&["-A3", "-B", "2", "x"], r#"["x"] [] Exact Lines A3 B2"#);
        check(&["-C=1", "x", "-l"], r#"["x"] [] Exact Matching A1 B1"#);
        check(
            &["-e", "x", "-e", "y", "z"],
            r#"["x", "y"] ["z"] Exact Lines A0 B0"#,
        );
        check(&["--files", "a"], r#"[] ["a"] Exact Files A0 B0"#);
        check(&["--context=2", "--", "-x"], r#"["-x"] [] Exact Lines A2 B2"#);
        check(&["-A", "two", "x"], "-A takes a number, not `two`");
        check(&["--pcre2", "x"], "unknown option --pcre2; see `rg --help`");
        check(&["-i"], "a pattern is missing");
    }
}

//! Standard output carries results, standard error everything else; colours only go to a terminal.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use types::is_unseen;

/// The reader closed standard output, as `| head` does; this is not a failure.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("standard output was closed")]
pub struct Closed;

#[derive(Debug, Clone, Copy)]
pub struct Output {
    color: bool,
    /// Width of the terminal; `None` if standard output is not a terminal.
    columns: Option<usize>,
    /// Whether standard error is a terminal.
    watched: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Text,
    Json,
}

impl From<bool> for OutputFormat {
    fn from(json: bool) -> OutputFormat {
        match json {
            true => OutputFormat::Json,
            false => OutputFormat::Text,
        }
    }
}

/// Colours by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Title,
    Good,
    /// Works, with a reservation.
    Weak,
    /// Does not work.
    Bad,
    Faint,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Title => "1",
            Tone::Good => "32",
            Tone::Weak => "33",
            Tone::Bad => "31",
            Tone::Faint => "2",
        }
    }
}

impl Output {
    /// `no_color` is the value of the variable `NO_COLOR`.
    pub fn new(no_color: Option<&str>) -> Self {
        let wanted = no_color.is_none_or(str::is_empty);
        let terminal = io::stdout().is_terminal();
        Self {
            color: wanted && terminal,
            columns: terminal.then(textwrap::termwidth),
            watched: io::stderr().is_terminal(),
        }
    }

    /// Prints text unchanged.
    pub fn print(&self, text: &str) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Closed.into()),
            written => written
                .map_err(|error| anyhow::Error::new(error).context("standard output cannot be written")),
        }
    }

    /// Prints text of a program or server: unchanged into a pipe, [`harmless`] on a terminal.
    pub fn foreign(&self, text: &str) -> anyhow::Result<()> {
        if self.columns.is_some() {
            self.print(&harmless(text))
        } else {
            self.print(text)
        }
    }

    /// Indents each line of a paragraph; on a terminal, wraps to its width.
    pub fn indented(&self, text: &str, indent: &str) -> String {
        let Some(columns) = self.columns else {
            return format!("{indent}{text}");
        };
        let options = textwrap::Options::new(columns)
            .initial_indent(indent)
            .subsequent_indent(indent)
            .break_words(false);
        textwrap::fill(text, options)
    }

    pub fn line(&self, text: &str) -> anyhow::Result<()> {
        self.print(&format!("{text}\n"))
    }

    pub fn json(&self, value: &impl serde::Serialize) -> anyhow::Result<()> {
        self.line(&serde_json::to_string_pretty(value)?)
    }

    pub fn paint(&self, tone: Tone, text: &str) -> String {
        if self.color {
            format!("\x1b[{}m{text}\x1b[0m", tone.code())
        } else {
            text.to_owned()
        }
    }

    /// Writes a message to standard error through [`harmless`]: many messages quote files and
    /// servers. Write errors are ignored.
    pub fn tell(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
    }

    pub fn tell_part(&self, text: &str) {
        let mut err = io::stderr().lock();
        let _ = err
            .write_all(harmless(text).as_bytes())
            .and_then(|()| err.flush());
    }

    pub fn progress(&self, text: &str) {
        if self.watched {
            self.tell(text);
        }
    }
}

/// Aligns rows in columns; the last column is not padded. Each cell becomes one line.
pub fn table(rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| one_line(cell)).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Makes foreign text safe for a terminal and for the eye. Newline and tab stay; other control
/// characters, reordering characters and invisible characters go. Joiners stay where a script needs
/// them, so never in ASCII.
pub fn harmless(text: &str) -> String {
    let mut before = ' ';
    let mut seen = |c| {
        let is_joined = matches!(c, '\u{200c}' | '\u{200d}') && !before.is_ascii() && !is_unseen(before);
        before = c;
        if matches!(c, '\n' | '\t') || is_joined || !is_unseen(c) {
            c
        } else {
            '\u{fffd}'
        }
    };
    text.chars().map(&mut seen).collect()
}

/// [`harmless`] on one line, for names and cells, so that foreign text cannot pose as a line of ours.
pub fn one_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], "\u{fffd}")
}

pub fn size(bytes: u64) -> String {
    let mut unit = 1_u64;
    let mut name = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if bytes / unit < 1024 {
            break;
        }
        unit *= 1024;
        name = larger;
    }
    let tenths = (u128::from(bytes) * 10 + u128::from(unit) / 2) / u128::from(unit);
    match (unit, tenths % 10) {
        (1, _) | (_, 0) => format!("{} {name}", tenths / 10),
        (_, tenth) => format!("{}.{tenth} {name}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "long cell", "x"], ["longer", "b", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "a       long cell  x\nlonger  b\n");
        assert_eq!(table(&[]), "");
        let row = ["4711".to_owned(), "ana\n4712  root\x1b[2J".to_owned()];
        assert_eq!(table(&[row.to_vec()]), "4711  ana\u{fffd}4712  root\u{fffd}[2J\n");
    }

    #[test]
    fn foreign_text_cannot_move_the_cursor() {
        assert_eq!(harmless("a\tb\nc\x1b[2Jd\r"), "a\tb\nc\u{fffd}[2Jd\u{fffd}");
        assert_eq!(harmless("safe\u{202e}live"), "safe\u{fffd}live");
        assert_eq!(
            harmless("a\u{61c}\u{200b}\u{2060}\u{2028}b"),
            "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}b"
        );
        assert_eq!(one_line("a\nb\tc"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn joiners_stay_where_scripts_need_them() {
        for text in [
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{1f469}\u{200d}\u{1f469}",
        ] {
            assert_eq!(harmless(text), text);
        }
        assert_eq!(harmless("pay\u{200d}pal"), "pay\u{fffd}pal");
        assert_eq!(harmless("\u{645}\u{200d}\u{200d}"), "\u{645}\u{200d}\u{fffd}");
    }

    #[test]
    fn a_paragraph_is_wrapped_for_a_terminal_only() {
        let wrapped = |columns| {
            let output = Output {
                color: false,
                columns,
                watched: false,
            };
            output.indented("one two three", "  ")
        };
        assert_eq!(wrapped(None), "  one two three");
        assert_eq!(wrapped(Some(9)), "  one two\n  three");
    }

    #[test]
    fn output_for_a_program_has_no_colours() {
        let output = Output {
            color: false,
            columns: None,
            watched: false,
        };
        assert_eq!(output.paint(Tone::Bad, "x"), "x");
        let output = Output {
            color: true,
            columns: Some(40),
            watched: false,
        };
        assert_eq!(output.paint(Tone::Bad, "x"), "\x1b[31mx\x1b[0m");
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (10 << 20, "10 MiB"),
            ((3 << 30) + (205 << 20), "3.2 GiB"),
            (u64::MAX, "16777216 TiB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}

//! The program `jq`, on the crates of jaq, for machines that have none.

mod options;

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use jaq_all::jaq_core::{Vars, unwrap_valr};
use jaq_all::json::write::Pp;
use jaq_all::json::{Val, read, write};
use jaq_all::{data, load};

use options::{Input, JqOptions, parse};

/// Exit statuses of jq.
const MISUSED: i32 = 2;
const NOT_COMPILED: i32 = 3;
const NO_OUTPUT: i32 = 4;
const FAILED: i32 = 5;

const HELP: &str = include_str!("jq/help.txt");

/// Why the program fails.
struct Problem {
    status: i32,
    message: String,
}

/// Runs the program; returns its exit status.
pub fn run(arguments: &[String]) -> i32 {
    let ended = match parse(arguments) {
        Ok(Some(options)) => filter(&options, &mut BufWriter::new(io::stdout().lock())),
        Ok(None) => print(HELP).map(|()| 0).map_err(Problem::from),
        Err(message) => Err(Problem {
            status: MISUSED,
            message,
        }),
    };
    ended.unwrap_or_else(|problem| {
        if !problem.message.is_empty() {
            // The reader may have closed the output.
            let _ = writeln!(io::stderr(), "jq: {}", problem.message);
        }
        problem.status
    })
}

fn print(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}

/// Runs the filter over the inputs.
fn filter(options: &JqOptions, output: &mut impl Write) -> Result<i32, Problem> {
    let names: Vec<String> = options.variables.iter().map(|(name, _)| name.clone()).collect();
    let compiled = jaq_all::compile_with(&options.filter, jaq_all::defs(), data::funs(), &names);
    let filter = compiled.map_err(|reports| Problem {
        status: NOT_COMPILED,
        message: reports
            .iter()
            .map(|report| load::FileReportsDisp::new(report).to_string())
            .collect(),
    })?;
    let values = options.variables.iter().map(|(_, value)| value.clone());
    let runner = data::Runner {
        null_input: options.is_null_input,
        ..data::Runner::default()
    };
    let name = Val::from(
        options
            .files
            .first()
            .cloned()
            .unwrap_or_else(|| "<stdin>".to_owned()),
    );
    let inputs = inputs(options)?;
    let mut last = None;
    let failed = |message: String| Problem {
        status: FAILED,
        message: format!("error: {message}"),
    };
    let ended = data::run(
        &runner,
        &filter,
        Vars::new(values),
        (&name, inputs),
        failed,
        |value| {
            let value = unwrap_valr(value).map_err(|error| failed(error.to_string()))?;
            put(output, options, &value)?;
            last = Some(!matches!(value, Val::Null | Val::Bool(false)));
            Ok(())
        },
    );
    output.flush()?;
    ended?;
    Ok(match last {
        _ if !options.has_exit_status => 0,
        Some(is_true) => i32::from(!is_true),
        None => NO_OUTPUT,
    })
}

/// Writes one value in the options' format.
fn put(output: &mut impl Write, options: &JqOptions, value: &Val) -> io::Result<()> {
    match value {
        Val::TStr(text) | Val::BStr(text) if options.is_raw => output.write_all(text)?,
        value => {
            let pretty = Pp {
                indent: options.indent.clone(),
                sort_keys: options.sorts_keys,
                sep_space: options.indent.is_some(),
                ..Pp::default()
            };
            write::write(output, &pretty, 0, value)?;
        }
    }
    if options.joins {
        Ok(())
    } else {
        output.write_all(b"\n")
    }
}

type Inputs = Box<dyn Iterator<Item = io::Result<Val>>>;

/// The values of all files, or of standard input.
fn inputs(options: &JqOptions) -> Result<Inputs, Problem> {
    let mut readers: Vec<Box<dyn BufRead>> = Vec::new();
    for file in &options.files {
        let opened = std::fs::File::open(file);
        let opened = opened.map_err(|error| Problem {
            status: MISUSED,
            message: format!("error: could not open {file}: {error}"),
        })?;
        readers.push(Box::new(BufReader::new(opened)));
    }
    if readers.is_empty() {
        readers.push(Box::new(BufReader::new(io::stdin())));
    }
    let values: Inputs = match (options.input, options.slurps) {
        (Input::Json, false) => Box::new(readers.into_iter().flat_map(read::read_many)),
        (Input::Json, true) => {
            let all: io::Result<Vec<Val>> = readers.into_iter().flat_map(read::read_many).collect();
            Box::new(std::iter::once(all.map(Val::from_iter)))
        }
        (Input::Raw, false) => {
            let lines = readers.into_iter().flat_map(|reader| reader.split(b'\n'));
            Box::new(lines.map(|line| line.map(Val::utf8_str)))
        }
        (Input::Raw, true) => {
            let mut text = Vec::new();
            for mut reader in readers {
                reader.read_to_end(&mut text)?;
            }
            Box::new(std::iter::once(Ok(Val::utf8_str(text))))
        }
    };
    Ok(values)
}

impl From<io::Error> for Problem {
    /// Without a message if the reader has closed the output.
    fn from(error: io::Error) -> Self {
        let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
        Problem {
            status: MISUSED,
            message: if is_closed {
                String::new()
            } else {
                error.to_string()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what the program prints for this input, and its status.
    fn check(arguments: &[&str], input: &str, expected: &str, status: i32) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), input).unwrap();
        let path = file.path().to_str().unwrap();
        let words: Vec<String> = arguments
            .iter()
            .chain([&path])
            .map(|word| (*word).to_owned())
            .collect();
        let options = parse(&words).unwrap().unwrap();
        let mut output = Vec::new();
        let ended = filter(&options, &mut output).unwrap_or_else(|problem| problem.status);
        assert_eq!(
            (String::from_utf8(output).unwrap().as_str(), ended),
            (expected, status),
            "{arguments:?}"
        );
    }

    #[test]
    fn values_are_filtered_as_by_jq() {
        check(&["-r", ".a[1].b"], r#"{"a": [1, {"b": "c"}]}"#, "c\n", 0);
        check(&["."], r#"{"b":1,"a":[]}"#, "{\n  \"b\": 1,\n  \"a\": []\n}\n", 0);
        check(
            &["-cS", "."],
            r#"{"b":1,"a":{"d":2,"c":3}}"#,
            "{\"a\":{\"c\":3,\"d\":2},\"b\":1}\n",
            0,
        );
        check(
            &["-c", "map(select(.n > 1))"],
            r#"[{"n":1},{"n":2}]"#,
            "[{\"n\":2}]\n",
            0,
        );
        check(
            &["-c", "group_by(.k) | map({k: .[0].k, n: length})"],
            r#"[{"k":1},{"k":2},{"k":1}]"#,
            "[{\"k\":1,\"n\":2},{\"k\":2,\"n\":1}]\n",
            0,
        );
        check(&["-sc", "add"], "1 2 3", "6\n", 0);
        check(&["-Rr", "ascii_upcase"], "a\nb\n", "A\nB\n", 0);
        check(&["-Rs", "length"], "abc", "3\n", 0);
        check(
            &["-r", ".[] | @csv"],
            r#"[[1,"a"],[2,"b"]]"#,
            "1,\"a\"\n2,\"b\"\n",
            0,
        );
        check(&["-nr", "--arg", "x", "5", "$x"], "", "5\n", 0);
        check(&["-nc", "--argjson", "x", "[5]", "$x"], "", "[5]\n", 0);
        check(&["-n", "[inputs] | length"], "1 2 3", "3\n", 0);
        check(&["-e", ".a"], r#"{"a":false}"#, "false\n", 1);
        check(&["-e", "empty"], "1", "", 4);
        check(&[".a"], "[1]", "", 5);
        check(&["."], "{", "", 5);
        check(&[".["], "1", "", 3);
        check(&["--tab", "."], "[1]", "[\n\t1\n]\n", 0);
        check(&["-j", ".[]"], r#"["a","b"]"#, "ab", 0);
    }
}

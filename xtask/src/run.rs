//! Starts programs; shows and captures their output.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::tasks;

/// Runs a program to its end and returns its standard output.
pub fn output<S: AsRef<OsStr>>(program: &str, args: &[S], directory: &Path) -> Result<String> {
    printed(Command::new(program).args(args).current_dir(directory))
}

/// Runs a command to its end and returns its standard output.
pub fn printed(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", name_of(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}", name_of(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} did not print text", name_of(command)))
}

/// Whether a program runs and exits with success.
pub fn succeeds<S: AsRef<OsStr>>(program: &str, args: &[S]) -> bool {
    let silent = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    silent.is_ok_and(|status| status.success())
}

/// Runs a command with our own streams; an error names the command.
pub fn visible(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", name_of(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", name_of(command));
    }
    Ok(())
}

/// A command's output on both streams, and whether the command succeeded.
pub struct Watched {
    pub lines: Vec<String>,
    pub success: bool,
}

/// Runs a command; shows and captures each line of its output.
pub fn watched(command: &mut Command) -> Result<Watched> {
    let name = name_of(command);
    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    command.stdin(Stdio::null());
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    // The command holds our ends of the pipe open until its streams are replaced.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut lines = Vec::new();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        tasks::say(&text);
        lines.push(text);
        line.clear();
    }
    let success = child
        .wait()
        .with_context(|| format!("cannot wait for {name}"))?
        .success();
    Ok(Watched { lines, success })
}

fn name_of(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

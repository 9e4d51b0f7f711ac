//! The encoding of requests and answers, and the requesting program's side.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::open_file;

/// The directory's name in the session's own file system.
pub const DIRECTORY: &str = ".codeyard";
/// The FIFO of the requests.
pub const FIFO: &str = "requests";
/// Bytes that the kernel writes to a FIFO atomically.
pub const MAX_LINE: usize = 4096;
/// Longest arguments of a request, in bytes; the host takes no more.
const MAX_ARGUMENTS: u64 = 16 * 1024 * 1024;
/// Longest answer, in bytes: the largest frame of the host, with its frame.
const MAX_ANSWER: usize = 128 * 1024 * 1024;

/// One request as a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestLine {
    /// Name of the FIFO of the answer.
    answer: String,
    /// Name of the host call.
    name: String,
    /// Arguments that fit into the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    args: Option<Box<RawValue>>,
}

/// One request.
#[derive(Debug)]
pub struct Request {
    /// The FIFO of the answer.
    pub answer: PathBuf,
    /// Name of the host call.
    pub name: String,
    /// JSON.
    pub args: String,
}

/// Reads a line; `None` if the line is not a request.
pub fn read(line: &[u8], directory: &Path) -> Option<Request> {
    let line: RequestLine = serde_json::from_slice(line).ok()?;
    let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_plain(&line.answer) {
        return None;
    }
    let answer = directory.join(&line.answer);
    let args = match line.args {
        Some(args) => args.get().to_owned(),
        None => {
            let mut text = String::new();
            let file = open_file(&arguments_of(&answer)).ok()?;
            file.take(MAX_ARGUMENTS + 1).read_to_string(&mut text).ok()?;
            // A frame may contain only valid JSON.
            serde_json::from_str::<&RawValue>(&text).ok()?.get().to_owned()
        }
    };
    Some(Request {
        answer,
        name: line.name,
        args,
    })
}

/// The file for arguments that do not fit into a line.
fn arguments_of(answer: &Path) -> PathBuf {
    answer.with_extension("args")
}

/// Makes a FIFO.
///
/// # Errors
/// If the file system cannot hold a FIFO.
pub fn make_fifo(path: &Path) -> io::Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Sends a request and waits for its answer.
///
/// # Errors
/// If the session accepts no requests.
pub fn ask(directory: &Path, name: &str, args: String) -> io::Result<String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let answer = format!("a{:016x}", u64::from_ne_bytes(random));
    let path = directory.join(&answer);
    make_fifo(&path)?;
    let answered = exchange(directory, &path, name, args);
    // Both names are unused from here on.
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_file(arguments_of(&path));
    answered
}

fn exchange(directory: &Path, answer: &Path, name: &str, args: String) -> io::Result<String> {
    // Also open for writing, so that reading waits for an answer, not for a writer.
    let from = rustix::fs::open(answer, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let to = rustix::fs::open(
        directory.join(FIFO),
        OFlags::WRONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let file_name = answer
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut line = RequestLine {
        answer: file_name,
        name: name.to_owned(),
        args: Some(RawValue::from_string(args)?),
    };
    let mut bytes = serde_json::to_vec(&line)?;
    if bytes.len() >= MAX_LINE || bytes.contains(&b'\n') {
        let args = line.args.take();
        let text = args.as_deref().map_or("null", RawValue::get);
        std::fs::write(arguments_of(answer), text)?;
        bytes = serde_json::to_vec(&line)?;
    }
    bytes.push(b'\n');
    File::from(to).write_all(&bytes)?;
    receive(File::from(from))
}

/// Reads the length of the answer, and the answer.
fn receive(from: File) -> io::Result<String> {
    let mut from = BufReader::new(from);
    let mut length = String::new();
    from.read_line(&mut length)?;
    let length = length
        .trim_end()
        .parse()
        .ok()
        .filter(|length| *length <= MAX_ANSWER);
    let length = length.ok_or(io::ErrorKind::InvalidData)?;
    let mut answer = vec![0; length];
    from.read_exact(&mut answer)?;
    String::from_utf8(answer).map_err(|_| io::ErrorKind::InvalidData.into())
}

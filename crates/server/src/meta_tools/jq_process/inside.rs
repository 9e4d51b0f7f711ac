//! What the process does: lowers its own limits, evaluates one filter, answers and ends.

use std::io::{self, Read as _, Write};
use std::time::{Duration, Instant};

use constrained_shell::{Filtered, Jaq, Jq as _, JqError};
use rustix::param::page_size;
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use rustix::thread::set_no_new_privs;
use serde::{Deserialize, Serialize};

use super::{ARGUMENT, MAX_HEADER};

/// Bytes of address space for the filter, beside what the program itself takes. Documents of 32 MiB take up to 20 times
/// their size.
const ROOM: u64 = 1024 * 1024 * 1024;

/// Standard input, output and error: nothing else can be opened.
const DESCRIPTORS: u64 = 3;

/// The answer's first line; the output follows.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    error: Option<WireError>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireError {
    Filter(String),
    Input(String),
    Limit(String),
    InputTooLarge,
    OutputTooLarge,
    TimeIsOver,
}

/// Runs the process named by the arguments of this program, and never returns; does nothing without such arguments.
pub(crate) fn dispatch() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(ARGUMENT) {
        return;
    }
    let time = arguments.next().and_then(|time| time.parse().ok());
    let done = run(Duration::from_millis(time.unwrap_or_default()));
    jail::session::exit(i32::from(done.is_err()));
}

fn run(time: Duration) -> io::Result<()> {
    let deadline = Instant::now() + time;
    confine(time)?;
    let mut request = Vec::new();
    io::stdin().lock().read_to_end(&mut request)?;
    let (filter, documents) = parse_request(&request).ok_or(io::ErrorKind::InvalidData)?;
    let is_over = || Instant::now() >= deadline;
    let filtered = Jaq::in_disposable_process().filter(&filter, documents, &is_over);
    let mut stdout = io::stdout().lock();
    let header = Header {
        error: filtered.error.map(WireError::from),
    };
    serde_json::to_writer(&mut stdout, &header)?;
    stdout.write_all(b"\n")?;
    stdout.write_all(&filtered.output)?;
    stdout.flush()
}

/// Lowers this process's limits. The filter's thread needs one more process, so their number stays.
fn confine(time: Duration) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    set_no_new_privs(true)?;
    // If memory runs out, this process goes first. If /proc is closed, it does not get this preference.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let limit = |resource, most: u64| {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit)
    };
    limit(Resource::As, address_space()?.saturating_add(ROOM))?;
    limit(Resource::Cpu, time.as_secs().saturating_add(2))?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    // A kernel without Landlock leaves the limit of descriptors, under which nothing can be opened either.
    let _ = jail::confinement::deny_files_and_network();
    limit(Resource::Nofile, DESCRIPTORS)?;
    Ok(())
}

/// Bytes of address space in use.
fn address_space() -> io::Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm
        .split(' ')
        .next()
        .and_then(|pages| pages.parse::<u64>().ok());
    let page = u64::try_from(page_size()).map_err(io::Error::other)?;
    Ok(pages.ok_or(io::ErrorKind::InvalidData)?.saturating_mul(page))
}

/// The filter's length in four bytes, the filter, the documents.
pub(super) fn write_request(to: &mut impl Write, filter: &str, documents: &[u8]) -> io::Result<()> {
    let length = u32::try_from(filter.len()).map_err(io::Error::other)?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(filter.as_bytes())?;
    to.write_all(documents)
}

fn parse_request(request: &[u8]) -> Option<(String, Vec<u8>)> {
    let (length, rest) = request.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (filter, documents) = rest.split_at_checked(length)?;
    Some((String::from_utf8(filter.to_vec()).ok()?, documents.to_vec()))
}

/// The answer of a process; `None` if it is not whole.
pub(super) fn parse(mut answer: Vec<u8>) -> Option<Filtered> {
    let end = answer.iter().take(MAX_HEADER).position(|byte| *byte == b'\n')?;
    let header: Header = serde_json::from_slice(&answer[..end]).ok()?;
    answer.drain(..=end);
    Some(Filtered {
        output: answer,
        error: header.error.map(JqError::from),
    })
}

// === impl WireError ===

impl From<JqError> for WireError {
    fn from(error: JqError) -> WireError {
        match error {
            JqError::Filter(cause) => WireError::Filter(cause),
            JqError::Input(cause) => WireError::Input(cause),
            JqError::Limit(cause) => WireError::Limit(cause),
            JqError::InputTooLarge => WireError::InputTooLarge,
            JqError::OutputTooLarge => WireError::OutputTooLarge,
            JqError::TimeIsOver => WireError::TimeIsOver,
        }
    }
}

impl From<WireError> for JqError {
    fn from(error: WireError) -> JqError {
        match error {
            WireError::Filter(cause) => JqError::Filter(cause),
            WireError::Input(cause) => JqError::Input(cause),
            WireError::Limit(cause) => JqError::Limit(cause),
            WireError::InputTooLarge => JqError::InputTooLarge,
            WireError::OutputTooLarge => JqError::OutputTooLarge,
            WireError::TimeIsOver => JqError::TimeIsOver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_survive_the_way() {
        let mut request = Vec::new();
        write_request(&mut request, ".é", b"{}\n\xff").unwrap();
        assert_eq!(
            parse_request(&request),
            Some((".é".to_owned(), b"{}\n\xff".to_vec()))
        );
        for cut in 0..4 + ".é".len() {
            assert_eq!(parse_request(&request[..cut]), None);
        }
        let answer = b"{\"error\":{\"filter\":\"a\\nb\"}}\n1\n2\n".to_vec();
        let expected = Filtered {
            output: b"1\n2\n".to_vec(),
            error: Some(JqError::Filter("a\nb".to_owned())),
        };
        assert_eq!(parse(answer), Some(expected));
        for broken in [&b""[..], b"{}", b"{\"error\":{\"other\":1}}\n", b"x\n"] {
            assert_eq!(parse(broken.to_vec()), None, "{broken:?}");
        }
    }
}

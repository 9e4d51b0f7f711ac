//! The two output streams: written at once, and copied to a file before the host would cut them.

use std::fs::File;
use std::io::Write;

/// Names of the streams, in the order of their descriptors.
pub const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// Output of a run.
#[derive(Debug)]
pub struct Output {
    streams: [Stream; 2],
    run: u64,
    /// Bytes of a stream that the host keeps.
    limit: u64,
    copies: Copies,
    /// Whether the streams are open; false in tests of engines.
    is_open: bool,
}

/// Where copies of long streams are written.
#[derive(Debug, Clone)]
pub struct Copies {
    /// Directory of the copies.
    pub results: String,
    /// Prefix of the run's number in a copy's name: the languages of a session share the directory.
    pub prefix: &'static str,
}

#[derive(Debug, Default)]
struct Stream {
    /// Output so far, until a file holds it.
    kept: Vec<u8>,
    copy: Option<File>,
    /// Whether the copy failed, so there is none.
    is_lost: bool,
}

impl Output {
    /// Output to the streams of the process.
    pub fn new(copies: Copies) -> Self {
        Self {
            streams: Default::default(),
            run: 0,
            limit: 0,
            copies,
            is_open: true,
        }
    }

    /// Output without streams, for tests of an engine.
    pub fn closed(copies: Copies) -> Self {
        Self {
            is_open: false,
            ..Self::new(copies)
        }
    }

    /// Begins a run's output. `limit` is the number of bytes per stream that the host keeps.
    pub fn begin(&mut self, run: u64, limit: u64) {
        self.streams = Default::default();
        self.run = run;
        self.limit = limit;
    }

    /// Writes to standard output (1) or standard error.
    pub fn write(&mut self, descriptor: u32, text: &[u8]) {
        let index = usize::from(descriptor != 1);
        match index {
            _ if !self.is_open => {}
            0 => write_all(std::io::stdout(), text),
            _ => write_all(std::io::stderr(), text),
        }
        self.copy(index, text);
    }

    /// Standard output that is not copied yet.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.streams[0].kept).into_owned()
    }

    /// The streams with a complete copy in a file.
    pub fn copied(&self) -> Vec<&'static str> {
        let streams = STREAMS.iter().zip(&self.streams);
        let copied = streams.filter(|(_, stream)| stream.copy.is_some() && !stream.is_lost);
        copied.map(|(name, _)| *name).collect()
    }

    /// Collects text for the copy. Writes the copy at half of the limit, before the host may cut the stream.
    fn copy(&mut self, index: usize, text: &[u8]) {
        let stream = &mut self.streams[index];
        if stream.is_lost {
            return;
        }
        if stream.copy.is_none() {
            stream.kept.extend_from_slice(text);
            if u64::try_from(stream.kept.len()).unwrap_or(u64::MAX) <= self.limit / 2 {
                return;
            }
            let Copies { results, prefix } = &self.copies;
            let path = format!("{results}/{}-{prefix}{}.txt", STREAMS[index], self.run);
            let opened = File::create(path).and_then(|mut file| {
                file.write_all(&std::mem::take(&mut stream.kept))?;
                Ok(file)
            });
            stream.is_lost = opened.is_err();
            stream.copy = opened.ok();
            return;
        }
        if let Some(file) = &mut stream.copy {
            // On a full disk, only the beginning is copied.
            stream.is_lost = file.write_all(text).is_err();
        }
    }
}

/// Writes to a pipe that the host reads. Drops text for a closed pipe.
fn write_all(stream: impl std::os::fd::AsFd, mut text: &[u8]) {
    use rustix::io::Errno;

    while !text.is_empty() {
        match rustix::io::write(&stream, text) {
            Ok(written) => text = &text[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut ready = [rustix::event::PollFd::new(&stream, rustix::event::PollFlags::OUT)];
                // A signal only ends the wait.
                let _ = rustix::event::poll(&mut ready, None);
            }
            Err(_) => return,
        }
    }
}

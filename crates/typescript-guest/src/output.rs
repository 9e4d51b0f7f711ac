//! The two output streams: written at once, and copied to a file when the host would cut them.

use std::fs::File;
use std::io::Write;

/// Names of the streams, in the order of their descriptors.
pub const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// What a run prints.
#[derive(Debug)]
pub struct Output {
    streams: [Stream; 2],
    run: u64,
    /// Bytes of a stream that the host keeps.
    limit: u64,
    /// Directory of the copies.
    results: String,
}

#[derive(Debug, Default)]
struct Stream {
    /// What was printed, until a file holds it.
    kept: Vec<u8>,
    copy: Option<File>,
    /// Whether the copy failed, so that there is none.
    is_lost: bool,
}

impl Output {
    /// Copies go to the directory `results`.
    pub fn new(results: String) -> Self {
        Self {
            streams: Default::default(),
            run: 0,
            limit: 0,
            results,
        }
    }

    pub fn begin(&mut self, run: u64, limit: u64) {
        *self = Self {
            run,
            limit,
            ..Self::new(std::mem::take(&mut self.results))
        };
    }

    /// Writes to standard output (1) or standard error.
    pub fn write(&mut self, descriptor: u32, text: &[u8]) {
        let index = usize::from(descriptor != 1);
        #[cfg(not(test))]
        match index {
            0 => write_all(std::io::stdout(), text),
            _ => write_all(std::io::stderr(), text),
        }
        self.copy(index, text);
    }

    /// The streams whose whole text is in a file.
    pub fn copied(&self) -> Vec<&'static str> {
        let streams = STREAMS.iter().zip(&self.streams);
        let copied = streams.filter(|(_, stream)| stream.copy.is_some() && !stream.is_lost);
        copied.map(|(name, _)| *name).collect()
    }

    /// Keeps the text for the copy that is made once the host may cut the stream: at half of the limit.
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
            // Programs in Python have `stdout-1.txt` and so on.
            let path = format!("{}/{}-ts{}.txt", self.results, STREAMS[index], self.run);
            let opened = File::create(path).and_then(|mut file| {
                file.write_all(&std::mem::take(&mut stream.kept))?;
                Ok(file)
            });
            stream.is_lost = opened.is_err();
            stream.copy = opened.ok();
            return;
        }
        if let Some(file) = &mut stream.copy {
            // A full disk leaves the beginning.
            stream.is_lost = file.write_all(text).is_err();
        }
    }
}

#[cfg(test)]
impl Output {
    /// What was printed to standard output.
    pub fn printed(&self) -> String {
        String::from_utf8_lossy(&self.streams[0].kept).into_owned()
    }
}

/// Writes to a pipe that the host empties. A closed one takes nothing.
#[cfg(not(test))]
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

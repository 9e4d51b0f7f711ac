//! A whole run with a hostile guest: whatever the guest sends, the run ends and its outcome keeps
//! its promises.
//!
//! Input: a byte of flags, then lines. Each line is the body of one frame of the guest; with the
//! flag `RAW`, the bytes are the guest's raw stream. The guest sends everything at once and exits.

#![no_main]

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use sandbox::{
    Attachment, BoxFuture, Channels, Conversation, Guest, CallContext, HostCall, HostCalls, GuestProcesses, Leftovers,
    GuestUsage, Run, watch,
};
use serde_json::value::RawValue;
use tokio::io::Interest;
use tokio::net::unix::pipe;
use types::{HostCallError, HostCallErrorKind, Limit, Limits, Outcome, SessionFate, Status};

/// The bytes are the raw stream.
const RAW: u8 = 1;
/// The guest gets no free `ready` frame at the start.
const SILENT: u8 = 2;
/// The run is cancelled before it starts.
const CANCELLED: u8 = 4;

/// Bytes that one direction of a socket always buffers.
const FITS: usize = 100_000;
/// Longest texts of an outcome, with room for the truncation mark.
const KIND: usize = 204;
const MESSAGE: usize = 16 * 1024 + 4;
const TRACEBACK: usize = 64 * 1024 + 4;
const ARTIFACTS: usize = 1_000;

fuzz_target!(|data: &[u8]| {
    let Some((flags, said)) = data.split_first() else {
        return;
    };
    let stream = stream(*flags, said);
    if stream.len() > FITS {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let calls = Arc::new(Echo::default());
    let outcome = runtime.block_on(run(*flags, &stream, Arc::clone(&calls)));
    check(&outcome, calls.0.load(Ordering::Relaxed), *flags);
});

fn stream(flags: u8, said: &[u8]) -> Vec<u8> {
    let frame = |body: &[u8]| [&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes(), body].concat();
    let ready = frame(br#"{"t":"ready","v":1,"interpreter":"CPython 3.11.2"}"#);
    let mut stream = if flags & SILENT == 0 { ready } else { Vec::new() };
    if flags & RAW == 0 {
        stream.extend(said.split(|byte| *byte == b'\n').flat_map(frame));
    } else {
        stream.extend(said);
    }
    stream
}

async fn run(flags: u8, stream: &[u8], calls: Arc<Echo>) -> Outcome {
    let (host, guest) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .expect("a pair of sockets");
    let sent = rustix::net::send(&guest, stream, rustix::net::SendFlags::DONTWAIT).unwrap_or_default();
    assert_eq!(sent, stream.len(), "the socket holds it");
    rustix::net::shutdown(&guest, rustix::net::Shutdown::Write).expect("the guest says no more");
    let channels = Channels {
        channel: watch(host, Interest::READABLE).expect("a runtime watches it"),
        stdout: ended_pipe(),
        stderr: ended_pipe(),
    };
    let limits = Limits {
        host_calls: 5,
        concurrent_host_calls: 2,
        ..Limits::default()
    };
    let of_run = Limits {
        wall_time: Duration::from_secs(5),
        ..limits.clone()
    };
    let mut conversation = Conversation::new(channels, Gone, limits, "fuzz".to_owned());
    let run = Run::of("1", of_run);
    if flags & CANCELLED != 0 {
        run.cancel.cancel();
    }
    let outcome = tokio::time::timeout(Duration::from_secs(8), conversation.execute(run, calls)).await;
    outcome.expect("a run ends whatever its guest says")
}

fn ended_pipe() -> pipe::Receiver {
    let (reader, _writer): (OwnedFd, OwnedFd) =
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK | rustix::pipe::PipeFlags::CLOEXEC)
            .expect("a pipe");
    pipe::Receiver::from_owned_fd(reader).expect("a runtime watches it")
}

/// What `types::Outcome` and `sandbox` promise for every outcome.
fn check(outcome: &Outcome, calls: u32, flags: u8) {
    assert_eq!(
        outcome.error.is_some(),
        outcome.status != Status::Completed,
        "{outcome:?}"
    );
    if let Some(error) = &outcome.error {
        assert!(
            error.kind.len() <= KIND && error.message.len() <= MESSAGE && error.traceback.len() <= TRACEBACK
        );
    }
    assert!(outcome.artifacts().len() <= ARTIFACTS);
    assert!(calls <= 5, "{calls} host calls were made");
    if flags & CANCELLED != 0 && outcome.session == SessionFate::Kept {
        assert_eq!(
            outcome.status,
            Status::Cancelled,
            "a cancelled run is not said to be another"
        );
    }
    assert_ne!(
        outcome.status,
        Status::TimedOut,
        "nothing took its time: {outcome:?}"
    );
}

/// A guest whose processes have always ended.
struct Gone;

impl GuestProcesses for Gone {
    fn interrupt(&self) {}

    fn kill(&self) {}

    fn measure(&mut self) -> GuestUsage {
        GuestUsage::default()
    }

    fn wants_processor(&self) -> bool {
        false
    }

    fn settle(&mut self) -> BoxFuture<'_, Result<Leftovers, String>> {
        Box::pin(std::future::ready(Ok(Leftovers::default())))
    }

    fn resume(&mut self) {}

    fn yield_cpu(&mut self) {}

    fn reclaim_cpu(&mut self) {}

    fn bound_files(&mut self, _most: Option<u64>) {}

    fn unlinked(&mut self, _device: u64) -> u64 {
        0
    }

    fn exceeded(&mut self) -> Option<Limit> {
        None
    }

    fn attach(&mut self, _files: Vec<Attachment>) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    fn memory(&self) -> Option<u64> {
        None
    }

    fn gone(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// Answers a call with its arguments, or refuses a call whose arguments are not JSON.
#[derive(Default)]
struct Echo(AtomicU32);

impl HostCalls for Echo {
    fn call(
        &self,
        call: HostCall,
        _context: CallContext,
    ) -> BoxFuture<'_, Result<Box<RawValue>, HostCallError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            RawValue::from_string(call.args.to_string()).map_err(|wrong| HostCallError::new(HostCallErrorKind::Upstream, wrong.to_string()))
        })
    }
}

//! How each limit of `types::Limits` is exceeded, and what must follow.

use types::Limit;

use crate::{CodeResult, Mode};

/// How one limit is exceeded, and what must follow.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The limit under test.
    pub limit: Limit,
    /// Its value, in the syntax of settings and calls.
    pub value: &'static str,
    /// A program that exceeds it.
    pub exceeds: &'static str,
    /// The exception's class, and its `errno` or kind; empty if the program sees none.
    pub felt: &'static str,
    /// How the run ends if the program catches nothing.
    pub outcome: &'static str,
    /// A further condition on that run.
    pub result: fn(&CodeResult, Mode) -> bool,
}

/// Each limit once. The session is kept, unless a backend measures the limit from outside and ends the
/// session. The tests of each limit cover other ways to lose a session.
pub const CASES: [Case; Limit::ALL.len()] = [
    Case {
        limit: Limit::WallTime,
        value: r#""700ms""#,
        exceeds: "time.sleep(60)",
        felt: "KeyboardInterrupt",
        outcome: "timed_out",
        result: none,
    },
    Case {
        limit: Limit::CpuTime,
        value: r#""300ms""#,
        // `while True: pass` leaves a gap in the interpreter's exception table.
        exceeds: "number = 0\nwhile True: number += 1",
        felt: "KeyboardInterrupt",
        outcome: "limit_exceeded: cpu_time",
        result: none,
    },
    Case {
        limit: Limit::CpuRate,
        value: "0.5",
        exceeds: "start = time.monotonic()\nwhile time.process_time() < burnt + 0.5: pass\n\
                  result = [time.monotonic() - start, len(os.sched_getaffinity(0))]",
        felt: "",
        outcome: "completed",
        // Half a second of work takes about a second; without control groups, the program has one core.
        result: |ran, mode| {
            let slow = ran.result()[0].as_f64().is_some_and(|took| took > 0.7);
            if mode.groups { slow } else { ran.result()[1] == 1 }
        },
    },
    Case {
        limit: Limit::Memory,
        value: r#""96 MiB""#,
        exceeds: "while True: kept.append(bytearray(b'x') * (1 << 20))",
        felt: "MemoryError",
        outcome: "limit_exceeded: memory",
        result: none,
    },
    Case {
        limit: Limit::Processes,
        value: "8",
        exceeds: "while True:\n    if os.fork() == 0: signal.pause()",
        felt: "BlockingIOError EAGAIN",
        outcome: "limit_exceeded: processes",
        result: none,
    },
    Case {
        limit: Limit::OpenFiles,
        value: "40",
        exceeds: "while True: kept.append(open('/dev/null'))",
        felt: "OSError EMFILE",
        outcome: "limit_exceeded: open_files",
        result: none,
    },
    Case {
        limit: Limit::FileSize,
        value: r#""1 MiB""#,
        exceeds: "with open('large', 'wb', buffering=0) as file:\n    while True: file.write(bytes(1 << 16))",
        felt: "OSError EFBIG",
        outcome: "limit_exceeded: file_size",
        result: none,
    },
    Case {
        limit: Limit::Disk,
        value: r#""2 MiB""#,
        exceeds: "with open(runtime.path('/tmp/large'), 'wb', buffering=0) as file:\n    \
                  for _ in range(128): file.write(bytes(1 << 16))\ntime.sleep(30)",
        felt: "OSError ENOSPC",
        outcome: "limit_exceeded: disk",
        result: none,
    },
    Case {
        limit: Limit::Inodes,
        value: "100",
        exceeds: "for number in range(1000): open(runtime.path(f'/tmp/small-{number}'), 'wb').close()\ntime.sleep(30)",
        felt: "OSError ENOSPC",
        outcome: "limit_exceeded: inodes",
        result: none,
    },
    Case {
        limit: Limit::DiskRate,
        value: r#""512 KiB""#,
        // The program starts in the workspace, which is on the host's disk.
        exceeds: "start = time.monotonic()\nwith open('rate', 'wb', buffering=0) as file:\n    \
                  for _ in range(16):\n        file.write(os.urandom(65536))\n        os.fsync(file)\n\
                  result = time.monotonic() - start",
        felt: "",
        outcome: "completed",
        // The program writes twice the allowance of one second; the kernel lets a first burst through.
        result: |ran, _| ran.result().as_f64().is_some_and(|took| took > 1.2),
    },
    Case {
        limit: Limit::Output,
        value: r#""2 KiB""#,
        exceeds: "print('x' * 100_000)\nresult = len(open(runtime.path('/results/stdout-1.txt')).read())",
        felt: "",
        outcome: "completed",
        result: |ran, _| {
            ran.stdout().len() < 2500 && ran.stdout().contains("bytes cut here") && ran.result() == 100_001
        },
    },
    Case {
        limit: Limit::HostCalls,
        value: "3",
        exceeds: "for number in range(5): await tools.stub.echo(message='x')",
        felt: "ToolError limit",
        outcome: "limit_exceeded: host_calls",
        result: none,
    },
    Case {
        limit: Limit::ConcurrentHostCalls,
        value: "2",
        exceeds: "start = time.monotonic()\nawait asyncio.gather(*[tools.stub.slow(seconds=0.2) for _ in range(6)])\n\
                  result = time.monotonic() - start",
        felt: "",
        outcome: "completed",
        // Six calls, two at a time, take three turns.
        result: |ran, _| ran.result().as_f64().is_some_and(|took| took > 0.55),
    },
    Case {
        limit: Limit::Network,
        value: r#""none""#,
        exceeds: "import socket\nsocket.socket(socket.AF_INET)",
        felt: "OSError EPERM",
        // Uncaught, the exception fails the run.
        outcome: "failed",
        result: none,
    },
];

fn none(ran: &CodeResult, _mode: Mode) -> bool {
    ran.result().is_null()
}

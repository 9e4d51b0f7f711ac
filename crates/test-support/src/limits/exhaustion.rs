//! Programs that exhaust the interpreter instead of the machine, and how each may end.

use std::time::Duration;

use serde_json::{Value, json};

/// A program that exceeds no kernel limit directly.
#[derive(Debug, Clone, Copy)]
pub struct Exhaustion {
    /// Also the name of its session.
    pub name: &'static str,
    /// Python source.
    pub program: &'static str,
    /// How the run may end; this depends on the version of Python and the machine's speed.
    pub outcomes: &'static [&'static str],
}

pub(super) const WALL_TIME: Duration = Duration::from_secs(2);

const TIME: &str = "timed_out";
const MEMORY: &str = "limit_exceeded: memory";
const FAILED: &str = "failed";

pub(super) fn limits() -> Value {
    json!({"wall_time": "2s", "cpu_time": "10s", "memory": "256 MiB", "disk": "8 MiB", "output": "64 KiB"})
}

/// Every program.
pub const EXHAUSTIONS: [Exhaustion; 16] = [
    Exhaustion {
        name: "recursion",
        program: "def down(n): return down(n + 1)\ndown(0)",
        outcomes: &[FAILED],
    },
    Exhaustion {
        name: "recursion-without-a-limit",
        program: "import sys\nsys.setrecursionlimit(10**9)\ndef down(n): return down(n + 1)\ndown(0)",
        outcomes: &[FAILED, MEMORY, TIME],
    },
    Exhaustion {
        name: "recursion-in-c",
        program: "import sys\nsys.setrecursionlimit(10**9)\nclass Down:\n    def __repr__(self): return repr(self)\nrepr(Down())",
        outcomes: &[FAILED, MEMORY, TIME],
    },
    Exhaustion {
        name: "recursion-in-a-result",
        program: "deep = []\nfor _ in range(200_000): deep = [deep]\nreturn deep",
        outcomes: &["completed"],
    },
    Exhaustion {
        name: "digits-of-an-integer",
        program: "import sys\nsys.set_int_max_str_digits(0)\nreturn len(str(1 << 33_219_280))",
        outcomes: &[TIME, "completed"],
    },
    Exhaustion {
        name: "digits-read",
        program: "import sys\nsys.set_int_max_str_digits(0)\nreturn int('9' * 10_000_000) > 0",
        outcomes: &[TIME, "completed"],
    },
    Exhaustion {
        name: "an-integer-as-result",
        program: "return 1 << 33_219_280",
        outcomes: &["completed", FAILED, TIME],
    },
    Exhaustion {
        name: "a-power",
        program: "return (3 ** (3 ** 18)) % 7",
        outcomes: &[TIME, "limit_exceeded: cpu_time", MEMORY, "completed"],
    },
    Exhaustion {
        // C085: the time limit stops a catastrophic regular expression.
        name: "a-regular-expression",
        program: "import re\nreturn re.match(r'(a+)+$', 'a' * 40 + '!')",
        outcomes: &[TIME, "limit_exceeded: cpu_time"],
    },
    Exhaustion {
        name: "deep-json",
        program: "import json\nreturn json.loads('[' * 1_000_000 + ']' * 1_000_000)",
        outcomes: &[FAILED],
    },
    Exhaustion {
        name: "deep-source",
        program: "return eval('-' * 1_000_000 + '1')",
        outcomes: &[FAILED, MEMORY],
    },
    Exhaustion {
        name: "a-huge-string",
        program: "return len('x' * (8 << 30))",
        outcomes: &[MEMORY],
    },
    Exhaustion {
        name: "a-huge-format",
        program: "return len('%2000000000d' % 1)",
        outcomes: &[MEMORY],
    },
    Exhaustion {
        name: "a-bomb-of-zeros",
        program: "import zlib\npacked = zlib.compress(bytes(64 << 20))\nreturn len(b''.join(zlib.decompress(packed) for _ in range(16)))",
        outcomes: &[MEMORY, TIME],
    },
    Exhaustion {
        name: "a-catastrophic-sort",
        program: "class Slow:\n    def __lt__(self, other): return sorted(Slow() for _ in range(3)) is None\nsorted([Slow(), Slow()])",
        outcomes: &[FAILED, TIME, "limit_exceeded: cpu_time"],
    },
    Exhaustion {
        name: "a-loop-in-c",
        program: "import itertools\nreturn sum(itertools.repeat(1))",
        outcomes: &[TIME, "limit_exceeded: cpu_time"],
    },
];

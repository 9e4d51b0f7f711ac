//! 59 distinct programs in three languages, over real servers, that are equal when they are repeated.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, long_form, run};

/// Time, randomness, calls of a real server, gathered calls, and failures.
const PYTHON: [&str; 33] = [
    "import time\ntime.time()",
    "import time\n[time.time_ns(), time.time_ns()]",
    "import datetime\nstr(datetime.datetime.now())",
    "from datetime import datetime\nprint(datetime.utcnow(), datetime.today())",
    "from datetime import datetime, timezone\ndatetime.now(timezone.utc).isoformat()",
    "import datetime\nstr(datetime.date.today())",
    "import time\n[list(time.localtime()), list(time.gmtime())]",
    "import time\n[time.ctime(), time.asctime(), time.strftime('%H:%M:%S')]",
    "import time\ntime.perf_counter()",
    "import random\nrandom.random()",
    "import random\n[random.randint(1, 10**9) for _ in range(50)]",
    "import random\nrows = list(range(30))\nrandom.shuffle(rows)\nrows",
    "import random\n[random.Random().random(), random.gauss(0, 1)]",
    "import random\nrandom.seed()\nrandom.getrandbits(100)",
    "import os\nos.urandom(16).hex()",
    "import secrets\n[secrets.token_hex(8), secrets.randbelow(10**9), secrets.choice('abcdef')]",
    "import uuid\n[str(uuid.uuid4()), str(uuid.uuid4())]",
    "import uuid\nstr(uuid.uuid1())",
    "random.seed(5)\nrandom.random()",
    "random.random()",
    "(await tools.time.get_current_time(timezone='Asia/Tokyo'))['datetime']",
    "await tools.calculator.calculate(expression=f'{random.randint(1, 99)} * 2')",
    "await tools.stub.pid()",
    "import asyncio\nsums = await asyncio.gather(*[tools.stub.add(a=n, b=random.randint(1, 99)) for n in range(20)])\n\
     [each['sum'] for each in sums]",
    "before = time.time()\nawait tools.stub.add(a=1, b=1)\nprint(f'took {time.time() - before:.9f} s')",
    "await asyncio.gather(tools.time.get_current_time(timezone='UTC'), tools.stub.echo(message=str(uuid.uuid4())))",
    "await tools.sqlite.read_query(query=f\"SELECT random() AS drawn, '{uuid.uuid4()}' AS id, datetime('now') AS at\")",
    "await asyncio.gather(tools.memory.read_graph(), tools.sqlite.list_tables(), tools.filesystem.list_allowed_directories())",
    "await tools.sqlite.read_query(query=f'SELECT {random.random()} FROM missing')",
    "print(time.time())\n1 / 0",
    "await tools.stub.add(a='no number', b=random.random())",
    "import sys\nprint(random.random(), file=sys.stderr)\nsys.exit(3)",
    "raise ValueError(f'at {datetime.now()} {secrets.token_hex(4)}')",
];

const TYPESCRIPT: [&str; 17] = [
    "Date.now()",
    "new Date().toISOString()",
    "[new Date().getTime(), +new Date(), Date()]",
    "const d: Date = new Date(); console.log(d instanceof Date, d.constructor === Date, new Date(0).toISOString())",
    "Math.random()",
    "Array.from({ length: 50 }, () => Math.floor(Math.random() * 1e9))",
    "crypto.randomUUID()",
    "[...crypto.getRandomValues(new Uint8Array(16))]",
    "performance.now()",
    "[process.hrtime(), performance.timeOrigin]",
    "(await tools.time.get_current_time({ timezone: \"Asia/Tokyo\" })).datetime",
    "await tools.calculator.calculate({ expression: `${Math.floor(Math.random() * 100)} + 1` })",
    "await tools.sqlite.read_query({ query: `SELECT random() AS drawn, '${crypto.randomUUID()}' AS id` })",
    "await Promise.all([1, 2, 3].map((n) => tools.stub.echo({ message: `${n} ${crypto.randomUUID()}` })))",
    "class Later extends Date {}\nnew Later().getTime()",
    "throw new Error(`at ${Date.now()} ${Math.random()}`)",
    "const start = Date.now(); await tools.stub.pid(); console.log(Date.now() - start)",
];

/// Without seconds: a program in bash that reads the clock late may see the next one.
const BASH: [&str; 9] = [
    "echo $RANDOM $RANDOM",
    "for n in 1 2 3; do echo $((RANDOM % 100)); done",
    "date +%Y-%m-%d",
    "date -d @5 -u +%s",
    "echo ${#EPOCHSECONDS}",
    "mcp call calculator.calculate expression=$((RANDOM % 100))+1",
    "mcp call time.get_current_time timezone=UTC | jq -r .datetime",
    "echo $RANDOM >&2; exit 4",
    "echo $RANDOM; no_such_command",
];

/// The number of recorded runs, for the long form: `cargo xtask replays`.
const VARIABLE: &str = "CODEYARD_REPLAYED_RUNS";

/// Runs the programs in this session; returns what `replay --recorded` says of the last, after all the others.
async fn repeated(client: &mut CodeClient, language: &str, session: &str, programs: &[&str]) -> Value {
    for code in programs {
        let asked = json!({"code": code, "language": language, "session": session});
        client.execute(asked).await;
    }
    let listed = super::runs(&client.codeyard, &[]).await;
    let last = listed[0]["run_id"].as_str().or_else(|| listed[0]["id"].as_str());
    let last = last.unwrap_or_else(|| panic!("{:?}", listed[0]));
    let again = ["runs", "replay", last, "--recorded", "--json"];
    let again = run(&client.codeyard, &again, "").await;
    serde_json::from_str(&again.out).unwrap_or_else(|_| panic!("{again:?}"))
}

#[expect(clippy::print_stdout, reason = "the result of the long form")]
fn show(runs: u64) {
    println!("{runs} recorded runs, repeated with equal results, output and calls");
}

/// A copy of the shell takes over after `exit`, and is seeded again.
#[tokio::test]
async fn a_shell_without_a_random_that_can_be_seeded_goes_on() {
    let codeyard = Codeyard::new()
        .unwrap()
        .settings("[records]\nrecord = \"replay\"\n");
    let mut client = CodeClient::of(codeyard).await;
    for (session, first) in [
        ("a", "set -eu; readonly RANDOM; exit 0"),
        ("b", "set -eu; unset RANDOM; exit 0"),
    ] {
        for code in [first, "echo on"] {
            let asked = json!({"code": code, "language": "shell", "session": session});
            let ran = client.execute(asked).await;
            assert_eq!(ran.status(), "completed", "{code}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn programs_with_time_and_randomness_are_repeated_equally() {
    let wanted = long_form(VARIABLE, 1);
    let codeyard = Codeyard::with_stub().unwrap().real_servers().unwrap();
    let codeyard = codeyard.settings("[records]\nrecord = \"replay\"\n");
    let mut client = CodeClient::of(codeyard).await;
    let (mut round, mut runs) = (0, 0);
    while runs < wanted {
        for (language, programs) in [
            ("python", &PYTHON[..]),
            ("typescript", &TYPESCRIPT),
            ("shell", &BASH),
        ] {
            let session = format!("{language}-{round}");
            let again = repeated(&mut client, language, &session, programs).await;
            assert_eq!(again["differences"], json!([]), "{session}");
            runs += programs.len() as u64;
        }
        round += 1;
    }
    show(runs);
}

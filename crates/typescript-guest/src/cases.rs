//! Runs the platform's cases, with Node's results as expectations, in the engine.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::json::well_formed;
use crate::places::Places;
use crate::run::run;
use guest_session::{Channel, Limits, RunFrame};

/// One case of `js/cases/<subject>.jsonl`.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    /// The body of an asynchronous function.
    code: String,
    expect: Value,
    /// Expected output.
    #[serde(default)]
    output: Option<String>,
}

/// Runs all cases of a subject, each in a directory of its own.
fn check(subject: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("js/cases/{subject}.jsonl"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Case> = text
        .lines()
        .map(|line| serde_json::from_str(&well_formed(line.to_owned())).expect("a case"))
        .collect();
    let mut engines = Engines::default();
    let failures: Vec<String> = cases.iter().filter_map(|case| engines.failure(case)).collect();
    assert!(
        failures.is_empty(),
        "{} of {} cases of {subject}:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// Cases in which the engine differs from Node, with the difference.
const DIFFERENCES: [(&str, &str); 8] = [
    ("blob read only", STRICT),
    ("set origin to http://z", STRICT),
    ("params size read only", STRICT),
    (
        "class that extends an anonymous class",
        "the engine names what Node leaves without a name",
    ),
    ("revoked proxy", "the engine does not tell a revoked proxy apart"),
    (
        "types of a proxy of a function",
        "the engine does not tell a proxy of a function apart",
    ),
    (
        "first refusal in order",
        "a function's text is printed anew, with double quotes",
    ),
    ("array toLocaleString", "arrays pass no locale on to their items"),
];
/// Programs are strict.
const STRICT: &str = "an assignment that has no effect in Node's cases fails in a program";

/// Cases that may affect later cases run in their own engine.
const LASTING: [&str; 11] = [
    "escape = ",
    "prototype",
    "globalThis",
    "process.",
    "defineProperty",
    "Object.assign",
    "delete ",
    "MaxListeners",
    "inspect.",
    "performance",
    "EventEmitter.",
];

/// Engines start slowly, so cases share one until a case may have changed it.
#[derive(Default)]
struct Engines {
    shared: Option<Engine>,
}

impl Engines {
    fn failure(&mut self, case: &Case) -> Option<String> {
        if DIFFERENCES.iter().any(|(name, _)| *name == case.name) {
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory");
        rustix::process::chdir(directory.path()).expect("it is there");
        let lasts = LASTING.iter().any(|word| case.code.contains(word));
        let kept = self.shared.take().filter(|_| !lasts);
        let engine =
            kept.unwrap_or_else(|| Engine::start(Places::default(), None).expect("the engine starts"));
        let (given, printed) = answer(&engine, &case.code);
        self.shared = Some(engine).filter(|_| !lasts);
        let is_printed = case.output.as_ref().is_none_or(|output| *output == printed);
        let is_right = is_printed && (given == case.expect || throws_alike(&given, &case.expect));
        (!is_right).then(|| {
            format!(
                "{}\n  code: {}\n  node: {} {:?}\n  here: {given} {printed:?}",
                case.name, case.code, case.expect, case.output
            )
        })
    }
}

/// Whether both are errors of the same class without a code: errors of the language, whose messages differ by engine.
fn throws_alike(given: &Value, expected: &Value) -> bool {
    let (given, expected) = (&given["throws"], &expected["throws"]);
    expected["code"].is_null()
        && given["code"].is_null()
        && !given.is_null()
        && given["name"] == expected["name"]
}

/// The code's result or error, in the form of the cases, and its output.
fn answer(engine: &Engine, code: &str) -> (Value, String) {
    let (channel, _host) = UnixStream::pair().expect("a pair of sockets");
    let program = format!(
        "return JSON.stringify((await (async () => {{\n{code}\n}})().then(\n\
         (value) => ({{ value: value === undefined ? null : value }}),\n\
         (error) => {{ const {{ name, message, code }} = Object(error); return {{ value: {{ throws: {{ name, message, code }} }} }}; }},\n\
         )).value) ?? \"null\";"
    );
    let frame = RunFrame::of(1, program);
    let done = run(engine, &Channel::new(channel), &frame, Limits::UNBOUNDED).expect("the channel is open");
    let done: Value = serde_json::from_slice(&done).expect("JSON");
    let printed = engine.shared.output.borrow().printed();
    let given = done["result"].as_str().map(|text| well_formed(text.to_owned()));
    let given = match given.as_deref().map(serde_json::from_str) {
        Some(Ok(given)) => given,
        _ => json!({ "failed": done }),
    };
    (given, printed)
}

macro_rules! subjects {
    ($($subject:ident),* $(,)?) => {
        $(
            #[test]
            fn $subject() {
                check(stringify!($subject));
            }
        )*

        /// Fails for a subject without a test.
        #[test]
        fn every_subject_has_a_test() {
            let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/cases");
            let mut found: Vec<String> = fs::read_dir(cases)
                .expect("there are cases")
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".jsonl").map(str::to_owned))
                .collect();
            found.sort();
            assert_eq!(found, [$(stringify!($subject)),*]);
        }
    };
}

subjects![
    assert,
    blob,
    buffer,
    buffer_numbers,
    buffer_search,
    console,
    crypto,
    encoding,
    event_target,
    events,
    events_async,
    fetch,
    format,
    fs,
    fs_promises,
    inspect,
    inspect_collections,
    inspect_special,
    intl_collator,
    intl_date,
    intl_number,
    intl_text,
    intl_words,
    modules,
    os,
    path,
    performance,
    process,
    query_string,
    string_decoder,
    structured_clone,
    timers,
    url,
    util,
];

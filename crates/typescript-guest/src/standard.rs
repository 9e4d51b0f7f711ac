//! Runs cases from ECMA-262 and the TypeScript handbook through the transformer, with Node's results as expectations.

use std::collections::BTreeMap;
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

/// One case of `js/standard/<group>.jsonl`.
#[derive(Debug, Deserialize)]
struct Case {
    /// A clause of ECMA-262, or a section of the handbook.
    section: String,
    name: String,
    /// The programs of a session; the last gives the value.
    programs: Vec<String>,
    /// Texts of files in the working directory.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Indices of failing programs before the last.
    #[serde(default)]
    fails: Vec<usize>,
    expect: Value,
}

fn cases(group: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("js/standard/{group}.jsonl"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(&well_formed(line.to_owned())).expect("a case"))
        .collect()
}

/// Runs all cases of a group, each in a session and a directory of its own.
fn check(group: &str) {
    let cases = cases(group);
    let problems: Vec<String> = cases.iter().filter_map(problem).collect();
    assert!(
        problems.is_empty(),
        "{} of {} cases of {group}:\n{}",
        problems.len(),
        cases.len(),
        problems.join("\n")
    );
}

/// An unlisted difference from Node, or a listed one that no longer exists.
fn problem(case: &Case) -> Option<String> {
    let known = DIFFERENCES.iter().find(|(name, _)| *name == case.name);
    let (given, fails) = answer(case);
    let is_alike = (given == case.expect || throws_alike(&given, &case.expect)) && fails == case.fails;
    let problem = match (known, is_alike) {
        (None, true) | (Some(_), false) => return None,
        (None, false) => "differs",
        (Some(_), true) => "is listed as a difference, but answers as Node does",
    };
    Some(format!(
        "{} {}: {problem}\n  programs: {}\n  node: {} {:?}\n  here: {given} {fails:?}",
        case.section,
        case.name,
        case.programs.join("\n  then: ").replace('\n', "\n    "),
        case.expect,
        case.fails
    ))
}

/// Whether both are errors of the same class. Messages differ by engine.
fn throws_alike(given: &Value, expected: &Value) -> bool {
    expected["throws"]["name"].is_string() && given["throws"]["name"] == expected["throws"]["name"]
}

/// The last program's result or error, and which of the others fail.
fn answer(case: &Case) -> (Value, Vec<usize>) {
    let directory = tempfile::tempdir().expect("a directory");
    rustix::process::chdir(directory.path()).expect("it is there");
    for (path, text) in &case.files {
        fs::write(path, text).expect("a file");
    }
    let engine = Engine::start(Places::default(), None).expect("the engine starts");
    let ends: Vec<Value> = (1..)
        .zip(&case.programs)
        .map(|(number, program)| end(&engine, number, program))
        .collect();
    let (last, earlier) = ends.split_last().expect("a program");
    let fails = (0..earlier.len()).filter(|index| earlier[*index]["error"].is_object());
    let given = match last.get("error") {
        Some(error) => json!({ "throws": { "name": error["kind"], "message": error["message"] } }),
        None => last.get("result").cloned().unwrap_or_default(),
    };
    (given, fails.collect())
}

/// The frame with which a program ends.
fn end(engine: &Engine, number: u64, program: &str) -> Value {
    let (channel, _host) = UnixStream::pair().expect("a pair of sockets");
    let frame = RunFrame::of(number, program.to_owned());
    let done = run(engine, &Channel::new(channel), &frame, Limits::UNBOUNDED).expect("the channel is open");
    serde_json::from_slice(&done).expect("JSON")
}

/// Cases in which a session differs from Node, with the reason.
const DIFFERENCES: [(&str, &str); 42] = [
    ("an assignment is the value", RESULT),
    ("a logical assignment is the value", RESULT),
    ("an update is the value", RESULT),
    ("a declaration has no value", RESULT),
    ("a lexical declaration has no value", RESULT),
    ("a class declaration has no value", RESULT),
    ("the value of a block", RESULT),
    ("the value of if", RESULT),
    ("the value of a loop", RESULT),
    ("the value of switch", RESULT),
    ("the value of try", RESULT),
    ("the value of a labelled block", RESULT),
    ("braces at the beginning are a block, not an object", RESULT),
    ("a label before a plain statement", RESULT),
    ("a const is not assigned to", VARIABLES),
    ("a const is not incremented", VARIABLES),
    ("a const is not assigned by a function", VARIABLES),
    ("a const of a destructuring is not assigned to", VARIABLES),
    ("an earlier const is not assigned", VARIABLES),
    ("a name in its dead zone", VARIABLES),
    ("a class in its dead zone", VARIABLES),
    ("globalThis is not assigned by names", VARIABLES),
    (
        "top-level names are no properties of the global object",
        VARIABLES,
    ),
    ("a declaration named undefined", VARIABLES),
    (
        "this at the top level",
        "a program is a function, whose `this` is the global object",
    ),
    ("an import is known before its line", IN_PLACE),
    ("an imported name follows the module", IN_PLACE),
    ("an imported name is not assigned", IN_PLACE),
    ("an import of a name that is declared too", IN_PLACE),
    ("an export of a name that is not declared", EXPORTS),
    ("export with an equals sign", EXPORTS),
    ("an update of a call", RUNS_UNTIL_THERE),
    ("an assignment to a call", RUNS_UNTIL_THERE),
    (
        "<!-- parses as operators in a module",
        "the engine follows the standard, `a < !(--a)`; Node reports a syntax error",
    ),
    (
        "accessors and methods on one name",
        "the parser keeps a rule of TypeScript: members of a class have different names",
    ),
    (
        "the text of a function that calls itself names it",
        "a function that uses its name is assigned without it, so that it finds a later function of the name",
    ),
    (
        "a parenthesized target gives no name",
        "the printer leaves the parentheses away",
    ),
    ("exported names are assigned", NAMESPACES),
    ("namespaces merge", NAMESPACES),
    ("a namespace of a later program merges", NAMESPACES),
    (
        "continue with another of several labels",
        "the engine finds only the last of several labels of a loop",
    ),
    (
        "spreads of objects",
        "the engine spreads no characters of a text into an object",
    ),
];

const RESULT: &str = "only a last expression is the result, and only if it is more than an assignment";
const VARIABLES: &str =
    "top-level names are properties of the global object, which later programs may assign";
const IN_PLACE: &str = "an import is awaited in its place, and binds the values that the module has then";
const EXPORTS: &str = "nobody imports from a program";
const RUNS_UNTIL_THERE: &str =
    "Node runs a program until there; here it is an error of syntax, as in the standard";
const NAMESPACES: &str = "the library makes copies of what a namespace exports";

macro_rules! groups {
    ($($group:ident),* $(,)?) => {
        $(
            #[test]
            fn $group() {
                check(stringify!($group));
            }
        )*

        const GROUPS: &[&str] = &[$(stringify!($group)),*];

        /// Fails for a group without a test.
        #[test]
        fn every_group_has_a_test() {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/standard");
            let mut found: Vec<String> = fs::read_dir(directory)
                .expect("there are cases")
                .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".txt").map(str::to_owned))
                .collect();
            found.sort();
            assert_eq!(found, GROUPS);
        }
    };
}

/// Each difference must belong to exactly one case.
#[test]
fn every_difference_is_one_case() {
    let names: Vec<String> = GROUPS
        .iter()
        .flat_map(|group| cases(group))
        .map(|case| case.name)
        .collect();
    for (difference, _) in DIFFERENCES {
        let found = names.iter().filter(|name| *name == difference).count();
        assert_eq!(found, 1, "{difference}");
    }
}

groups![
    assignment,
    classes,
    completion,
    control,
    declarations,
    expressions,
    functions,
    lexical,
    modules,
    scope,
    sessions,
    types_classes,
    types_enums,
    types_erased,
    types_modules,
];

//! Scans of many kinds of directories.

mod bounds;
mod classes;
mod notices;

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::read::MAX_FILE;
use crate::{MARK, ScannedTools, Scanner};

struct World {
    directory: TempDir,
}

impl World {
    fn of(files: &[(&str, &str)]) -> World {
        let world = World {
            directory: tempfile::tempdir().unwrap(),
        };
        for (name, text) in files {
            world.write(name, text);
        }
        world
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.directory.path().join("servers").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn scanner(&self) -> Scanner {
        Scanner::new(vec![self.directory.path().to_path_buf()])
    }

    /// With short paths.
    fn findings(&self, found: &ScannedTools) -> Vec<String> {
        let root = format!("{}/servers/", self.directory.path().display());
        let findings = found.findings.iter();
        findings
            .map(|finding| finding.to_string().replace(&root, ""))
            .collect()
    }
}

fn scan(scanner: &mut Scanner) -> std::sync::Arc<ScannedTools> {
    scanner.scan().expect("the first look tells everything")
}

fn names(found: &ScannedTools) -> Vec<String> {
    let servers = found.servers.iter();
    servers
        .flat_map(|server| server.files.iter())
        .map(|file| format!("{}.{}", file.server, file.tool.name))
        .collect()
}

// C178
#[test]
fn tools_are_files_in_directories_that_begin_with_no_underscore() {
    let world = World::of(&[
        ("weather/get.py", "def get(): 'a'"),
        ("calculator/multiply.py", "def multiply(a, b): 'a'"),
        ("calculator/add.py", "def add(a, b): 'a'"),
        ("calculator/__init__.py", "def no(): pass"),
        ("calculator/_helper.py", "def no(): pass"),
        ("calculator/.hidden.py", "def no(): pass"),
        ("calculator/notes.txt", "x"),
        ("calculator/deeper/no.py", "def no(): pass"),
        ("__pycache__/no.py", "def no(): pass"),
        ("_private/no.py", "def no(): pass"),
        ("empty/readme.md", ""),
        ("loose.py", "def no(): pass"),
    ]);
    let found = scan(&mut world.scanner());
    assert_eq!(
        names(&found),
        ["calculator.add", "calculator.multiply", "weather.get"]
    );
    assert_eq!(world.findings(&found), [""; 0]);
    let inner = world.directory.path().join("servers");
    assert_eq!(names(&scan(&mut Scanner::new(vec![inner]))), names(&found));
}

// C179
#[test]
fn a_file_is_seen_when_it_comes_changes_and_goes() {
    let world = World::of(&[("a/one.py", "def one(): 'first'"), ("b/two.py", "def two(): 'x'")]);
    let mut scanner = world.scanner();
    let first = scan(&mut scanner);
    assert_eq!(scanner.scan(), None);
    world.write("a/one.py", "def one(): 'other'");
    let second = scanner.scan().expect("a change of the same length");
    let described = |found: &ScannedTools| found.file("a", "one").unwrap().tool.description.clone().unwrap();
    assert_eq!(
        (described(&first), described(&second)),
        ("first".into(), "other".into())
    );
    let list = |found: &ScannedTools, at: usize| found.servers[at].listed.tools.clone().unwrap();
    assert!(std::sync::Arc::ptr_eq(&list(&first, 1), &list(&second, 1)));
    world.write(
        "units/convert.py",
        "def convert(km: float) -> float: 'Kilometres to miles'",
    );
    assert_eq!(
        names(&scanner.scan().unwrap()),
        ["a.one", "b.two", "units.convert"]
    );
    fs::remove_dir_all(world.directory.path().join("servers/a")).unwrap();
    assert_eq!(names(&scanner.scan().unwrap()), ["b.two", "units.convert"]);
    fs::remove_dir_all(world.directory.path().join("servers")).unwrap();
    assert_eq!(names(&scanner.scan().unwrap()), [""; 0]);
}

// C181
#[test]
fn what_cannot_be_a_tool_is_told_and_the_rest_found() {
    let world = World::of(&[
        ("good/tool.py", "def tool(): 'Works'"),
        ("bad/broken.py", "def ("),
        ("bad/later.py", "def later():\n    'x'\n    return 1 +\n"),
        ("bad/none.py", "x = 1\n"),
        ("bad/only_private.py", "def _x(): pass\n"),
        ("bad/null.py", "def null(): '\0'"),
        ("bad/import.py", "def import_(): 'x'"),
        ("bad/a-b.py", "def a_b(): 'x'"),
        ("bad/1st.py", "def first(): 'x'"),
        ("class/tool.py", "def tool(): 'x'"),
        ("odd/silent.py", "def silent(a, b=1): return a"),
        ("odd/two.py", "\ndef first(): 'x'\ndef second(): 'y'"),
        ("odd/stars.py", "def stars(*args, **kwargs): 'x'"),
    ]);
    world.write("bad/latin.py", b"def latin(): '\xe9'");
    world.write("bad/big.py", vec![b'#'; usize::try_from(MAX_FILE).unwrap() + 1]);
    fs::create_dir(world.directory.path().join("servers/bad/directory.py")).unwrap();
    let pipe = world.directory.path().join("servers/bad/pipe.py");
    rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("pipe.py", world.directory.path().join("servers/bad/piped.py")).unwrap();
    symlink("/dev/zero", world.directory.path().join("servers/bad/endless.py")).unwrap();
    symlink("/etc/hostname", world.directory.path().join("servers/bad/out.py")).unwrap();
    symlink("nowhere", world.directory.path().join("servers/bad/dangling.py")).unwrap();
    symlink("tool.py", world.directory.path().join("servers/good/same.py")).unwrap();
    symlink("/tmp", world.directory.path().join("servers/elsewhere")).unwrap();
    let found = scan(&mut world.scanner());
    assert_eq!(
        names(&found),
        ["good.same", "good.tool", "odd.silent", "odd.stars", "odd.two"]
    );
    let findings = world.findings(&found);
    let expected = [
        ("bad/1st.py: ", "not a Python name; rename it"),
        ("bad/a-b.py: ", "not a Python name; rename it"),
        ("bad/big.py: ", "larger than 256 KiB"),
        ("bad/broken.py:1: ", "is not valid Python: "),
        ("bad/dangling.py: ", "no such file"),
        ("bad/directory.py: ", "is not a regular file"),
        ("bad/endless.py: ", "leads out of the directory"),
        ("bad/import.py: ", "a Python keyword"),
        ("bad/later.py:3: ", "is not valid Python: "),
        ("bad/latin.py: ", "not UTF-8 text (byte 14)"),
        ("bad/none.py: ", "has no function"),
        ("bad/null.py: ", "null byte"),
        ("bad/only_private.py: ", "has no function"),
        ("bad/out.py: ", "leads out of the directory"),
        ("bad/pipe.py: ", "is not a regular file"),
        ("bad/piped.py: ", "is not a regular file"),
        ("class: ", "a Python keyword"),
        ("elsewhere: ", "leads out of the directory"),
        ("odd/silent.py:1: ", "has no docstring"),
        ("odd/stars.py:1: ", "`*args`"),
        ("odd/two.py:2: ", "the tool is the first one, `first`"),
    ];
    assert_eq!(findings.len(), expected.len(), "{findings:#?}");
    for (finding, (place, message)) in findings.iter().zip(expected) {
        assert!(
            finding.starts_with(place) && finding.contains(message),
            "{finding}"
        );
    }
    let used: Vec<bool> = found.findings.iter().map(|finding| finding.is_used).collect();
    assert!(used.iter().rev().take(3).all(|used| *used) && !used.iter().rev().skip(3).any(|used| *used));
}

#[test]
fn syntax_of_a_newer_python_is_told_with_its_line() {
    let row = "def f(row: dict):\n    'Shows'\n    return ";
    for (text, told) in [
        (format!("{row}f\"{{row['name']}}\""), None),
        (
            format!("{row}f\"{{row[\"name\"]}}\""),
            Some("3: reuse outer quote: 3.12"),
        ),
        (format!("type X = int\n{row}row"), Some("1: `type` alias: 3.12")),
        (
            "\ndef f[T](a: T):\n    'Shows'".to_owned(),
            Some("2: type parameter: 3.12"),
        ),
        (format!("{row}t'{{row}}'"), Some("3: t-strings: 3.14")),
        (
            "def f():\n    'Shows'\n    try:\n        pass\n    except* OSError:\n        pass".to_owned(),
            Some("5: `except*`: 3.11"),
        ),
        (
            format!("{row}1\ndef g():\n    match 1:\n        case 1: pass"),
            None,
        ),
    ] {
        let world = World::of(&[("s/f.py", &text)]);
        let found = scan(&mut world.scanner());
        assert_eq!(names(&found), ["s.f"], "{text}");
        let findings = world.findings(&found);
        assert_eq!(
            findings.len(),
            usize::from(told.is_some()),
            "{text}: {findings:?}"
        );
        let mut parts = told.into_iter().flat_map(|told| told.split(": "));
        assert!(
            parts.all(|part| findings[0].contains(part))
                && found.findings.iter().all(|finding| finding.is_used),
            "{text}: {findings:?}"
        );
        assert!(
            told.is_none_or(|told| findings[0].starts_with(&format!("s/f.py:{}: may be", &told[..1]))),
            "{findings:?}"
        );
    }
}

#[test]
fn an_earlier_directory_goes_first_and_generated_files_are_left_to_their_server() {
    let first = World::of(&[("a/one.py", "def one(): 'first'")]);
    let second = World::of(&[
        ("a/one.py", "def one(): 'second'"),
        ("a/two.py", "def two(): 'x'"),
        ("stub/echo.py", &format!("{MARK} of server stub\ndef echo(): 'x'")),
    ]);
    let directories = [&first, &second].map(|world| world.directory.path().to_path_buf());
    let found = scan(&mut Scanner::new(directories.to_vec()));
    assert_eq!(names(&found), ["a.one", "a.two"]);
    assert_eq!(
        found.file("a", "one").unwrap().tool.description.as_deref(),
        Some("first")
    );
    assert!(second.findings(&found)[0].starts_with("a/one.py: is not used: an earlier directory"));
    let missing = first.directory.path().join("missing");
    let found = scan(&mut Scanner::new(vec![missing]));
    assert!(found.findings[0].message.contains("no such file or directory"));
}

#[test]
fn a_directory_that_is_given_twice_counts_once() {
    let world = World::of(&[("a/one.py", "def one(): 'x'")]);
    let given = world.directory.path();
    let link = tempfile::tempdir().unwrap();
    let link = link.path().join("link");
    symlink(given, &link).unwrap();
    let inner = given.join("servers");
    let again = given.join("servers/../servers/.");
    let directories = vec![given.to_path_buf(), inner, again, link, given.to_path_buf()];
    let found = scan(&mut Scanner::new(directories));
    assert_eq!(names(&found), ["a.one"]);
    assert_eq!(found.findings, []);
}

fn tool(source: &str) -> Value {
    let world = World::of(&[("s/t.py", source)]);
    let found = scan(&mut world.scanner());
    let file = found
        .file("s", "t")
        .unwrap_or_else(|| panic!("{:?}", found.findings));
    serde_json::from_str(file.tool.definition().get()).unwrap()
}

#[track_caller]
fn check(parameter: &str, expected: Value) {
    let classes = "
class Point(TypedDict):
    x: int
    y: NotRequired[float]
@dataclass
class Node:
    name: str
    next: 'Node | None' = None
class Plain: pass
";
    let tool = tool(&format!("{classes}\ndef t({parameter}): 'x'"));
    assert_eq!(tool["inputSchema"]["properties"]["p"], expected, "{parameter}");
}

#[test]
fn annotations_become_schemas() {
    check("p", json!({}));
    check("p: int", json!({"type": "integer"}));
    check("p: float = -1.5", json!({"type": "number", "default": -1.5}));
    check(
        "p: str = None",
        json!({"type": ["string", "null"], "default": null}),
    );
    check(
        "p: dict | list = None",
        json!({"anyOf": [{"type": "object"}, {"type": "array"}, {"type": "null"}], "default": null}),
    );
    check(
        "p: Optional[int] = None",
        json!({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null}),
    );
    check(
        "p: Literal['fast', 'slow'] = None",
        json!({"enum": ["fast", "slow", null], "default": null}),
    );
    check("p: Unknown = None", json!({"default": null}));
    check("p: 'bool'", json!({"type": "boolean"}));
    check(
        "p: list[int]",
        json!({"type": "array", "items": {"type": "integer"}}),
    );
    check("p: typing.List", json!({"type": "array"}));
    check(
        "p: tuple[int, ...]",
        json!({"type": "array", "items": {"type": "integer"}}),
    );
    check(
        "p: dict[str, float]",
        json!({"type": "object", "additionalProperties": {"type": "number"}}),
    );
    check("p: dict", json!({"type": "object"}));
    check(
        "p: Optional[int]",
        json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    );
    check(
        "p: int | str | None",
        json!({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),
    );
    check("p: Union[int, Unknown]", json!({}));
    check("p: Literal['a', 1, None]", json!({"enum": ["a", 1, null]}));
    check(
        "p: Annotated[int, 'how many', 5]",
        json!({"type": "integer", "description": "how many"}),
    );
    check("p: Plain = object()", json!({}));
    check("p: [1, 2]", json!({}));
    let point = json!({"type": "object", "required": ["x"], "properties": {
        "x": {"type": "integer"}, "y": {"type": "number"}}});
    check("p: Point", point.clone());
    check("p: list[Point]", json!({"type": "array", "items": point}));
}

#[test]
fn classes_that_hold_themselves_end_somewhere() {
    let tool = tool("@dataclass\nclass N:\n  n: 'N | None'\n  m: list[N]\ndef t(p: N) -> N: 'x'");
    let depth = tool["inputSchema"].to_string().matches("properties").count();
    assert!((2..2_000).contains(&depth), "{depth}");
}

#[test]
fn the_function_and_its_docstring_are_the_definition() {
    let tool = tool(
        "def helper(): 'not this'\n\nasync def t(city, days=3, *, units: Literal['c', 'f'] = 'c', **more) -> list[float]:\n    \
         \"\"\"Forecast of a city.\n\n    Args:\n        city (str): where,\n            with the country\n        days: how many\n\n    \
         Returns:\n        temperatures\n    \"\"\"\n    return []\n",
    );
    assert!(
        tool["description"]
            .as_str()
            .unwrap()
            .starts_with("Forecast of a city.\n\nArgs:\n    city")
    );
    assert_eq!(
        tool["inputSchema"],
        json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "where, with the country"},
            "days": {"default": 3, "description": "how many"},
            "units": {"enum": ["c", "f"], "default": "c"}}})
    );
    assert_eq!(
        tool["outputSchema"],
        json!({"type": "array", "items": {"type": "number"}})
    );
}

#[test]
fn other_docstrings_are_read_too() {
    for docstring in [
        ":param city: where\n    :param int days: how many",
        "Parameters\n    ----------\n    city : str\n        where\n    days : int, optional\n        how many\n\n    Returns\n    -------\n    x : int",
    ] {
        let tool = tool(&format!(
            "def t(city: str, days=1):\n    \"\"\"Weather.\n\n    {docstring}\n    \"\"\""
        ));
        let properties = &tool["inputSchema"]["properties"];
        assert_eq!(properties["city"]["description"], "where", "{tool}");
        assert_eq!(
            properties["days"],
            json!({"type": "integer", "default": 1, "description": "how many"})
        );
        assert_eq!(properties.as_object().unwrap().len(), 2);
    }
}

#[test]
fn without_a_docstring_the_description_is_the_call() {
    assert_eq!(tool("def t(a, b, /, c=1, *d): pass")["description"], "t(a, b, c)");
}

#[test]
fn deep_and_unfinished_files_end_nothing() {
    let deep = |open: &str, close: &str, count: usize| {
        format!(
            "def t():\n    'x'\n    return {}{}",
            open.repeat(count),
            close.repeat(count)
        )
    };
    let world = World::of(&[
        ("s/brackets.py", &deep("(", ")", 100_000)),
        ("s/open.py", &deep("[", "", 100_000)),
        ("s/short.py", &deep("[", "", 7_000)),
        ("s/minus.py", &deep("-", "", 100_000)),
        ("s/fine.py", "def fine(p: 'list[' 'int]'): 'x'"),
        ("s/text.py", &format!("def text(p: '{}'): 'x'", "-".repeat(5_000))),
    ]);
    let found = scan(&mut world.scanner());
    assert_eq!(names(&found), ["s.fine", "s.text"]);
    assert_eq!(found.findings.len(), 4, "{:?}", found.findings);
}

#[test]
fn a_thousand_tools_are_read_at_once() {
    let world = World::of(&[]);
    for server in 0..100 {
        for tool in 0..10 {
            let text = format!(
                "def tool{tool}(a: int, b: str = 'x') -> dict[str, int]:\n    '''Does {tool}.\n\n    Args:\n        a: one\n    '''\n    return {{}}\n"
            );
            world.write(&format!("server{server}/tool{tool}.py"), text);
        }
    }
    let mut scanner = world.scanner();
    let begun = Instant::now();
    let found = scan(&mut scanner);
    let first = begun.elapsed();
    assert_eq!(names(&found).len(), 1_000);
    let begun = Instant::now();
    assert_eq!(scanner.scan(), None);
    let again = begun.elapsed();
    // A build without optimisation on a busy machine.
    assert!(
        first < Duration::from_secs(5) && again < Duration::from_secs(2),
        "{first:?} {again:?}"
    );
}

proptest! {
    #[test]
    fn no_file_is_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..80), text in "(def t\\(|\\)|:|a|int|=|\\[|\\]|'|\"\"\"|\n|    |class N\\(TypedDict\\):|,|\\*|->|Args:| ){0,40}") {
        let world = World::of(&[]);
        world.write("s/a.py", bytes);
        world.write("s/b.py", text);
        scan(&mut world.scanner());
    }
}

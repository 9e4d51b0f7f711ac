//! Programs made to exhaust their reader.

use std::sync::Arc;

use catalog::Catalog;
use check::{Names, Program, View, judge};
use proptest::{collection, prelude::*, sample};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool};

use super::report_after;

/// Pieces that nest, and pieces that seem to end nesting.
const PIECES: &[&str] = &[
    "[",
    "(",
    "{",
    "]",
    ")",
    "}",
    ",",
    ";",
    ":",
    "\n",
    " ",
    "lambda a,b:",
    "lambda:",
    "lambda a=",
    "not ",
    "1+",
    "a.",
    "a[",
    "f(",
    "f'{",
    "}'",
    "x if y else ",
    "await ",
    "x=",
    "x:=",
    "if x: ",
    "*",
    "**",
    "-",
    "for x in ",
    "async ",
    "class A: ",
    "\n if x:\n",
    "def f(): ",
    "match x:\n case ",
    "(yield ",
    "x=[",
    "'a'",
    "a<",
];

#[test]
fn what_is_not_checked_is_told() {
    let told = |earlier: &[&str], source: &str, expected: Option<&str>| {
        let mut names = Names::default();
        for source in earlier {
            names.take(Program::read(source, &names).left());
        }
        assert_eq!(
            Program::read(source, &names).unchecked(),
            expected,
            "{earlier:?} {source}"
        );
    };
    let changes = Some("the program may change what any name stands for");
    let large = Some("the program is too large to be checked");
    let call = "await tools.crm.nope()";
    told(&[], call, None);
    told(&[], "x = eval('1')", None);
    told(&[], "x = eval('1')\nawait tools.crm.nope()", changes);
    told(&[], &format!("{call}\n{}", "x = 1\n".repeat(100_000)), large);
    told(&[], &format!("{call}\nx = {}1", "not ".repeat(1_000)), large);
    told(
        &["exec('')"],
        call,
        Some("an earlier run of the session may have changed what any name stands for"),
    );
    told(&["exec('')"], "x = 1", None);
    told(&["from math import *"], call, None);
}

/// Schemas of results cannot make the search for a field expensive.
#[test]
fn fields_are_looked_for_in_bounded_time() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../test-support/schemas/hostile.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let mut tried = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let tools = case["tools"].as_array().into_iter().flatten();
        for definition in tools.filter(|tool| tool.get("outputSchema").is_some()) {
            let Ok(mut tool) = Tool::parse(to_raw_value(definition).unwrap()) else {
                continue;
            };
            tool.name = "tool".into();
            let catalog = Catalog::build(&[ServerTools {
                name: "odd".to_owned(),
                description: None,
                cwd: None,
                tools: Some(Arc::new([Arc::new(tool)])),
            }]);
            let view = View {
                catalog: &catalog,
                may_call: &|_| true,
                check: &|entry| Arc::new(entry.check()),
                learned: &|_| None,
                own_tools: &[],
                takes_positional: &|_| false,
            };
            for step in ["['a']", "[0]"] {
                let source = format!("r = await tools.odd.tool()\nif False: r{}", step.repeat(60));
                let begun = std::time::Instant::now();
                judge(&Program::read(&source, &Names::default()), &view);
                assert!(begun.elapsed().as_secs() < 2, "{}", case["why"]);
            }
            tried += 1;
        }
    }
    assert!(tried >= 5, "{tried}");
}

/// One server with thousands of tools, and a program in which every tool's name is wrong.
#[test]
fn many_wrong_names_cost_little() {
    let tools = (0..2_000).map(|n| {
        let definition = json!({"name": format!("get_customer_record_{n}"), "inputSchema": {}});
        Arc::new(Tool::parse(to_raw_value(&definition).unwrap()).unwrap())
    });
    let catalog = Catalog::build(&[ServerTools {
        name: "crowd".to_owned(),
        description: None,
        cwd: None,
        tools: Some(tools.collect()),
    }]);
    let asked = std::cell::Cell::new(0_usize);
    let view = View {
        catalog: &catalog,
        may_call: &|_| {
            asked.set(asked.get() + 1);
            true
        },
        check: &|entry| Arc::new(entry.check()),
        learned: &|_| None,
        own_tools: &[],
        takes_positional: &|_| false,
    };
    let lines = |name: &dyn Fn(usize) -> String| -> String {
        (0..1_000)
            .map(|n| format!("await tools.crowd.{}()\n", name(n)))
            .collect()
    };
    // Only listed names are looked up among all tools, each different one once.
    for (source, names) in [
        (lines(&|_| "get_custmer_record".to_owned()), 1),
        (lines(&|n| format!("get_custmer_{n}")), 20),
    ] {
        asked.set(0);
        let report = judge(&Program::read(&source, &Names::default()), &view);
        assert_eq!((report.findings.len(), report.more), (20, 980));
        assert!(asked.get() <= names * 2_000 + 3_000, "{}", asked.get());
    }
}

#[test]
fn programs_that_grow_are_read_in_bounded_time() {
    let chain = |count: usize, line: &dyn Fn(usize) -> String| -> String { (0..count).map(line).collect() };
    let nested = chain(11_000, &|n| format!("a{}=dict(p=a{n})\n", n + 1));
    let doubled = chain(40, &|n| format!("a{}=dict(p=a{n},q=a{n})\n", n + 1));
    let listed = chain(40, &|n| format!("a{}=[a{n},a{n}]\n", n + 1));
    let grown = chain(8_000, &|n| format!("d = {{**d, 'k{n}': 1}}\n"));
    let keys = chain(24_000, &|n| format!("'{n}':1,"));
    let values = "1,".repeat(9_000);
    let loops = chain(90, &|n| format!("{}while x:\n", " ".repeat(n)));
    let names = chain(9_000, &|n| format!("a{n}=1;"));
    let each = [
        format!("a0=dict(p=1)\n{nested}"),
        format!("a0=1\n{doubled}x=dict(p=a40,q=a40)\nif True:\n    x=dict(p=a40,q=a40)\n"),
        format!("a0=1\n{listed}x=[a40]\nif True:\n    x=[a40]\nfor y in x: pass\n"),
        format!(
            "r = await tools.crm.note(text='a')\n{}",
            "r=r['a']\n".repeat(20_000)
        ),
        format!(
            "r = await tools.crm.note(text='a')\n{}",
            format!("r=r['{}']\n", "a".repeat(200)).repeat(1_000)
        ),
        format!("x = {{{keys}}}\nawait tools.crm.note(**x)"),
        format!("d = {{}}\n{grown}"),
        format!(
            "x = [{values}]\n{}",
            "await tools.crm.note(tags=x)\n".repeat(4_000)
        ),
        format!("x = [{values}]\n{}", "for y in x: pass\n".repeat(10_000)),
        format!("x = '{}'\n{}", "a".repeat(100_000), "y=x;z=y\n".repeat(15_000)),
        format!("x = tools.{}\n{}", "a".repeat(100_000), "x.b()\n".repeat(20_000)),
        format!("{loops}{}{names}\n", " ".repeat(90)),
        format!(
            "x = {}1{}",
            "runtime.call_tool(server=".repeat(50),
            ")".repeat(50)
        ),
        chain(3_000, &|n| format!("from mcp.servers.a{n} import *\n")) + &"x=y\n".repeat(20_000),
        format!("if 0: x = {}1", "lambda a,b:".repeat(1_200)),
        format!("x = {}1", "lambda a,b:".repeat(20_000)),
        format!("x = ({}1)", "lambda a,b:".repeat(20_000)),
        format!("x = ({}1)", "lambda a=lambda b,c: 1,d:".repeat(9_000)),
        format!("x = {}", format!("{};", "[".repeat(100)).repeat(300)),
        format!("x = {}", "[)".repeat(50_000)),
        format!("x = {}", "f'{".repeat(50_000)),
    ];
    for source in each {
        let begun = std::time::Instant::now();
        let report = report_after(&[], &source);
        let (took, start) = (begun.elapsed(), &source[..source.len().min(60)]);
        assert!(report.findings.len() <= 20);
        // Without the bounds, these take minutes or crash the process.
        assert!(took.as_secs() < 10, "{took:?} {start}");
    }
}

proptest! {
    #[test]
    fn what_the_guard_lets_through_is_read(parts in collection::vec((sample::select(PIECES), 1_usize..300), 1..12)) {
        let source: String = parts.iter().map(|(piece, times)| piece.repeat(*times)).collect();
        let closed = ["", "1", "1)", "1]", "1}"].map(|end| format!("{source}{end}"));
        for source in closed.iter().chain([&format!("if x: y = {source}1")]) {
            report_after(&[], source);
        }
    }
}

#[test]
fn what_is_read_in_place_takes_half_a_small_stack() {
    let read = || {
        for piece in PIECES {
            for times in 1..80 {
                for end in ["", "1", "1)", "1]", "1}"] {
                    report_after(&[], &format!("x = {}{end}", piece.repeat(times)));
                    report_after(&[], &format!("{}{end}", piece.repeat(times)));
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(1024 * 1024);
    thread.spawn(read).unwrap().join().unwrap();
}

#[test]
fn hostile_programs_end_soon() {
    let each = [
        "(".repeat(100_000),
        format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("{}1", "not ".repeat(100_000)),
        format!("x = {}", "a.".repeat(100_000) + "b"),
        format!("x = {}1", "1+".repeat(100_000)),
        format!("x = a{}", "()".repeat(50_000)),
        format!("{}1", "lambda: ".repeat(10_000)),
        format!("x = {}1", "1 if 1 else ".repeat(20_000)),
        "x = 1\n".repeat(200_000),
        "tools.crm.nope()\n".repeat(20_000),
        (0..90)
            .map(|n| format!("{}if x:\n", " ".repeat(n)))
            .collect::<String>()
            + &" ".repeat(90)
            + "tools.crm.nope()",
        (0..60)
            .map(|n| format!("{}while x:\n", " ".repeat(n)))
            .collect::<String>()
            + &" ".repeat(60)
            + "x = tools",
        "tools.crm.note(text='\0')".to_owned(),
        "\u{feff}await tools.crm.note(text='')".to_owned(),
        "é = '\u{202e}'\n\r\u{c}tools".to_owned(),
        String::new(),
    ];
    for source in each {
        let report = report_after(&[], &source);
        assert!(report.findings.len() <= 20 && report.lines().len() <= 21);
    }
}

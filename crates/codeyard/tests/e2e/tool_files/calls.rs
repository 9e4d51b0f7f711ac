//! Calls of tool files: every form, values, errors, loading and records.

use std::fs;

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, CommandOutput, ServerDefinition, run};

use super::{ADD, client, with_files};

// C197
#[tokio::test]
async fn imported_functions_are_called_by_position() {
    let (_, mut client) = client(&[]).await;
    let code = "from servers.calculator import calculate, add, multiply\nprint(calculate('2*(3+4)'), add(2,3), multiply(4,7))";
    client.check(code, "14 5 28\n").await;
}

#[tokio::test]
async fn every_form_reaches_the_function() {
    let (_, mut client) = client(&[]).await;
    for code in [
        "print(await tools.calculator.add(a=1, b=2))",
        "print(await tools.calculator.add({'a': 1, 'b': 2}))",
        "print(await tools.calculator.add(1, b=2))",
        "print(await mcp_calculator.add(a=1, b=2))",
        "print(await mcp_servers['calculator'].add(a=1, b=2))",
        "from mcp.servers.calculator import *\nprint(await add(a=1, b=2))",
        "from tools.calculator.add import add\nprint(await add(a=1, b=2))",
        "print(await __toolcall__('calculator', 'add', {'a': 1, 'b': 2}))",
        "import servers.calculator\nprint(servers.calculator.add(1, 2))",
        "import servers.calculator.add\nprint(servers.calculator.add(1, 2))",
        "from servers.calculator.add import add\nprint(add(1, 2))",
        "print(servers.calculator.add({'a': 1, 'b': 2}))",
        "print(call_mcp_tool('calculator__add', {'a': 1, 'b': 2}))",
        "print(call_mcp_tool('calculator', 'add', {'a': 1, 'b': 2}))",
        "print(await runtime.call_tool('calculator', 'add', {'a': 1, 'b': 2}))",
        "import asyncio\nprint((await asyncio.gather(*[tools.calculator.add(a=1, b=n) for n in range(40)]))[2])",
    ] {
        client.check(code, "3\n").await;
    }
    client
        .check("print(call_mcp_tool('stub__echo', {'message': 'hi'}))", "hi\n")
        .await;
}

#[tokio::test]
async fn a_description_matches_the_function() {
    let (_, mut client) = client(&[]).await;
    let code = "import inspect\nfrom servers.units import convert\nprint(inspect.signature(convert))\nprint(convert.__doc__)\n\
        print((await tools.units.convert(value=16.09344))['miles'])";
    let shown = "(value, unit=Ellipsis)\nconvert(value: float, unit: str = 'km') -> dict[str, float]\n\n\
        Convert kilometres to miles.\nconverting\n10.0\n";
    client.check(code, shown).await;
}

// C187
#[tokio::test]
async fn only_called_files_are_loaded() {
    let (_, mut client) = client(&[]).await;
    let code = "import sys, os\nfrom servers.calculator import add\nadd(5, 3)\n\
        print([name for name in sorted(sys.modules) if name.startswith('servers.')])\n\
        print(os.path.exists('/tools/units/convert.py'))";
    client
        .check(code, "['servers.calculator', 'servers.calculator.add']\nTrue\n")
        .await;
}

#[tokio::test]
async fn tools_call_tools() {
    let (_, mut client) = client(&[
        (
            "chain/twice.py",
            "from servers.calculator import add\n\ndef twice(x: float):\n    'Twice'\n    return add(x, x)\n",
        ),
        (
            "chain/said.py",
            "async def said(x: str):\n    'Echo'\n    return (await tools.stub.echo(message=x)).upper()\n",
        ),
        (
            "chain/names.py",
            "def names():\n    'Names'\n    return call_mcp_tool('stub__add', {'a': 1, 'b': 2})['sum']\n",
        ),
    ])
    .await;
    client
        .check(
            "print(await tools.chain.twice(x=4), await tools.chain.said(x='hi'))",
            "8 HI\n",
        )
        .await;
    client
        .check(
            "from servers.chain import said, names\nprint(said('yes'), names())",
            "YES 3\n",
        )
        .await;
}

#[tokio::test]
async fn values_keep_their_types() {
    let (_, mut client) = client(&[
        (
            "data/pair.py",
            "def pair(a, /, b=2, *, c: dict = None):\n    'Values'\n    return (a, b, c)\n",
        ),
        ("data/point.py", include_str!("calls/point.py")),
    ])
    .await;
    client
        .check(
            "print(await tools.data.pair(a=1, c={'k': 1}))",
            "(1, 2, {'k': 1})\n",
        )
        .await;
    client
        .check(
            "from servers.data import pair\nprint(pair({'x': 1}))",
            "({'x': 1}, 2, None)\n",
        )
        .await;
    client
        .check(
            "from servers.data import point\nmoved = point(p={'x': 1})\nprint(moved, point(moved).x)",
            "Point(x=2, y=0) 3\n",
        )
        .await;
    let ran = client.run("return await tools.data.point(p={'x': 1})").await;
    assert_eq!(ran.result(), &json!({"x": 2, "y": 0}), "{ran:?}");
}

#[tokio::test]
async fn wrong_arguments_are_reported_before_and_at_the_call() {
    let (_, mut client) = client(&[]).await;
    let refused = client.run("await tools.calculator.add(a='x', b=1)").await;
    assert_eq!(refused.status(), "refused", "{refused:?}");
    let code = "from servers.calculator import add\n\
        for given in [(1, 'x'), (1, 2, 3), (1,)]:\n    try:\n        add(*given)\n    except Exception as error:\n        print(type(error).__name__, error)";
    let shown = "ToolError calculator.add: argument 'b' must be float, not str 'x' (add(a: float, b: float))\n\
        TypeError servers.calculator.add takes 2 positional arguments but 3 were given\n\
        ToolError calculator.add: missing required argument 'b': float (add(a: float, b: float))\n";
    client.check(code, shown).await;
}

#[tokio::test]
async fn an_exception_is_a_tool_error_with_the_lines_of_the_file() {
    let (_, mut client) = client(&[(
        "math/divide.py",
        "def divide(a: int):\n    'Divides'\n    return a / 0\n",
    )])
    .await;
    let ran = client.run("await tools.math.divide(a=1)").await;
    assert_eq!(ran.status(), "failed");
    for part in [
        "/tools/math/divide.py\", line 3",
        "return a / 0",
        "ToolError: math.divide: ZeroDivisionError: division by zero",
    ] {
        assert!(ran.error().contains(part), "{part}: {ran:?}");
    }
    let code = "from servers.math import divide\ntry:\n    divide(1)\nexcept ToolError as error:\n    print(error.server, error.tool, error.kind)";
    client.check(code, "math divide tool\n").await;
}

#[tokio::test]
async fn a_changed_file_applies_to_the_next_run_of_a_session() {
    let (directory, mut client) = client(&[]).await;
    client
        .check("from servers.calculator import add\nprint(add(1, 2))", "3\n")
        .await;
    fs::write(directory.join("calculator/add.py"), ADD.replace("a + b", "a - b")).unwrap();
    client.check("print(add(1, 2))", "-1\n").await;
    fs::remove_file(directory.join("calculator/add.py")).unwrap();
    client.check("try:\n    add(1, 2)\nexcept ToolError as error:\n    print(error.kind, 'calculator.add' in str(error))", "unknown_tool True\n").await;
}

/// Tool files stay available to a long run and to an idle session, however often the tree changes meanwhile.
#[tokio::test]
async fn tools_stay_however_often_others_change() {
    let (directory, mut client) = client(&[]).await;
    let change = |text: &str| {
        fs::write(directory.join("calculator/add.py"), ADD.replace("a + b", text)).unwrap();
    };
    let session = |name: &str, code: &str| json!({"code": code, "session": name});
    // Both sessions have seen other trees before the present one.
    for text in ["a + b", "b + a"] {
        change(text);
        for name in ["rests", "lasts"] {
            client
                .execute(session(name, "await tools.calculator.add(a=1, b=2)"))
                .await;
        }
    }
    fs::write(
        directory.join("units/late.py"),
        "def late():\n    return 'here'\n",
    )
    .unwrap();
    let looks = "import os\nprint(sorted(os.listdir('/tools/units')), await tools.units.late())";
    let looked = "['__init__.py', '_meta.json', 'convert.py', 'convert.ts', 'index.d.ts', 'late.py', 'late.ts'] here\n";
    let rests = client.execute(session("rests", looks)).await;
    assert_eq!(rests.stdout(), looked, "{rests:?}");
    let waits = "import asyncio, os\nopen('begun', 'w').close()\nwhile not os.path.exists('over'):\n    await asyncio.sleep(0.05)\n";
    let lasts = client.start(session("lasts", &format!("{waits}{looks}"))).await;
    let begun = "import asyncio, os\nwhile not os.path.exists('begun'):\n    await asyncio.sleep(0.05)";
    client.check(begun, "").await;
    for number in 0..20 {
        change(&format!("a + b + {number}"));
        let sum = format!("{}\n", 3 + number);
        client
            .check("print(await tools.calculator.add(a=1, b=2))", &sum)
            .await;
    }
    client.check("open('over', 'w').close()", "").await;
    let lasts = client.ran(&lasts).await;
    assert_eq!(lasts.stdout(), looked, "{lasts:?}");
    // The session's last tree is current again.
    change("b + a");
    client
        .check("print(await tools.calculator.add(a=1, b=2))", "3\n")
        .await;
    let rests = client.execute(session("rests", looks)).await;
    assert_eq!(rests.stdout(), looked, "{rests:?}");
}

async fn call_of(codeyard: &Codeyard, words: &[&str]) -> CommandOutput {
    run(codeyard, &[&["call"], words].concat(), "").await
}

#[tokio::test]
async fn a_call_of_a_file_starts_no_server() {
    let codeyard = Codeyard::new().unwrap();
    let started = codeyard.work_directory().join("started");
    let script = format!("echo once >> {}; exit 1", started.display());
    let dead = ServerDefinition::new("sh", &["-c", &script]);
    let codeyard = with_files(codeyard.server("dead", &dead), &[("calculator/add.py", ADD)]);
    let called = call_of(&codeyard, &["calculator.add", r#"{"a": 1, "b": 2}"#]).await;
    assert_eq!((called.code, called.out.as_str()), (0, "3\n"), "{called:?}");
    assert!(!started.exists(), "a tool file needs no server");
    let called = call_of(&codeyard, &["dead.any"]).await;
    assert!(called.code != 0 && called.err.contains("dead"), "{called:?}");
    // The attempt has a record, like any call.
    let recorded = run(&codeyard, &["runs", "--json"], "").await;
    assert_eq!(recorded.out.matches("\"call\"").count(), 2, "{recorded:?}");
}

#[tokio::test]
async fn a_call_of_a_file_is_in_no_sum_and_on_no_receipt() {
    let (_, mut client) = client(&[]).await;
    let code = "from servers.calculator import add\nadd(1, 2)\nawait tools.stub.echo(message='x')";
    let with = client.execute(json!({"code": code, "receipt": true})).await;
    assert_eq!(
        (&with.fields()["receipt"]["calls"]["made"], with.status()),
        (&json!(1), "completed"),
        "{with:?}"
    );
    client.execute(json!({"code": code})).await;
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let sums = run(&codeyard, &["runs", "--savings", "--by", "server", "--json"], "").await;
    let called: Vec<(Value, Value)> = sums.json()["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["calls"] != 0)
        .map(|line| (line["server"].clone(), line["calls"].clone()))
        .collect();
    assert_eq!(called, [(json!("stub"), json!(2))], "{sums:?}");
}

#[tokio::test]
async fn a_call_from_the_command_line_runs_in_the_sandbox() {
    let files = [
        ("calculator/add.py", ADD),
        (
            "host/look.py",
            "import os\n\ndef look():\n    'Looks'\n    print('looking')\n    return {'cwd': os.getcwd()}\n",
        ),
        (
            "host/fail.py",
            "def fail(x=1):\n    'Fails'\n    raise ValueError('no')\n",
        ),
        (
            "host/exit.py",
            "import sys\n\ndef exit():\n    'Exits'\n    sys.exit(3)\n",
        ),
        (
            "host/chain.py",
            "async def chain():\n    'Fails as another'\n    await tools.host.fail()\n",
        ),
    ];
    let codeyard = with_files(Codeyard::new().unwrap(), &files);
    let call = async |words: &[&str]| call_of(&codeyard, words).await;
    let added = call(&["calculator.add", r#"{"a": 1, "b": 2}"#]).await;
    assert_eq!((added.code, added.out.as_str()), (0, "3\n"), "{added:?}");
    let looked = call(&["host.look"]).await;
    assert!(
        looked.out.starts_with("looking\n") && looked.out.contains("/workspace"),
        "{looked:?}"
    );
    let failed = call(&["host.fail"]).await;
    assert!(
        failed.code == 1
            && failed.err.contains("fail.py\", line 3")
            && failed.err.ends_with("\nValueError: no\n"),
        "{failed:?}"
    );
    // The traceback must not show the generated program of the call.
    for call in [vec!["host.fail"], vec!["host.exit"], vec!["host.chain"]] {
        let failed = call_of(&codeyard, &call).await;
        assert!(
            failed.code == 1 && failed.err.contains("/tools/host/") && !failed.err.contains("program"),
            "{failed:?}"
        );
        assert!(!failed.err.contains("__toolcall__"), "{failed:?}");
    }
    let wrong = call(&["calculator.add", r#"{"a": 1}"#]).await;
    assert!(
        wrong.code == 1 && wrong.err.contains("missing required argument 'b'"),
        "{wrong:?}"
    );
    let unknown = call(&["calculator.subtract"]).await;
    assert!(
        unknown.code == 2 && unknown.err.contains("calculator"),
        "{unknown:?}"
    );
    let recorded = run(&codeyard, &["runs", "--json"], "").await;
    assert!(recorded.out.contains("\"call\""), "{recorded:?}");
}

#[tokio::test]
async fn an_image_of_a_file_is_an_image_from_the_command_line_too() {
    let png =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let draw = format!("import base64\n\ndef draw():\n    'Draws'\n    return base64.b64decode('{png}')\n");
    let codeyard = with_files(Codeyard::new().unwrap(), &[("host/draw.py", &draw)]);
    let drawn = call_of(&codeyard, &["host.draw", "--json"]).await;
    let content = &drawn.json()["content"];
    let image = content.as_array().unwrap().last().unwrap();
    assert_eq!(
        (&image["type"], &image["mimeType"]),
        (&json!("image"), &json!("image/png")),
        "{content}"
    );
}

#[tokio::test]
async fn every_spelling_of_a_name_reaches_the_function() {
    let (_, mut client) = client(&[]).await;
    for code in [
        "print(await tools.Calculator.add(a=1, b=2))",
        "print(await tools['calculator']['ADD']({'a': 1, 'b': 2}))",
        "print(await __toolcall__('add', {'a': 1, 'b': 2}))",
        "print(await runtime.call_tool('Calculator', 'Add', {'a': 1, 'b': 2}))",
        "from servers.Calculator import Add\nprint(Add(a=1, b=2))",
    ] {
        client.check(code, "3\n").await;
    }
}

#[tokio::test]
async fn names_and_parameters_are_read_without_running_the_file() {
    let (_, mut client) = client(&[(
        "bad/leave.py",
        "import sys\nsys.exit(3)\ndef leave(a, /, b=1, *, c, **more):\n    'Leaves'\n",
    )])
    .await;
    let code = "import inspect\nfrom servers.bad import leave\nprint(leave.__name__, inspect.signature(leave), hasattr(leave, '__annotations__'))";
    client
        .check(code, "leave (a, /, b=Ellipsis, *, c, **kwargs) False\n")
        .await;
}

/// A client with tools of the server `kinds`, each with its parameters and its return value, after the same lines.
async fn with_kinds(lines: &str, tools: &[(&str, &str, &str)]) -> CodeClient {
    let files: Vec<(String, String)> = tools
        .iter()
        .map(|(name, parameters, value)| {
            let text = format!("{lines}def {name}({parameters}):\n    'Shows'\n    return {value}\n");
            (format!("kinds/{name}.py"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    client(&files).await.1
}

#[tokio::test]
async fn arguments_arrive_with_the_annotated_types() {
    const POINTS: &str = include_str!("calls/points.py");
    let mut client = with_kinds(
        POINTS,
        &[
            ("maybe", "p: Optional[P] = None", "str(p)"),
            ("either", "p: P | None", "str(p)"),
            ("row", "ps: list[P]", "str(ps)"),
            ("nested", "line: Line", "str(line.ends[0].x)"),
            ("table", "ps: dict[str, P]", "str(ps)"),
            ("posonly", "a=1, b=2, /", "str((a, b))"),
            ("kwo", "**kwargs", "str(kwargs)"),
            ("data", "a: dict, b: int = 0", "str((a, b))"),
        ],
    )
    .await;
    for (call, told) in [
        ("maybe(p={'x': 1})", "P(x=1)"),
        ("either(p={'x': 1})", "P(x=1)"),
        ("either(p=None)", "None"),
        ("row(ps=[{'x': 1}, {'x': 2}])", "[P(x=1), P(x=2)]"),
        ("nested(line={'ends': [{'x': 7}]})", "7"),
        ("table(ps={'k': {'x': 1}})", "{'k': P(x=1)}"),
        ("posonly(b=3)", "(1, 3)"),
        ("posonly(4)", "(4, 2)"),
        ("kwo({'z': 1})", "{'z': 1}"),
        ("data({'q': 1})", "({'q': 1}, 0)"),
    ] {
        client
            .check(&format!("print(await tools.kinds.{call})"), &format!("{told}\n"))
            .await;
    }
    let code = "try:\n    await tools.kinds.data({'a': {}, 'typo': 2})\nexcept TypeError as error:\n    print(error)";
    let told = "tools.kinds.data has no parameter 'typo'; its parameters are a, b. \
        A mapping that is the first of them is given as a={...}\n";
    client.check(code, told).await;
    let code = "try:\n    call_mcp_tool('stub__echo', {'message': 'hi'}, extra=1)\nexcept TypeError as error:\n    print(error)";
    client
        .check(
            code,
            "call_mcp_tool takes one mapping of arguments, or keyword arguments, and not both\n",
        )
        .await;
}

#[tokio::test]
async fn a_data_class_is_called_as_its_constructor_is() {
    const CLASSES: &str = include_str!("calls/data_classes.py");
    let mut client = with_kinds(
        CLASSES,
        &[
            ("derived", "p: P", "(p, p.secret)"),
            ("seed", "s: Seed | None", "s"),
            ("mode", "mode: Literal['fast', 'slow'] = None", "mode"),
            ("either", "value: dict | list = None", "value"),
        ],
    )
    .await;
    for (call, told) in [
        (
            "derived(p={'id': 1, 'secret': 's'})",
            "(P(id=1, size=9, note=None), 's')",
        ),
        (
            "derived(p={'id': 1, 'secret': 's', 'note': None})",
            "(P(id=1, size=9, note=None), 's')",
        ),
        ("seed(s={'value': {'id': 2}})", "Seed(twice=4)"),
        ("mode(mode=None)", "None"),
        ("either(value=None)", "None"),
    ] {
        client
            .check(&format!("print(await tools.kinds.{call})"), &format!("{told}\n"))
            .await;
    }
    let refused = client.run("p = {}\nawait tools.kinds.derived(p=p)").await;
    assert!(refused.error().contains("argument 'p' lacks 'id'"), "{refused:?}");
}

//! Programs and their findings, against small servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails here")]

#[path = "programs/changed.rs"]
mod changed;
#[path = "programs/hostile.rs"]
mod hostile;
#[path = "programs/reach.rs"]
mod reach;

use std::sync::Arc;

use catalog::{Catalog, Entry, Learned};
use check::{Names, Program, Report, View, judge};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use types::{ServerTools, Tool};

/// `crm` has strict tools, `git-hub` has lenient tools, `later` has not listed its tools yet.
fn catalog() -> Catalog {
    let tools = |tools: Value| -> Option<Arc<[Arc<Tool>]>> {
        let tools = tools.as_array().unwrap().iter();
        Some(
            tools
                .map(|tool| Arc::new(Tool::parse(to_raw_value(tool).unwrap()).unwrap()))
                .collect(),
        )
    };
    let customer =
        json!({"type": "object", "properties": {"name": {"type": "string"}, "email": {"type": "string"}}});
    let server = |name: &str, tools| ServerTools {
        name: name.to_owned(),
        description: None,
        cwd: None,
        tools,
    };
    let strict = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    Catalog::build(&[
        server(
            "crm",
            tools(json!([
                {"name": "get_customer", "inputSchema": strict(json!({"customer_id": {"type": "string"}}), json!(["customer_id"])), "outputSchema": customer},
                {"name": "list_customers", "inputSchema": strict(json!({"region": {"enum": ["EMEA", "APAC"]}, "limit": {"type": "integer", "maximum": 100}}), json!([])),
                    "outputSchema": {"type": "object", "properties": {"customers": {"type": "array", "items": customer}, "next": {"type": ["string", "null"]}}}},
                {"name": "note", "inputSchema": strict(json!({"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}), json!(["text"]))},
                {"name": "secret", "inputSchema": {"type": "object"}},
            ])),
        ),
        server(
            "git-hub",
            tools(json!([
                {"name": "create-issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}, "body": {"type": "string"}}, "required": ["title"]}},
                {"name": "get", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
            ])),
        ),
        server("later", None),
        server(
            "hidden",
            tools(json!([{"name": "wipe", "inputSchema": {"type": "object"}}])),
        ),
    ])
}

fn report_after(earlier: &[&str], source: &str) -> Report {
    let catalog = catalog();
    let learned = Arc::new(Learned {
        schema: json!({"type": "object", "properties": {"id": {"type": "integer"}}}),
        calls: 9,
        steady: 7,
    });
    let view = View {
        catalog: &catalog,
        may_call: &|entry: &Entry| !["secret", "wipe"].contains(&entry.tool.tool.as_str()),
        check: &|entry| Arc::new(entry.check()),
        learned: &|entry: &Entry| (entry.tool.tool == "get").then(|| learned.clone()),
        takes_positional: &|entry: &Entry| entry.tool.tool == "get",
        own_tools: &["execute_code"],
    };
    let mut names = Names::default();
    for source in earlier {
        names.take(Program::read(source, &names).left());
    }
    // Another test covers `unchecked`.
    Report {
        unchecked: None,
        ..judge(&Program::read(source, &names), &view)
    }
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(report_after(&[], source).lines(), expected, "{source}");
}

#[track_caller]
fn passes(source: &str) {
    check(source, &[]);
}

const NO_TOOL: &str = "tools.crm.get_customr does not exist; write tools.crm.get_customer(customer_id: str)";

#[test]
fn a_tool_that_is_imported_by_name_is_found_where_it_is_imported() {
    let source = "from servers.crm import note, get_customr\n\nnote(text='a')\nget_customr(customer_id='1')";
    let told = NO_TOOL.replace("tools.crm", "servers.crm");
    check(source, &[&format!("line 1: {told}")]);
    let source = "from servers.crm import note\nimport servers\n\nservers.crm.get_customr(customer_id='1')";
    check(source, &[&format!("line 4: {told}")]);
}

#[test]
fn a_tool_that_takes_positional_arguments_gets_them() {
    passes("await tools.git_hub.get(1)");
    passes("await tools.git_hub.get(1, 'b')");
}

#[test]
fn an_unknown_tool_is_found_in_every_form() {
    let blocking = NO_TOOL.replace("tools.crm", "servers.crm");
    let bridge = NO_TOOL.replace("tools.crm", "mcp_crm");
    let tools = NO_TOOL.to_owned();
    let data = NO_TOOL.replacen("tools.crm.get_customr", "'crm', 'get_customr'", 1);
    let each = [
        ("await tools.crm.get_customr(customer_id='1')", &tools),
        ("await tools['crm']['get_customr'](customer_id='1')", &tools),
        ("await mcp_crm.get_customr(customer_id='1')", &bridge),
        ("await mcp_servers['crm'].get_customr(customer_id='1')", &bridge),
        (
            "import tools\nawait tools.crm.get_customr(customer_id='1')",
            &tools,
        ),
        (
            "import tools.crm as c\nawait c.get_customr(customer_id='1')",
            &tools,
        ),
        (
            "from tools import crm\nawait crm.get_customr(customer_id='1')",
            &tools,
        ),
        (
            "from tools.crm import get_customr\nawait get_customr(customer_id='1')",
            &tools,
        ),
        (
            "from tools.crm.get_customr import get_customr as g\nawait g(customer_id='1')",
            &tools,
        ),
        (
            "from servers.crm import get_customr\nget_customr(customer_id='1')",
            &blocking,
        ),
        ("servers.crm.get_customr(customer_id='1')", &blocking),
        (
            "from mcp.servers import crm\nawait crm.get_customr(customer_id='1')",
            &bridge,
        ),
        (
            "import mcp\nawait mcp.servers.crm.get_customr(customer_id='1')",
            &bridge,
        ),
        (
            "from mcp import runtime\nawait runtime.call_tool('crm', 'get_customr', {})",
            &data,
        ),
        ("await __toolcall__('crm', 'get_customr', {})", &data),
        ("c = tools.crm\nawait c.get_customr(customer_id='1')", &tools),
        (
            "a, b = tools.crm, 1\nf = a.get_customr\nawait f(customer_id='1')",
            &tools,
        ),
        (
            "async def main():\n    return await tools.crm.get_customr(customer_id='1')\nawait main()",
            &tools,
        ),
        (
            "[await tools.crm.get_customr(customer_id=i) for i in range(3)]",
            &tools,
        ),
        (
            "import asyncio\nawait asyncio.gather(*(tools.crm.get_customr(customer_id=i) for i in 'ab'))",
            &tools,
        ),
        (
            "if 1:\n    x = await tools.crm.get_customr(customer_id='1')",
            &tools,
        ),
        (
            "class A:\n    async def f(self):\n        await tools.crm.get_customr(customer_id='1')\nawait A().f()",
            &tools,
        ),
        ("f'{await tools.crm.get_customr(customer_id=1)}'", &tools),
    ];
    for (source, expected) in each {
        let lines = report_after(&[], source).lines();
        let told: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(_, text)| text)
            .collect();
        assert_eq!(told, [expected.as_str()], "{source}");
    }
}

#[test]
fn what_is_not_known_is_let_through() {
    passes("await tools.later.anything(x=1)");
    passes("name = input()\nawait tools[name].x()\nawait tools.crm[name]()");
    passes("tools = None\nawait tools.crm.nope()");
    passes("if x:\n    tools = fake\nawait tools.crm.nope()");
    passes("def f(tools):\n    return tools.crm.nope()");
    passes("for tools in a:\n    tools.crm.nope()");
    passes("crm = tools.crm\ncrm = other\nawait crm.nope()");
    passes("def f():\n    return crm.nope()\ncrm = tools.crm\nf()\ncrm = other\nf()");
    passes("tools.crm.nope = print\ntools.crm.nope(1)");
    passes("globals()['tools'] = x\nawait tools.crm.nope()");
    passes("def f():\n    global tools\n    tools = fake\nf()\nawait tools.crm.nope()");
    passes("from x import *\nawait runtime.call_tool('crm', 'nope')");
    passes("with open('x') as tools:\n    tools.crm.nope()");
    passes("[tools.crm.nope() for tools in a]");
    passes("lambda tools: tools.crm.nope()");
    passes("match a:\n    case {'x': tools}:\n        tools.crm.nope()");
    passes("try:\n    pass\nexcept E as tools:\n    tools.crm.nope()");
    passes("await __toolcall__('execute_code', {'code': '1'})");
    passes("print(tools.crm.__doc__, dir(tools), tools.crm.__name__)");
    passes("mcp_crm = 1\nmcp_crm.nope()");
    passes("mcp_crm.TOOLS, mcp_crm.list_tools()");
}

#[test]
fn what_may_not_be_called_is_never_suggested() {
    check(
        "await tools.crn.get_customer(customer_id='1')",
        &["line 1: there is no server 'crn'; write tools.crm.get_customer(customer_id: str)"],
    );
    check(
        "await tools.slack.post(text='1')",
        &["line 1: there is no server 'slack'; the servers are crm, 'git-hub', later"],
    );
    check(
        "await tools.crm.secrets()",
        &[
            "line 1: tools.crm.secrets does not exist; search_tools finds the right one; the tools of crm are get_customer, list_customers, note",
        ],
    );
    // A denied call reports that itself, and its tool is never suggested.
    passes("await tools.crm.secret(x=1)");
    passes("await __toolcall__('secret', {})");
    passes("await tools.hidden.nope()");
    check(
        "await tools.hiden.wipe()",
        &["line 1: there is no server 'hiden'; the servers are crm, 'git-hub', later"],
    );
}

#[test]
fn arguments_are_held_against_the_schema() {
    check(
        "await tools.crm.get_customer(id='1')",
        &[
            "line 1: tools.crm.get_customer: missing required argument 'customer_id': str; unknown argument 'id'; the tool takes 'customer_id'; write tools.crm.get_customer(customer_id: str)",
        ],
    );
    check(
        "await tools.crm.list_customers(region='EMAE')",
        &[
            "line 1: tools.crm.list_customers: argument 'region' must be one of 'EMEA', 'APAC' (nearest: 'EMEA'), not str 'EMAE'; write tools.crm.list_customers(region: Literal['EMEA', 'APAC'] = …, limit: int = …)",
        ],
    );
    check(
        "n = '5'\nfor region in regions:\n    await tools.crm.list_customers(region=region, limit=n)",
        &[
            "line 3: tools.crm.list_customers: argument 'limit' must be int, not str '5'; write tools.crm.list_customers(region: Literal['EMEA', 'APAC'] = …, limit: int = …)",
        ],
    );
    check(
        "await tools.crm.get_customer('C-1')",
        &[
            "line 1: tools.crm.get_customer: takes keyword arguments or one mapping, not a text; write tools.crm.get_customer(customer_id: str)",
        ],
    );
    check(
        "await tools.git_hub.create_issue(title='x', boddy='y')",
        &[
            "line 1: warning: tools.git_hub.create_issue: declares no argument 'boddy'; did you mean 'body'?; write tools.git_hub.create_issue(title: str, body: str = …)",
        ],
    );
    assert!(!report_after(&[], "await tools.git_hub.create_issue(title='x', boddy='y')").has_errors());
    let note = |arguments: &str, is_right: bool| {
        let report = report_after(&[], &format!("await tools.crm.note({arguments})"));
        assert_eq!(report.is_empty(), is_right, "{arguments}: {report:?}");
    };
    note("text=t", true);
    note("text=f'{t}'", true);
    note("**given", true);
    note("**{'text': t, **more}", true);
    note("**{'text': t, 'tag': 1}", false);
    note("{'text': t}", true);
    note("{'tags': ['a']}", false);
    note("text='a', tags=['a', t]", true);
    note("text='a', tags=['a', 5, t]", false);
    note("text='a', tags=[*t]", true);
    note("text='a', tags='a'", false);
    note("text=None", false);
    note("None", false);
    note("text=t, other=t", false);
    note("given", true);
    note("dict(text=1)", false);
}

#[test]
fn literals_behind_names_are_known_while_nothing_changes_them() {
    let wrong = "write tools.crm.note(text: str, tags: list[str] = …)";
    let found = |source: &str, count: usize| {
        let lines = report_after(&[], source).lines();
        assert_eq!(lines.len(), count, "{source}: {lines:?}");
        assert!(lines.iter().all(|line| line.ends_with(wrong)), "{lines:?}");
    };
    found("a = {'txt': 'x'}\nawait tools.crm.note(**a)", 1);
    found("a = {'txt': 'x'}\nawait tools.crm.note(a)", 1);
    found(
        "a = {'txt': 'x'}\na['text'] = 1\ndel a['txt']\nawait tools.crm.note(**a)",
        0,
    );
    found("a = {'txt': 'x'}\nfix(a)\nawait tools.crm.note(**a)", 0);
    found("a = {}\nb = a\nb['text'] = 'x'\nawait tools.crm.note(**a)", 0);
    found("a = {}\na.update(text='x')\nawait tools.crm.note(**a)", 0);
    found(
        "t = 5\nawait tools.crm.note(text=t)\nt = 'x'\nawait tools.crm.note(text=t)",
        1,
    );
    found("t = 5\nif x:\n    t = 'x'\nawait tools.crm.note(text=t)", 0);
    found(
        "t = 5\nwhile x:\n    await tools.crm.note(text=t)\n    t = str(t)",
        0,
    );
    found(
        "t = 5\ndef f():\n    return tools.crm.note(text=t)\nt = 'x'\nawait f()",
        0,
    );
    found(
        "t = 5\nasync def f():\n    return await tools.crm.note(text=t)\nawait f()",
        1,
    );
}

#[test]
fn fields_that_no_result_has_are_found() {
    let field = |source: &str, expected: &[&str]| {
        let lines = report_after(&[], source).lines();
        let told: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(told, expected, "{source}");
    };
    let one = ["line 2: the result of tools.crm.get_customer has no field 'emial'; write 'email'"];
    let c = "c = await tools.crm.get_customer(customer_id='1')\n";
    field(&format!("{c}print(c['emial'])"), &one);
    field(&format!("{c}print(c.emial)"), &one);
    field(
        &format!("{c}print(c['email'], c.name, c.get('emial'), c.items())"),
        &[],
    );
    field(&format!("{c}print(c['emial'] if 'emial' in c else 1)"), &[]);
    field(&format!("{c}if c.get('emial'):\n    c['emial']"), &[]);
    field(
        &format!("{c}try:\n    c['emial']\nexcept KeyError:\n    pass"),
        &[],
    );
    field(&format!("{c}c['emial'] = 1\nprint(c['emial'])"), &[]);
    field(&format!("{c}c.update(more)\nprint(c['emial'])"), &[]);
    field(&format!("{c}c = c.get('x')\nprint(c.emial)"), &[]);
    field(&format!("{c}print(isinstance(c, dict), c.emial)"), &[]);
    let item = [
        "line 2: ['customers'][0] in the result of tools.crm.list_customers has no field 'mail'; write 'email'",
    ];
    let page = "p = await tools.crm.list_customers()\n";
    field(&format!("{page}[c['mail'] for c in p['customers']]"), &item);
    field(&format!("{page}[c.mail for c in p.customers if c.name]"), &item);
    field(&format!("{page}for c in p['customers']: print(c['mail'])"), &item);
    field(&format!("{page}p['customers'][0]['mail']"), &item);
    field(
        &format!("{page}sorted(p['customers'], key=lambda c: c['mail'])"),
        &item,
    );
    field(
        &format!("{page}for i, c in enumerate(p.customers[:3]): c.mail"),
        &item,
    );
    field(
        &format!("{page}for c in p.get('customers', []): c['mail']"),
        &item,
    );
    field(
        &format!("{page}max(p.customers, key=lambda c: c.name).mail"),
        &item,
    );
    field(
        &format!("{page}p['customers']['email']"),
        &[
            "line 2: ['customers'] in the result of tools.crm.list_customers is a list and has no field 'email'; take one item of it first, as in [0]",
        ],
    );
    field(
        "import asyncio\na, b = await asyncio.gather(tools.crm.list_customers(), tools.crm.get_customer(customer_id='1'))\nprint(a.next, b.nme)",
        &["line 3: the result of tools.crm.get_customer has no field 'nme'; write 'name'"],
    );
    field(
        "r = await tools.git_hub.get(id=1)\nr['title']",
        &["line 2: the result of tools.git_hub.get has no field 'title'; it has 'id' (observed in 9 calls)"],
    );
    field("r = await tools.git_hub.get(id=1)\nprint(r.content, r.raw)", &[]);
    field("r = await tools.crm.note(text='')\nr['title']", &[]);
    field(
        "r = await mcp_crm.get_customer(customer_id='1')\nr['structuredContent']['x'], r.raw",
        &[],
    );
}

#[test]
fn calls_that_nobody_awaits_are_found() {
    let never = "tools.crm.note(...) is never awaited; write await tools.crm.note(...)";
    let used = "tools.crm.note(...) is used before it is awaited; write (await tools.crm.note(...))";
    check("tools.crm.note(text='a')", &[&format!("line 1: {never}")]);
    check("x = tools.crm.note(text='a')", &[&format!("line 1: {never}")]);
    check("print(tools.crm.note(text='a'))", &[&format!("line 1: {never}")]);
    check("return tools.crm.note(text='a')", &[&format!("line 1: {never}")]);
    check("tools.crm.note(text='a')['x']", &[&format!("line 1: {used}")]);
    check(
        "r = tools.crm.note(text='a')\nprint(r.x)\nr.y",
        &[&format!("line 2: {used}")],
    );
    check(
        "for x in tools.crm.note(text='a'):\n    pass",
        &[&format!("line 1: {used}")],
    );
    check(
        "await servers.crm.note(text='a')",
        &["line 1: servers.crm.note(...) blocks and gives its result at once; write it without await"],
    );
    passes("x = tools.crm.note(text='a')\nawait x");
    passes("x = [tools.crm.note(text=t) for t in 'ab']\nimport asyncio\nawait asyncio.gather(*x)");
    passes("def f():\n    return tools.crm.note(text='a')\nawait f()");
    passes("import asyncio\nt = asyncio.create_task(tools.crm.note(text='a'))\nawait t");
    passes("servers.crm.note(text='a')");
}

#[test]
fn names_of_earlier_runs_count() {
    let after = |earlier: &[&str], source: &str, count: usize| {
        let lines = report_after(earlier, source).lines();
        assert_eq!(lines.len(), count, "{earlier:?} {source}: {lines:?}");
    };
    let call = "await tools.crm.nope()";
    after(&["x = 1"], call, 1);
    after(&["tools = 1"], call, 0);
    // The run may have failed before it bound the name.
    after(
        &["1/0\nservers = tools"],
        "servers.crm.get_customer(customer_id='1')['name']",
        0,
    );
    after(&["1/0\nmcp_crm = servers.crm"], "mcp_crm.nope()", 0);
    after(&["def tools(): pass"], call, 0);
    after(&["import x as tools"], call, 0);
    after(&["import tools"], call, 1);
    after(&["def f():\n    global tools\n    tools = 1"], call, 0);
    after(&["exec('tools = 1')"], call, 0);
    after(&["from mcp.servers.crm import *"], call, 1);
    after(&["from mcp.servers.crm import *"], "await note(txet='a')", 1);
    after(
        &["from mcp.servers.crm import *", "note = 1"],
        "await note(txet='a')",
        0,
    );
    after(
        &["c = tools.crm", "from mcp.servers.crm import *"],
        "await c.nope()",
        0,
    );
    after(&["from math import *"], call, 1);
    after(&["c = tools.crm", "from math import *"], "await c.nope()", 0);
    after(&["from math import *"], "await c.nope()", 0);
    after(&["from mcp import *"], call, 0);
    after(&["import unittest"], call, 1);
    after(&["import unittest.mock"], call, 0);
    after(&["from unittest import mock"], call, 0);
    after(&["x = [].modules"], call, 1);
    after(&["import sys\nsys.modules['tools'] = 1"], call, 0);
    after(&["import sys as s"], call, 0);
    after(&["from sys import modules"], call, 0);
    after(&["x = __import__('sys')"], call, 0);
    after(&["from tools.crm import nope"], "await nope()", 1);
    after(&["from tools.crm import nope", "nope = 1"], "await nope()", 0);
    after(&["c = tools.crm"], "await c.nope()", 1);
    after(&["c = tools.crm"], "c = 1\nc.nope()", 0);
}

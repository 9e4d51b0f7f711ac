//! Programs that change their values, or that handle failures: none is refused.

use super::{passes, report_after};

#[test]
fn what_a_program_may_have_changed_is_not_known() {
    let fix = "r['text'] = 'x'";
    passes(&format!(
        "rows = [{{}}]\nfor r in rows:\n    {fix}\nawait tools.crm.note(**rows[0])"
    ));
    passes(&format!(
        "rows = [{{}}]\nfor r, i in zip(rows, 'ab'):\n    {fix}\nawait tools.crm.note(**rows[0])"
    ));
    passes(&format!(
        "rows = [{{}}]\nfor i, r in enumerate(rows):\n    {fix}\nawait tools.crm.note(**rows[0])"
    ));
    passes("rows = [{}]\n[r.update(text='x') for r in rows]\nawait tools.crm.note(**rows[0])");
    passes("rows = [{}]\nlist(rows)[0]['text'] = 'x'\nawait tools.crm.note(**rows[0])");
    passes("rows = [{}]\nmax(rows, key=len)['text'] = 'x'\nawait tools.crm.note(**rows[0])");
    passes("d = {'a': {}}\nfor r in d.values():\n    r['text'] = 'x'\nawait tools.crm.note(**d['a'])");
    passes("d = {'a': {}}\nfix(d['a'])\nawait tools.crm.note(**d['a'])");
    passes("a = {}\nawait fill(a)\nawait tools.crm.note(**a)");
    passes("def len(a):\n    a['text'] = 'x'\na = {}\nlen(a)\nawait tools.crm.note(**a)");
    // Tools receive copies.
    let wrong = |source: &str| assert_eq!(report_after(&[], source).findings.len(), 1, "{source}");
    wrong("a = {}\nprint(a, len(a))\nawait tools.later.get(more=a)\nawait tools.crm.note(**a)");
    wrong("from tools.later import get\na = {}\nawait get(a)\nprint(a)\nawait tools.crm.note(a)");
}

#[test]
fn a_result_that_a_program_may_have_changed_is_not_known() {
    let c = "from helpers import fix\nc = await tools.crm.get_customer(customer_id='1')\n";
    let p = "p = await tools.crm.list_customers()\n";
    let found = |source: &str, count: usize| {
        let lines = report_after(&[], source).lines();
        assert_eq!(lines.len(), count, "{source}: {lines:?}");
    };
    found(
        &format!("{c}c['name'] = {{'all': c['name']}}\nc['name']['all']"),
        0,
    );
    found(&format!("{c}c['name'] |= {{'all': 1}}\nc['name']['all']"), 0);
    found(&format!("{c}c.name = fullname(c.name)\nc.name.all"), 0);
    found(&format!("{c}fix(c)\nc['nme']"), 0);
    found(&format!("{c}list(map(fix, [c]))\nc['nme']"), 0);
    found(&format!("{c}fix([c])\nc['nme']"), 0);
    found(&format!("{c}fix(customer=c)\nc['nme']"), 0);
    found(&format!("{c}fix(c['name'])\nc['nme']"), 1);
    found(
        &format!("import operator\n{c}operator.setitem(c, 'n' + 'me', 1)\nc['nme']"),
        0,
    );
    found(
        &format!("import json\n{c}print(json.dumps(c))\nrows = []\nrows.append(c)\nc['nme']"),
        1,
    );
    found(&format!("def show(c):\n    print(c)\n{c}show(c)\nc['nme']"), 1);
    found(
        &format!("{p}p['customers'] = {{c['name']: c for c in p['customers']}}\np['customers']['Ann']"),
        0,
    );
    found(
        &format!(
            "{p}for c in p['customers']:\n    c['name'] = [c['name']]\np['customers'][0]['name'][0]['x']"
        ),
        0,
    );
    found(&format!("{p}p['next'] = 1\np['customers'][0]['nme']"), 1);
}

#[test]
fn functions_of_earlier_runs_may_change_anything_that_has_a_name() {
    let after = |earlier: &[&str], source: &str, count: usize| {
        let lines = report_after(earlier, source).lines();
        assert_eq!(lines.len(), count, "{earlier:?} {source}: {lines:?}");
    };
    let read = "c = await tools.crm.get_customer(customer_id='1')\n";
    after(
        &["def enrich(c):\n    c['score'] = 3"],
        &format!("{read}enrich(c)\nc['score']"),
        0,
    );
    after(
        &["def enrich():\n    c['score'] = 3"],
        &format!("{read}enrich()\nc['score']"),
        0,
    );
    after(
        &["def enrich(c):\n    c['score'] = 3"],
        &format!("{read}c['score']"),
        1,
    );
    after(&["x = 1"], &format!("{read}print(x)\nc['score']"), 1);
    let note = "a = {}\nawait fill(a)\nawait tools.crm.note(**a)";
    after(&["async def fill(a):\n    a['text'] = 'x'"], note, 0);
    let global = "a = {}\nfill()\nawait tools.crm.note(**a)";
    after(&["def fill():\n    a['text'] = 'x'"], global, 0);
    let shared = "def helper():\n    global crm\n    crm = tools.later";
    after(&[shared], "crm = tools.crm\nhelper()\nawait crm.list_sheets()", 0);
    after(
        &["def note(a):\n    a['text'] = 1"],
        "a = {}\nnote(a)\nawait tools.crm.note(**a)",
        0,
    );
    after(
        &["from tools.crm import note"],
        "a = {}\nawait note(a)\nawait note(**a)",
        2,
    );
}

#[test]
fn what_a_program_is_ready_for_is_not_refused() {
    let ready = |source: &str| {
        let report = report_after(&[], source);
        assert!(!report.has_errors(), "{source}: {:?}", report.lines());
    };
    ready("try:\n    await tools.crm.nope()\nexcept Exception:\n    pass");
    ready("try:\n    await tools.crm.note(txt=1)\nexcept mcp.ToolError:\n    pass");
    ready("if hasattr(tools.crm, 'nope'):\n    await tools.crm.nope()");
    ready("if 'slack' in dir(tools):\n    await tools.slack.post()");
    ready("if {'nope'} <= set(dir(tools.crm)):\n    await tools.crm.nope()");
    ready(
        "async def f():\n    await tools.crm.nope()\nasync def g():\n    await f()\ntry:\n    await g()\nexcept ToolError:\n    pass",
    );
    ready(
        "import asyncio\nc = [tools.crm.nope(id=i) for i in 'ab']\nawait asyncio.gather(*c, return_exceptions=True)",
    );
    ready("tries = [lambda: tools.crm.note(txt=1)]\nfor each in tries:\n    await each()");
    ready("async def later():\n    await tools.crm.note(txt=1)");
    ready("async def f():\n    async def later():\n        await tools.crm.note(txt=1)\nawait f()");
    let c = "c = await tools.crm.get_customer(customer_id='1')\n";
    passes(&format!("{c}if all(k in c for k in ('nme',)):\n    c['nme']"));
    passes(&format!("{c}if {{'nme'}} <= c.keys():\n    c['nme']"));
    passes(&format!(
        "{c}def has(k):\n    return k in c\nif has('nme'):\n    c['nme']"
    ));
    passes(&format!(
        "{c}async def f():\n    return c['nme']\nasync def g():\n    return await f()\ntry:\n    await g()\nexcept KeyError:\n    pass"
    ));
    let safe = "def safe(f):\n    try:\n        return f()\n    except KeyError:\n        return None\n";
    passes(&format!("{c}{safe}safe(lambda: c['nme'])"));
    passes(&format!("{c}{safe}f = lambda: c['nme']\nsafe(f)"));
    passes(&format!("{c}{safe}def read():\n    return c['nme']\nsafe(read)"));
    passes(&format!(
        "{c}{safe}def read():\n    return c['nme']\nsafe(f=read)"
    ));
    passes(&format!("{c}{safe}@safe\ndef read():\n    return c['nme']"));
    let work = format!("import asyncio\n{c}async def work():\n    return c['nme']\n");
    let caught = "try:\n    await t\nexcept KeyError:\n    pass";
    passes(&format!("{work}t = asyncio.create_task(work())\n{caught}"));
    passes(&format!("{work}t = work()\n{caught}"));
    passes(&format!(
        "{work}t = asyncio.gather(*[work() for i in range(2)])\n{caught}"
    ));
    let quiet = "from contextlib import contextmanager\n@contextmanager\ndef quiet():\n    try:\n        yield\n    except KeyError:\n        pass\n";
    passes(&format!("{c}{quiet}with quiet():\n    c['nme']"));
    passes(&format!(
        "{c}class Quiet:\n    def __enter__(self): pass\n    def __exit__(self, *a): return True\nwith Quiet():\n    c['nme']"
    ));
    passes(&format!("{c}KEY = 'nme'\nif KEY in c:\n    c[KEY]"));
    passes(&format!(
        "{c}def has(d, key):\n    return key in d\nif has(c, key='nme'):\n    c['nme']"
    ));
    passes(&format!(
        "{c}def has(d, key='nme'):\n    return key in d\nif has(c):\n    c['nme']"
    ));
    passes(&format!(
        "{c}keys = {{'a': 'nme'}}\nif keys['a'] in c:\n    c['nme']"
    ));
    // The same without a handler.
    let wrong = |source: &str| assert!(report_after(&[], source).has_errors(), "{source}");
    wrong("async def f():\n    await tools.crm.nope()\nawait f()");
    wrong(
        "async def f():\n    await tools.crm.note(txt=1)\nimport asyncio\nawait asyncio.gather(*map(f, 'ab'))",
    );
    wrong(&format!("{c}{{'nme': c['nme']}}"));
    wrong(&format!("{c}def run(f):\n    return f()\nrun(lambda: c['nme'])"));
    wrong(&format!(
        "{work}await work()\ntry:\n    pass\nexcept KeyError:\n    pass"
    ));
    wrong(&format!("{c}{safe}sorted([1], key=lambda n: c['nme'])"));
    wrong(&format!("{c}print('nme', c['nme'])"));
    wrong(&format!(
        "{c}def f():\n    return c['nme']\ntry:\n    pass\nexcept KeyError:\n    f()"
    ));
}

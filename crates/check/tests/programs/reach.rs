//! How far the check reaches: tools passed on, star imports.

use super::{check, passes, report_after};

#[test]
fn tools_that_are_handed_on_are_found() {
    let unknown = "does not exist; write";
    let finds = |source: &str, expected: &str, is_error: bool| {
        let report = report_after(&[], source);
        assert_eq!(report.has_errors(), is_error, "{source}: {report:?}");
        assert!(report.lines().concat().contains(expected), "{source}: {report:?}");
    };
    finds(
        "import asyncio\nawait asyncio.to_thread(servers.crm.get_custmer, customer_id='a')",
        unknown,
        true,
    );
    finds(
        "from functools import partial\nf = partial(tools.crm.get_custmer)",
        unknown,
        true,
    );
    finds(
        "import functools\nf = functools.partial(tools.crm.get_customer, custmer_id='a')",
        "custmer_id",
        true,
    );
    finds(
        "import functools\nf = functools.partial(tools.crm.list_customers, region='EU')",
        "EMEA",
        true,
    );
    // The receiver may catch its error.
    finds("def f(g): pass\nf(tools.crm.get_custmer)", unknown, false);
    passes("import functools\nf = functools.partial(tools.crm.note)\nawait f(text='a')");
    passes("import asyncio\nawait asyncio.to_thread(servers.crm.note, **x)");
    passes("import asyncio\nawait asyncio.to_thread(f, servers.crm.note, nope=1)");
    let caught = "from functools import partial\ntry:\n    await partial(tools.crm.get_custmer)()\nexcept Exception: pass";
    finds(caught, unknown, false);
}

#[test]
fn star_imports_of_other_modules_hide_no_tools() {
    check(
        "from math import *\nawait tools.crm.get_custmer(customer_id='a')",
        &["line 2: tools.crm.get_custmer does not exist; write tools.crm.get_customer(customer_id: str)"],
    );
    passes("e = tools.crm\nfrom math import *\nawait e.nope()");
    passes("from math import *\nawait runtime.call_tool('crm', 'nope')");
}

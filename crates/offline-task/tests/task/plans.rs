//! Plans of tasks in words: steps, selected tools, arguments, questions.

use crate::tools::{check, planned, request, samples, search, selected, tool, units};
use catalog::Search;
use offline_task::{PlanRequest, ProgramOverrides, TaskError, ToolNames, plan, program};
use serde_json::json;

/// S1-07, C184, C186: the tools selected from the eleven.
#[test]
fn tasks_select_the_tools_that_they_are_about() {
    let check = |search: &Search, text: &str, expected: &[&str]| {
        assert_eq!(selected(&planned(search, text)), expected, "{text}");
    };
    let tools = samples(&[]);
    let calculator = ["calculator.add", "calculator.calculate", "calculator.multiply"];
    check(&tools, "Calculate 5 + 3", &calculator);
    check(
        &tools,
        "Get weather for NYC",
        &["weather.get_forecast", "weather.get_weather"],
    );
    let both = selected(&planned(&tools, "Read file and calculate sum"));
    for tool in ["filesystem.read_file", "calculator.calculate"] {
        assert!(both.iter().any(|selected| selected == tool), "{both:?}");
    }
    assert!(
        !both.iter().any(|selected| selected.starts_with("weather")),
        "{both:?}"
    );
    check(&tools, "Update my calendar", &[]);
    check(&tools, "Book a flight to Rome", &[]);
    check(&tools, "Delete the file notes.txt", &[]);
    let with_units = samples(&[units()]);
    check(&with_units, "Convert 10 km to miles", &["units.convert"]);
    check(&with_units, "Calculate 5 + 3", &calculator);
}

#[test]
fn arguments_are_the_words_of_the_task() {
    let tools = samples(&[units()]);
    let check = |text: &str, expected: &[&str]| check(&tools, text, expected);
    check(
        "Calculate 5 + 3",
        &[r#"calculator.calculate(expression="5 + 3")"#],
    );
    check(
        "Calculate 5 + 3 and get weather for San Francisco",
        &[
            r#"calculator.calculate(expression="5 + 3")"#,
            r#"weather.get_weather(location="San Francisco")"#,
        ],
    );
    check("Add 5 and 3", &["calculator.add(a=5, b=3)"]);
    check(
        "Multiply 4 by 7, then add 2 to the result",
        &["calculator.multiply(a=4, b=7)", "calculator.add(a=2, b=<1>)"],
    );
    check(
        "Get the weather in Paris and London in fahrenheit",
        &[
            r#"weather.get_weather(location="Paris", units="fahrenheit")"#,
            r#"weather.get_weather has no parameter for "London", which is left out"#,
        ],
    );
    check(
        "What is the forecast for Berlin for 5 days?",
        &[r#"weather.get_forecast(location="Berlin", days=5)"#],
    );
    check(
        "Get the weather in oslo",
        &[r#"weather.get_weather(location="oslo")"#],
    );
    check(
        "Convert 10 km to miles",
        &[r#"units.convert(value=10, from_unit="km", to_unit="miles")"#],
    );
    check(
        "List the files in src/ recursively",
        &[r#"filesystem.list_directory(path="src/", recursive=true)"#],
    );
    check(
        "Calculate 10 * 5 and save the result to out/result.txt",
        &[
            r#"calculator.calculate(expression="10 * 5")"#,
            r#"filesystem.write_file(path="out/result.txt", content=<1 as text>)"#,
        ],
    );
    check(
        "Write \"Hello World\" to hello.txt, then read hello.txt",
        &[
            r#"filesystem.write_file(path="hello.txt", content="Hello World")"#,
            r#"filesystem.read_file(path="hello.txt")"#,
        ],
    );
    check(
        "Write \"Hello World\" to hello.txt, then read it",
        &[
            r#"filesystem.write_file(path="hello.txt", content="Hello World")"#,
            r#"filesystem.read_file(path="hello.txt")"#,
        ],
    );
    check(
        "Write {\"a\": 1} to a.json",
        &[r#"filesystem.write_file(path="a.json", content="{\"a\":1}")"#],
    );
    check(
        "Write \"x\" on the wall",
        &[
            r#"filesystem.write_file needs 'path': say for example path='notes.txt' (in "Write \"x\" on the wall")"#,
        ],
    );
    check("List the tables", &["database.list_tables()"]);
    check(
        "Query the database with \"SELECT count(*) FROM users\"",
        &[r#"database.query(sql="SELECT count(*) FROM users")"#],
    );
}

#[test]
fn what_is_not_said_is_asked_for() {
    let tools = samples(&[]);
    let check = |text: &str, expected: &[&str]| check(&tools, text, expected);
    check(
        "Get the weather",
        &[
            r#"weather.get_weather needs 'location': say for example location='San Francisco, CA' (in "Get the weather")"#,
        ],
    );
    check(
        "Read file and calculate sum",
        &[
            r#"filesystem.read_file needs 'path': say for example path='notes.txt' (in "Read file")"#,
            r#"calculator.calculate needs 'expression': say for example expression='2 * (3 + 4)' (in "calculate sum")"#,
        ],
    );
    check(
        "Calculate 10 * 5, then get weather for that many cities starting with San Francisco",
        &[
            r#"calculator.calculate(expression="10 * 5")"#,
            r#"weather.get_weather(location="San Francisco")"#,
            r#"weather.get_weather has no parameter for "many", "cities", "starting", which is left out"#,
        ],
    );
    check(
        "Get the weather in Rome, if temperature is above 20, calculate 3 + 4",
        &[
            r#"weather.get_weather(location="Rome")"#,
            r#""if temperature is above 20" is a condition or a repetition, which codeyard cannot follow; pass the program of that part (--task-specific-calls)"#,
            r#""calculate 3 + 4" is a condition or a repetition, which codeyard cannot follow; pass the program of that part (--task-specific-calls)"#,
        ],
    );
}

/// Unrelated tools: a shop, mail, issues, and names that Python does not accept.
fn others() -> Search {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "number"});
    let mut find = tool("find_customer", "Find a customer by name", 1, &[("name", text())]);
    find["outputSchema"] = json!({"type": "object", "properties": {
        "customer_id": {"type": "string"}, "email": {"type": "string"}, "balance": {"type": "number"}}});
    let orders = tool(
        "list_orders",
        "List the orders of a customer",
        1,
        &[
            ("customer_id", text()),
            ("limit", json!({"type": "integer", "minimum": 1, "maximum": 100})),
            (
                "status",
                json!({"type": "string", "enum": ["open", "shipped", "cancelled"]}),
            ),
        ],
    );
    let refund = tool(
        "refund_order",
        "Refund an order",
        2,
        &[
            (
                "order_id",
                json!({"type": "string", "description": "Id of the order, such as ORD-1234"}),
            ),
            ("amount", number()),
            (
                "notify",
                json!({"type": "boolean", "description": "Whether the customer is told"}),
            ),
        ],
    );
    let send = tool(
        "send_email",
        "Send an email to somebody",
        3,
        &[
            (
                "to",
                json!({"type": "array", "items": {"type": "string", "format": "email"}}),
            ),
            ("subject", text()),
            ("body", text()),
            ("urgent", json!({"type": "boolean"})),
        ],
    );
    let issue = tool(
        "create_issue",
        "Create an issue in a repository",
        2,
        &[
            ("repo", text()),
            ("title", text()),
            ("labels", json!({"type": "array", "items": {"type": "string"}})),
            (
                "priority",
                json!({"type": "string", "enum": ["low", "medium", "high"]}),
            ),
        ],
    );
    let exchange = tool(
        "exchange",
        "Convert money from one currency to another",
        3,
        &[
            ("amount", number()),
            ("from", json!({"type": "string", "description": "Currency code"})),
            ("to", json!({"type": "string", "description": "Currency code"})),
        ],
    );
    let average = tool(
        "mean",
        "Average of numbers",
        1,
        &[("values", json!({"type": "array", "items": number()}))],
    );
    let event = tool(
        "create_event",
        "Create a calendar event",
        2,
        &[
            ("title", text()),
            ("date", json!({"type": "string", "format": "date"})),
            (
                "attendees",
                json!({"type": "array", "items": {"type": "string", "format": "email"}}),
            ),
        ],
    );
    search([
        ("shop".to_owned(), json!([find, orders, refund])),
        ("mail".to_owned(), json!([send])),
        ("tracker".to_owned(), json!([issue])),
        ("money".to_owned(), json!([exchange])),
        ("statistics".to_owned(), json!([average])),
        ("calendar".to_owned(), json!([event])),
    ])
}

#[test]
fn other_tools_are_filled_by_the_same_rules() {
    let tools = others();
    let check = |text: &str, expected: &[&str]| check(&tools, text, expected);
    check(
        "Find customer Ada Lovelace and list her last 5 open orders",
        &[
            r#"shop.find_customer(name="Ada Lovelace")"#,
            r#"shop.list_orders(customer_id=<1.customer_id>, limit=5, status="open")"#,
        ],
    );
    check(
        "Refund 20 for order ORD-1234",
        &[r#"shop.refund_order(order_id="ORD-1234", amount=20)"#],
    );
    check(
        "Refund order ORD-7, amount=12.5, notify=false",
        &[r#"shop.refund_order(order_id="ORD-7", amount=12.5, notify=false)"#],
    );
    check(
        "Send an urgent email to ann@example.com with subject \"Hi\" and body \"See you\"",
        &[r#"mail.send_email(to=["ann@example.com"], subject="Hi", body="See you", urgent=true)"#],
    );
    check(
        "Create a high priority issue in acme/site titled \"Broken link\"",
        &[r#"tracker.create_issue(repo="acme/site", title="Broken link", priority="high")"#],
    );
    check(
        "Convert 100 USD to EUR",
        &[r#"money.exchange(amount=100, from="USD", to="EUR")"#],
    );
    check(
        "What is the average of [3, 4, 8]?",
        &["statistics.mean(values=[3,4,8])"],
    );
    check(
        "Create an event called \"Standup\" on 2026-03-01",
        &[r#"calendar.create_event(title="Standup", date="2026-03-01")"#],
    );
    check(
        "I need to refund order ORD-9",
        &[
            r#"shop.refund_order needs 'amount': say for example amount=5 (in "I need to refund order ORD-9")"#,
        ],
    );
}

#[test]
fn a_text_that_cannot_be_read_is_refused_with_the_reason() {
    let tools = samples(&[]);
    let check = |text: &str, expected: &str| {
        let said = match plan(&request(text), &tools, &|_| true) {
            Ok(plan) => plan.problems().join("; "),
            Err(error) => error.to_string(),
        };
        assert!(said.starts_with(expected), "{text:?}: {said}");
    };
    check("", "the task is empty");
    check(" \n\t ", "the task is empty");
    check("?!... --", "there is no word in the task \"?!... --\"");
    check(
        &"x ".repeat(5000),
        "the task has 10000 bytes, and codeyard reads at most 4096",
    );
    check(
        "Read a.txt\0",
        "the task has the control character U+0000 at byte 10",
    );
    check("and then", "there is nothing to do in \"and then\"");
    let many = planned(&tools, &"Paint the wall.\n".repeat(30)).problems();
    assert_eq!(many.len(), 11, "{many:?}");
    assert_eq!(many[10], "and 20 more of this kind; say less at once");
    check("\"", "there is no word");
    check("\\\\ ''' \"\"\" x", "no tool of 11 answers");
    check("hello there", "there is nothing to do in \"hello there\"");
}

/// C358: no selection; the plan has exactly the required tools.
#[test]
fn required_tools_and_own_code_take_the_place_of_what_is_planned() {
    let tools = samples(&[]);
    let required = ToolNames::from([("calculator".to_owned(), vec!["add".to_owned()])]);
    let request = PlanRequest {
        required: Some(&required),
        ..request("anything at all")
    };
    let plan = plan(&request, &tools, &|_| true).expect("a plan");
    let overrides = ProgramOverrides {
        header: Some("# H".to_owned()),
        calls: vec![("calculator".to_owned(), "print(add(1,1))".to_owned())],
    };
    assert_eq!(selected(&plan), ["calculator.add"]);
    assert_eq!(
        program(&plan, &overrides),
        "# H\n#\n# Task: anything at all\nfrom servers.calculator import add\n\n# calculator\nprint(add(1,1))\n"
    );
    let missing = ToolNames::from([("calculator".to_owned(), vec!["minus".to_owned()])]);
    let request = PlanRequest {
        required: Some(&missing),
        ..request
    };
    let error = offline_task::plan(&request, &tools, &|_| true).expect_err("no such tool");
    assert_eq!(error, TaskError::NoTool("calculator.minus".to_owned()));
}

#[test]
fn programs_import_what_is_selected_of_the_servers_that_they_call() {
    let plan = planned(
        &samples(&[]),
        "Calculate 5 + 3, save the result to sum.txt, and get weather for Rome",
    );
    insta::assert_snapshot!(program(&plan, &ProgramOverrides::default()));
    let awkward = search([(
        "files".to_owned(),
        json!([tool(
            "print",
            "Print a file on paper",
            1,
            &[
                ("user-id", json!({"type": "string"})),
                ("class", json!({"type": "string"}))
            ]
        )]),
    )]);
    let code = program(
        &planned(
            &awkward,
            "Print it on paper with user-id=\"x\\\" + 'y\" and class=b",
        ),
        &ProgramOverrides::default(),
    );
    assert!(
        code.contains("from servers.files import print as files_print\n"),
        "{code}"
    );
    let start = code.find("results[1] =").expect("a call");
    insta::assert_snapshot!(code[start..].lines().next().expect("a line"));
}

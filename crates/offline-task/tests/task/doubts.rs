//! Ambiguous tasks: a changing tool is not called, and the reason is reported.

use crate::tools::{calls, check, planned, search, tool};
use catalog::Search;
use offline_task::{ProgramOverrides, program};
use serde_json::{Value, json};

fn office() -> Search {
    let text = || json!({"type": "string"});
    let switch = || json!({"type": "boolean"});
    let order = ("order_id", text());
    let customers = tool(
        "search_customers",
        "Search customers",
        0,
        &[("tier", json!({"type": "string", "enum": ["free", "enterprise"]}))],
    );
    let shop = json!([
        tool("get_order", "Get an order", 1, std::slice::from_ref(&order)),
        tool("cancel_order", "Cancel an order", 1, &[order]),
        tool(
            "delete_customer",
            "Delete a customer",
            1,
            &[("customer_id", text())]
        ),
        customers,
    ]);
    let files = json!([
        tool("read_file", "Read a file", 1, &[("path", text())]),
        tool(
            "remove_file",
            "Remove a file",
            1,
            &[("path", text()), ("force", switch())]
        ),
        tool(
            "write_file",
            "Write text to a file",
            2,
            &[("path", text()), ("content", text())]
        ),
    ]);
    let logs = json!([tool("erase_log", "Erase a log", 1, &[("path", text())])]);
    let named = |(name, tools): (&str, Value)| (name.to_owned(), tools);
    search([("shop", shop), ("files", files), ("logs", logs)].map(named))
}

/// Checks that nothing planned calls a tool, and that the problems contain this text.
fn refused(text: &str, expected: &str) {
    let plan = planned(&office(), text);
    let problems = plan.problems().join("; ");
    assert!(
        problems.contains(expected),
        "{text}: {problems:?} {:?}",
        calls(&plan)
    );
}

fn done(text: &str, expected: &[&str]) {
    check(&office(), text, expected);
}

#[test]
fn what_is_negated_is_not_done() {
    refused(
        "Don't cancel order A-17",
        "says 'don't', which codeyard cannot follow",
    );
    refused("Do not delete customer 7", "says 'not'");
    refused("Never remove old.txt", "says 'never'");
    refused("Remove everything except notes.txt", "says 'except'");
    refused("Read a.txt and don't remove it", "says 'don't'");
    refused("Don't force", "says 'don't'");
    refused("Search customers who are not enterprise", "says 'not'");
    refused("Don\u{2019}t Cancel Order A-17", "says 'don\u{2019}t'");
    refused(
        "Remove old.txt, don't force",
        "leaves open what 'force' is to be; write force=...",
    );
    done(
        "Remove old.txt, force=false",
        &[r#"files.remove_file(path="old.txt", force=false)"#],
    );
    done(
        "Search enterprise customers",
        &[r#"shop.search_customers(tier="enterprise")"#],
    );
}

#[test]
fn a_question_changes_nothing() {
    for text in [
        "How do I cancel order A-17?",
        "What would it cost to cancel order A-17",
        "Why was customer 7 deleted?",
        "Cancel order A-17?",
        "I want to know how to cancel order A-17",
        "Explain how to cancel order A-17",
        "Is order A-17 cancelled?",
        "Order A-17 was cancelled",
    ] {
        let calls = calls(&planned(&office(), text));
        let changes = |call: &String| {
            call.starts_with("shop.cancel_order(") || call.starts_with("shop.delete_customer(")
        };
        assert!(!calls.iter().any(changes), "{text}: {calls:?}");
    }
    for text in [
        "Can you cancel order A-17?",
        "I would like to cancel order A-17",
        "Please cancel order A-17",
    ] {
        done(text, &[r#"shop.cancel_order(order_id="A-17")"#]);
    }
}

#[test]
fn an_instruction_is_no_question() {
    let number = || json!({"type": "number"});
    let tools = search([(
        "desk".to_owned(),
        json!([
            tool(
                "refund_order",
                "Refund an order",
                1,
                &[("order_id", json!({"type": "string"}))]
            ),
            tool(
                "ship_parcel",
                "Ship a parcel",
                2,
                &[("weight_kg", number()), ("city", json!({"type": "string"}))]
            ),
        ]),
    )]);
    let check = |text: &str, expected: &str| {
        let calls = calls(&planned(&tools, text));
        assert!(calls[0].contains(expected), "{text}: {calls:?}");
    };
    check("Do it now", "no tool of 2 answers");
    check(
        "Ship of 12.5 kg to Lyon is late",
        "has no parameter for \"is\", \"late\"",
    );
    check(
        "Ship a parcel of 12.5 kg to Lyon",
        r#"desk.ship_parcel(weight_kg=12.5, city="Lyon")"#,
    );
    check(
        "Ship what is left, a parcel of 12.5 kg, to Lyon",
        "has no parameter for",
    );
    for text in [
        "Do I ship a parcel of 12.5 kg to Lyon",
        "Have you shipped a parcel of 12.5 kg to Lyon",
        "Will they ship a parcel of 12.5 kg to Lyon",
        "Have a parcel of 12.5 kg shipped to Lyon?",
    ] {
        check(text, "a question calls only tools");
    }
}

#[test]
fn a_tool_answers_its_own_verb_only() {
    done(
        "What should I read in a.txt?",
        &[r#"files.read_file(path="a.txt")"#],
    );
    done("Erase the log app.log", &[r#"logs.erase_log(path="app.log")"#]);
    done(
        "Read the log app.log",
        &[
            r#"files.read_file(path="app.log")"#,
            r#"files.read_file has no parameter for "log", which is left out"#,
        ],
    );
    let erased = calls(&planned(&office(), "Erase notes.txt"));
    assert!(
        !erased.iter().any(|call| call.starts_with("files.read")),
        "{erased:?}"
    );
}

#[test]
fn a_choice_between_two_is_not_made() {
    refused("Cancel order A-17 or A-18", "says 'or'; say which one is meant");
    refused("Read a.txt or b.txt", "says 'or'; say which one is meant");
}

/// A tool's hints count more than its name.
#[test]
fn hints_of_the_definition_tell_what_changes_something() {
    let hinted = |hints: Value| {
        let mut tool = tool(
            "get_ticket",
            "Get a ticket",
            1,
            &[("ticket_id", json!({"type": "string"}))],
        );
        tool["annotations"] = hints;
        let plan = planned(
            &search([("desk".to_owned(), json!([tool]))]),
            "Which is ticket T-5?",
        );
        plan.problems()
    };
    assert_eq!(hinted(json!({"readOnlyHint": true})), [""; 0]);
    assert_eq!(hinted(json!({})), [""; 0]);
    assert_eq!(hinted(json!({"destructiveHint": true})).len(), 1);
    assert_eq!(hinted(json!({"readOnlyHint": false})).len(), 1);
}

#[test]
fn a_condition_is_not_dropped() {
    for text in [
        "Cancel order A-17 when it is late",
        "Cancel order A-17 only once it is paid",
        "If it is late, cancel order A-17 and delete customer 7",
    ] {
        refused(
            text,
            "is a condition or a repetition, which codeyard cannot follow",
        );
    }
    refused("Cancel order A-17 as long as it is open", "has no parameter for");
    refused("Cancel order A-17 after 2026-05-01", "has no parameter for");
}

#[test]
fn values_are_passed_as_they_are_written() {
    done("Cancel order 00123", &[r#"shop.cancel_order(order_id="00123")"#]);
    done(
        "Cancel order 99999999999999999999",
        &[r#"shop.cancel_order(order_id="99999999999999999999")"#],
    );
    done(
        "Read other.txt and write it to n.txt",
        &[
            r#"files.read_file(path="other.txt")"#,
            r#"files.write_file(path="n.txt", content=<1 as text>)"#,
        ],
    );
}

#[test]
fn a_number_is_not_taken_for_another() {
    let number = || json!({"type": "number"});
    let minutes = json!({"type": "number", "description": "Duration in minutes"});
    let tools = search([(
        "desk".to_owned(),
        json!([
            tool("book_room", "Book a room", 1, &[("minutes", minutes)]),
            tool("pay_bill", "Pay a bill", 1, &[("amount", number())]),
        ]),
    )]);
    let check = |text: &str, expected: &str| {
        let calls = calls(&planned(&tools, text));
        assert!(
            calls.iter().any(|call| call.contains(expected)),
            "{text}: {calls:?}"
        );
    };
    check("Book a room for 30 minutes", "desk.book_room(minutes=30)");
    check("Pay a bill of 50", "desk.pay_bill(amount=50)");
    check("Book a room for 2 hours", "has the number \"2 hours\"");
    check("Book a room for about 30 minutes", "has the number \"about 30\"");
    for amount in ["$50", "$5k", "10%", "1.234,50", "five hundred"] {
        check(&format!("Pay a bill of {amount}"), "desk.pay_bill needs 'amount'");
    }
    check("Pay a bill of 1.5 million", "has the number \"1.5 million\"");
    check("Pay a bill of 50 euros", "has the number \"50 euros\"");
}

#[test]
fn own_code_is_for_servers_that_are_there() {
    let mut plan = planned(&office(), "Read a.txt and frobnicate");
    let calls = vec![("shopp".to_owned(), "pass".to_owned())];
    plan.replace(&ProgramOverrides { header: None, calls });
    let problems = plan.problems().join("; ");
    assert!(
        problems.contains("--task-specific-calls has a program for the server 'shopp'"),
        "{problems}"
    );
}

/// The caller's code replaces the first step of its server.
#[test]
fn own_code_gives_the_results_that_other_steps_need() {
    let task = |code: &str| {
        let mut plan = planned(&office(), "Get order A-17 and write it to n.txt");
        let calls = vec![("shop".to_owned(), code.to_owned())];
        let overrides = ProgramOverrides { header: None, calls };
        plan.replace(&overrides);
        (plan.problems(), program(&plan, &overrides))
    };
    let (problems, code) = task("results[1] = get_order(order_id=\"A-17\")");
    assert_eq!(problems, [""; 0]);
    let (given, needed) = (code.find("results[1] = get_order"), code.find("given(1)"));
    assert!(given.is_some() && given < needed, "{code}");
}

#[test]
fn two_values_that_could_change_places_are_not_passed() {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "number"});
    let patient = json!({"type": "string", "description": "Name of the patient"});
    let tools = search([(
        "clinic".to_owned(),
        json!([
            tool(
                "prescribe",
                "Prescribe a drug",
                2,
                &[("patient", patient), ("drug", text())]
            ),
            tool(
                "add_stock",
                "Add stock",
                2,
                &[("quantity", number()), ("price", number())]
            ),
            tool(
                "set_option",
                "Set an option",
                2,
                &[("key", text()), ("value", text())]
            ),
            tool("turn_off", "Turn off a device", 1, &[("device", text())]),
        ]),
    )]);
    let check = |text: &str, expected: &str| {
        let calls = calls(&planned(&tools, text));
        assert!(calls[0].contains(expected), "{text}: {calls:?}");
    };
    check(
        "Prescribe Ibuprofen to Ann Bell",
        "leaves open which of Ibuprofen and Ann Bell is 'patient' and which is 'drug'; write patient=... and drug=...",
    );
    check(
        "Prescribe the drug Ibuprofen to Ann Bell",
        r#"clinic.prescribe(patient="Ann Bell", drug="Ibuprofen")"#,
    );
    check("Add stock, 5 at 10", "leaves open which of 5 and 10");
    check(
        "Add stock with price 5 and quantity 10",
        "clinic.add_stock(quantity=10, price=5)",
    );
    check(
        "Set option \"theme\" to \"dark\"",
        r#"clinic.set_option(key="theme", value="dark")"#,
    );
    check("Turn off the lamp in the hall", "clinic.turn_off needs 'device'");
}

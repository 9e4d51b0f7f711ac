//! Words of time, of repetition and of conditions: what would change something is not called as if they were not there.

use crate::tools::{calls, planned, search, tool};
use serde_json::json;

fn planned_calls(text: &str) -> Vec<String> {
    let string = || json!({"type": "string"});
    let often = json!({"type": "string", "enum": ["daily", "weekly"]});
    let day = json!({"type": "string", "format": "date"});
    let desk = json!([
        tool(
            "send_money",
            "Send money to somebody",
            2,
            &[("amount", json!({"type": "number"})), ("person", string())]
        ),
        tool("run_backup", "Run the backup", 1, &[("often", often)]),
        tool("delete_orders", "Delete orders", 1, &[("before", day)]),
        tool(
            "set_limit",
            "Set the daily limit",
            1,
            &[("limit", json!({"type": "number"}))]
        ),
        tool(
            "plan_visit",
            "Plan a visit",
            1,
            &[("date", json!({"type": "string", "format": "date"}))]
        ),
        tool("create_issue", "Create an issue", 1, &[("title", string())]),
        tool(
            "get_weather",
            "Get the weather of a city",
            1,
            &[("city", string())]
        ),
        tool("cancel_order", "Cancel an order", 1, &[("order_id", string())]),
    ]);
    calls(&planned(&search([("desk".to_owned(), desk)]), text))
}

#[test]
fn what_puts_off_or_repeats_is_told_and_nothing_is_done() {
    let check = |text: &str, words: &str| {
        let calls = planned_calls(text);
        let expected = format!("takes nothing like \"{words}\", so it may not be what");
        assert!(calls[0].contains(&expected), "{text}: {calls:?}");
    };
    check("Send 50 to Ann tomorrow", "tomorrow");
    check("Send 50 to Ann next week", "next week");
    check("Send 50 to Ann every week", "every week");
    check("Send 50 to Ann weekly", "weekly");
    check("Send 50 to Ann each month", "each month");
    check("Send 50 to Ann twice", "twice");
    check("Send 50 to Ann as needed", "as needed");
    check("Send maybe 50 to Ann", "maybe");
    check("Send 50 to Ann after she agrees", "after");
    check("Send 50 to Ann after Bob agrees", "Bob\", \"after");
    check("Send 50 to Ann should she agree", "should she");
    check("Send 50 to Ann for each order", "each order");
    check("Send 50 to Ann in a month", "in a month");
    check("Send 50 to Ann on friday", "friday");
    check("Send 50 to Ann before noon", "before\", \"noon");
    check("Cancel order A-17 again", "again");
    check("Cancel order A-17 later", "later");
    check("Cancel order A-17 temporarily", "temporarily");
    check("Cancel order A-17 daily", "daily");
    check("Cancel order A-17 eventually", "eventually");
    check("Plan a visit the day after 2026-05-01", "after 2026-05-01");
}

#[test]
fn what_a_parameter_takes_is_followed() {
    let check = |text: &str, expected: &[&str]| assert_eq!(planned_calls(text), expected, "{text}");
    check("Send 50 to Ann", &[r#"desk.send_money(amount=50, person="Ann")"#]);
    check(
        "Send 50 to Ann now",
        &[r#"desk.send_money(amount=50, person="Ann")"#],
    );
    check("Run the backup weekly", &[r#"desk.run_backup(often="weekly")"#]);
    check(
        "Delete orders before 2026-05-01",
        &[r#"desk.delete_orders(before="2026-05-01")"#],
    );
    check(
        "Create an issue titled \"Run it twice every week\"",
        &[r#"desk.create_issue(title="Run it twice every week")"#],
    );
    check(
        "Get the weather of Paris tomorrow",
        &[
            r#"desk.get_weather(city="Paris")"#,
            r#"desk.get_weather takes nothing like "tomorrow", which is left out"#,
        ],
    );
}

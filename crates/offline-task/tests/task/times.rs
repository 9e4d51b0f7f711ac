//! Words of time, repetition and condition: a changing tool is not called as if they were absent.

use crate::tools::{calls, check, planned, samples, search, tool, units};
use catalog::Search;
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
        let expected = format!("has no parameter for {words}, so ");
        assert!(calls[0].contains(&expected), "{text}: {calls:?}");
    };
    check("Send 50 to Ann tomorrow", "\"tomorrow\"");
    check("Send 50 to Ann next week", "\"next\", \"week\"");
    check("Send 50 to Ann weekly", "\"weekly\"");
    check("Send 50 to Ann twice", "\"twice\"");
    check(
        "Send 50 to Ann after she agrees",
        "\"after\", \"she\", \"agrees\"",
    );
    check("Send 50 to Ann for each order", "\"each\", \"order\"");
    check("Send 50 to Ann on friday", "\"friday\"");
    check("Cancel order A-17 again", "\"again\"");
    check("Cancel order A-17 temporarily", "\"temporarily\"");
    check("Plan a visit the day after 2026-05-01", "\"day\", \"after\"");
    assert!(planned_calls("Send maybe 50 to Ann")[0].contains("has the number \"maybe 50\""));
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
            r#"desk.get_weather has no parameter for "tomorrow", which is left out"#,
        ],
    );
}

/// The public time server's tools.
pub fn clock() -> Search {
    let zone = |about: &str| json!({"type": "string", "description": about});
    let now = tool(
        "get_current_time",
        "Get current time in a specific timezone",
        1,
        &[(
            "timezone",
            zone(
                "IANA timezone name (e.g., 'America/New_York', 'Europe/London'). Use 'UTC' as local timezone if no timezone provided by the user.",
            ),
        )],
    );
    let convert = tool(
        "convert_time",
        "Convert time between timezones",
        3,
        &[
            (
                "source_timezone",
                zone("Source IANA timezone name (e.g., 'America/New_York')"),
            ),
            (
                "time",
                json!({"type": "string", "description": "Time to convert in 24-hour format (HH:MM)"}),
            ),
            (
                "target_timezone",
                zone("Target IANA timezone name (e.g., 'Asia/Tokyo')"),
            ),
        ],
    );
    samples(&[("time", json!([now, convert])), units()])
}

#[test]
fn places_stand_for_their_time_zones() {
    let tools = clock();
    let check = |text: &str, zone: &str| {
        let expected = format!("time.get_current_time(timezone={zone:?})");
        check(&tools, text, &[expected.as_str()]);
    };
    check("What time is it in Tokyo?", "Asia/Tokyo");
    check("what time is it in tokyo", "Asia/Tokyo");
    check("What's the hour in Tokyo now?", "Asia/Tokyo");
    check("How late is it in Paris?", "Europe/Paris");
    check("What day is it in Sydney?", "Australia/Sydney");
    check("Is it night in Japan?", "Asia/Tokyo");
    check("Tell me the current time in New York", "America/New_York");
    check("What is the current time in Europe/Berlin?", "Europe/Berlin");
    check("What time is it in Atlantis?", "Atlantis");
}

#[test]
fn a_place_alone_is_no_question_for_the_time() {
    for text in [
        "Is it raining in Tokyo?",
        "Who lives in Paris?",
        "Delete the time in Tokyo",
        "Set the clock in Tokyo to 10:00",
    ] {
        let plan = planned(&clock(), text);
        let calls = plan.steps.iter().filter_map(|step| step.call.as_ref());
        let called: Vec<String> = calls.map(|call| call.entry.tool.to_string()).collect();
        assert!(
            !called.iter().any(|tool| tool.starts_with("time.")),
            "{text}: {called:?}"
        );
    }
}

#[test]
fn questions_that_are_calculations_go_to_what_takes_one() {
    let reckon = tool(
        "reckon",
        "Reckons/evaluates the given expression.",
        1,
        &[("expression", json!({"title": "Expression", "type": "string"}))],
    );
    let sum = tool(
        "get-sum",
        "Returns the sum of two numbers",
        2,
        &[("a", json!({"type": "number"})), ("b", json!({"type": "number"}))],
    );
    let change = tool(
        "purge",
        "Purges/deletes what the given expression matches.",
        1,
        &[("expression", json!({"type": "string"}))],
    );
    let tools = search([("figures".to_owned(), json!([reckon, sum, change]))]);
    check(
        &tools,
        "What is 15 * 80?",
        &[r#"figures.reckon(expression="15 * 80")"#],
    );
    check(
        &tools,
        "How much is 7 times 6?",
        &[r#"figures.reckon(expression="7 * 6")"#],
    );
}

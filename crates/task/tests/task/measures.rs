//! Numbers whose unit or size may be another to the tool: what would change something is not called with them.

use crate::tools::{calls, planned, search, tool};
use catalog::Search;
use serde_json::{Value, json};

/// Tools that take numbers in units, which their names or descriptions tell, or in none.
fn tools() -> Search {
    let number = || json!({"type": "number"});
    let text = || json!({"type": "string"});
    let about = |about: &str| json!({"type": "number", "description": about});
    let desk = json!([
        tool("record_walk", "Record a walk", 1, &[("distance_km", number())]),
        tool(
            "set_timeout",
            "Set the timeout",
            1,
            &[("timeout_milliseconds", number())]
        ),
        tool(
            "book_room",
            "Book a room",
            2,
            &[("room", text()), ("minutes", number())]
        ),
        tool("ship_parcel", "Ship a parcel", 1, &[("weight_kg", number())]),
        tool("send_money", "Send money", 1, &[("amount_usd", number())]),
        tool("pay_bill", "Pay a bill", 1, &[("amount", number())]),
        tool("buy_tickets", "Buy tickets", 1, &[("count", number())]),
        tool(
            "set_heating",
            "Set the heating",
            1,
            &[("target", about("Temperature in celsius"))]
        ),
        tool(
            "set_discount",
            "Set the discount",
            1,
            &[("discount", about("In percent"))]
        ),
        tool("set_alert", "Set an alert", 1, &[("max_price", number())]),
        tool("set_floor", "Set a floor", 1, &[("lower", number())]),
        tool("set_warning", "Set a warning", 1, &[("threshold", number())]),
        tool(
            "set_guard",
            "Set a guard",
            1,
            &[("limit", about("Lower limit of the stock"))]
        ),
        tool("cancel_order", "Cancel an order", 1, &[("order_id", text())]),
        tool(
            "delete_visit",
            "Delete a visit",
            1,
            &[("visit_id", json!({"type": "integer"}))]
        ),
        tool("get_forecast", "Get the forecast", 1, &[("days", number())]),
    ]);
    search([("desk".to_owned(), desk)])
}

fn check(tools: &Search, text: &str, expected: &str) {
    let calls = calls(&planned(tools, text));
    let found = calls.iter().any(|call| call.contains(expected));
    assert!(found, "{text}: {calls:?}");
}

#[test]
fn a_number_in_the_tools_own_unit_is_passed() {
    let tools = tools();
    let check = |text: &str, expected: &str| check(&tools, text, expected);
    check("Record a walk of 5 km", "desk.record_walk(distance_km=5)");
    check("Record a walk of 5 kilometers", "(distance_km=5)");
    check("Set the timeout to 500 ms", "(timeout_milliseconds=500)");
    check("Set the timeout to 500", "(timeout_milliseconds=500)");
    check("Book room \"A\" for 30 min", "minutes=30)");
    check("Ship a parcel of 12.5 kilograms", "(weight_kg=12.5)");
    check("Ship a parcel of 12.5kg now", "(weight_kg=12.5)");
    check("Send money, $50", "(amount_usd=50)");
    check("Send money, 50 dollars", "(amount_usd=50)");
    check("Pay a bill of $50", "(amount=50)");
    check("Buy 3 tickets", "(count=3)");
    check("Set the heating to 21 degrees", "(target=21)");
    check("Set the heating to 21 degrees celsius", "(target=21)");
    check("Set the heating to 21 degrees Celsius", "(target=21)");
    check("Set the heating to 21 \u{b0}C", "(target=21)");
    check("Send money, 50 USD", "(amount_usd=50)");
    check("Set the discount to 15%", "(discount=15)");
    check("Cancel order 17", "(order_id=\"17\")");
}

/// "At least" leads to a least, and "at most" to a most.
#[test]
fn a_bound_is_passed_to_what_bounds_from_the_same_side() {
    let tools = tools();
    for text in ["at most 50", "below 50", "under 50", "with max 50"] {
        check(
            &tools,
            &format!("Set an alert {text}"),
            "desk.set_alert(max_price=50)",
        );
    }
    for text in ["at least 18", "above 18", "over 18"] {
        check(&tools, &format!("Set a floor {text}"), "desk.set_floor(lower=18)");
    }
    let number = || json!({"type": "number"});
    let hotels = tool(
        "search_hotels",
        "Search hotels",
        0,
        &[("min_price", number()), ("max_price", number())],
    );
    let hotels = search([("travel".to_owned(), json!([hotels]))]);
    check(&hotels, "Search hotels for more than 100", "(min_price=100)");
    check(&hotels, "Search hotels for less than 100", "(max_price=100)");
    for text in [
        "Set an alert at least 50",
        "Set an alert above 50",
        "Set an alert over 50",
        "Set an alert about 50",
        "Set an alert up to 50",
        "Set a floor below 18",
        "Set a floor under 18",
        "Set a floor lower than 18",
        "Set a warning above 18",
        "Set a warning below 18",
        "Set a guard above 18",
        "Set a guard below 18",
    ] {
        check(
            &tools,
            text,
            "which the words around it change; say the number that desk.",
        );
    }
}

#[test]
fn a_number_in_another_unit_is_not_passed() {
    let tools = tools();
    let check = |text: &str, expected: &str| check(&tools, text, expected);
    let km = "where desk.record_walk takes kilometres; write it in kilometres";
    check("Record a walk of 500 metres", km);
    check("Record a walk of 500 m", km);
    check("Record a walk of 3 miles", km);
    let ms = "where desk.set_timeout takes milliseconds";
    check("Set the timeout to 5 s", ms);
    check("Set the timeout to 2 min", ms);
    check(
        "Book room \"A\" for 2 h",
        "has the number \"2 h\", where desk.book_room takes minutes",
    );
    check("Ship a parcel of 5 tons", "takes kilograms");
    check("Ship a parcel of 500g", "takes kilograms");
    check(
        "Send money, \u{a3}50",
        "has the number \"\u{a3}50\", where desk.send_money takes US dollars",
    );
    check("Send money, 50\u{20ac}", "takes US dollars");
    check("Send money, 50 pounds", "takes US dollars");
    check("Send money, 50 EUR", "takes US dollars");
    check(
        "Set the heating to 70 degrees fahrenheit",
        "takes degrees Celsius",
    );
    check("Set the heating to 70 \u{b0}F", "takes degrees Celsius");
    check("Get the forecast for 2 weeks", "takes days");
}

#[test]
fn a_number_that_is_not_meant_as_it_stands_is_not_passed() {
    let tools = tools();
    let check = |text: &str, expected: &str| check(&tools, text, expected);
    for text in [
        "Send money, half of 50",
        "Send money, twice 50",
        "Send money, 10 percent",
        "Book room \"A\" for 2 and a half hours",
    ] {
        check(text, "may take for another; write it in figures");
    }
    for text in [
        "Send money, at least 50",
        "Send money, up to 50",
        "Send money, about 50 dollars",
        "Send money, 50 dollars a week",
        "Send money, 50 each",
        "Send money, 50 dollars less",
        "Set the heating 2 degrees higher",
        "Set the heating by 2 degrees",
    ] {
        check(text, "which the words around it change");
    }
    check("Send money, 50 dollars at most", "the word 'most' of");
    check("Set an alert, 50 at most", "the word 'most' of");
    check("Send money, 50 dollars or so", "says 'or', which is not decided");
    check("Pay a bill of 50 euros", "says nothing of \"euros\"");
    check("Pay a bill of \u{a3}50", "says nothing of \"\u{a3}\"");
    check("Buy 3 straight", "says nothing of \"straight\"");
    check("Set an alert, 5 more", "says nothing of \"more\"");
    check("Buy 3 boxes", "desk.buy_tickets");
    check("Cancel 5 orders", "desk.cancel_order needs 'order_id'");
    check("Delete 5 visits", "which counts something; say which are meant");
}

/// A description may have the words in passing.
#[test]
fn a_word_that_makes_a_difference_is_not_the_tools_by_its_description() {
    let number = || json!({"type": "number"});
    let pallets =
        json!({"type": "integer", "description": "Number of pallets, half pallets or extra pallets"});
    let tools = search([(
        "desk".to_owned(),
        json!([
            tool(
                "transfer",
                "Transfer money, less if the balance is lower",
                1,
                &[("amount", number())]
            ),
            tool("order_pallets", "Order pallets", 1, &[("quantity", pallets)]),
            tool(
                "set_heating",
                "Set the heating colder, warmer or higher, above or below, quieter",
                1,
                &[("target", number())]
            ),
            tool(
                "set_alarm",
                "Set the alarm to earlier or longer",
                1,
                &[("minutes", number())]
            ),
        ]),
    )]);
    for (text, word) in [
        ("Transfer 50 less", "less"),
        ("Transfer 50 lower", "lower"),
        ("Order 40 half pallets", "half"),
        ("Order 40 extra pallets", "extra"),
        ("Set the heating 2 higher", "higher"),
        ("Set the heating to 2 warmer", "warmer"),
        ("Set the heating below the target of 20", "below"),
        ("Set the heating to 2 quieter", "quieter"),
        ("Set the alarm 30 earlier", "earlier"),
        ("Set the alarm 30 longer", "longer"),
    ] {
        check(&tools, text, &format!("the word '{word}' of"));
    }
    check(&tools, "Transfer 50", "(amount=50)");
    check(&tools, "Order 40 pallets", "(quantity=40)");
}

/// What a unit is passed to may take any.
#[test]
fn a_unit_that_is_passed_itself_is_no_doubt() {
    let code = || json!({"type": "string", "description": "Unit code"});
    let parameters: [(&str, Value); 3] = [
        ("value", json!({"type": "number"})),
        ("unit", code()),
        ("target_unit", code()),
    ];
    let tools = search([(
        "lab".to_owned(),
        json!([tool("store", "Store a value", 2, &parameters)]),
    )]);
    check(&tools, "Store 10 km", "lab.store(value=10, unit=\"km\")");
}

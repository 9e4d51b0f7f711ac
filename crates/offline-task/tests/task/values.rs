//! Which words and numbers go to which parameter, and what is asked for in doubt.

use crate::tools::{calls, check, planned, search, tool};
use catalog::Search;
use serde_json::{Value, json};

fn text() -> Value {
    json!({"type": "string"})
}

fn about(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn one(server: &str, tools: Value) -> Search {
    search([(server.to_owned(), tools)])
}

#[test]
fn a_choice_goes_to_the_parameter_that_the_words_lead_to() {
    let level = || json!({"type": "string", "enum": ["low", "medium", "high"]});
    let unit = || json!({"type": "string", "enum": ["kg", "lb", "oz"]});
    let tools = one(
        "desk",
        json!([
            tool(
                "create_ticket",
                "Create a ticket",
                1,
                &[("title", text()), ("priority", level()), ("severity", level())]
            ),
            tool(
                "convert_weight",
                "Convert a weight to another unit",
                3,
                &[
                    ("value", json!({"type": "number"})),
                    ("from_unit", unit()),
                    ("to_unit", unit())
                ]
            ),
            tool(
                "list_parcels",
                "List parcels",
                0,
                &[(
                    "state",
                    json!({"type": "string", "enum": ["open", "sent", "lost"]})
                )]
            ),
            tool(
                "tag_photo",
                "Tag a photo",
                2,
                &[
                    ("photo_id", text()),
                    (
                        "tags",
                        json!({"type": "array", "items": {"type": "string", "enum": ["red", "blue", "green"]}})
                    )
                ]
            ),
        ]),
    );
    check(
        &tools,
        "Convert a weight with value=5, from_unit=kg and to_unit=lb",
        &[r#"desk.convert_weight(value=5, from_unit="kg", to_unit="lb")"#],
    );
    check(
        &tools,
        "Convert a weight of 5 kg to lb",
        &["leaves open what 'from_unit' is to be; write from_unit=... or leave it out"],
    );
    check(
        &tools,
        "Create a low ticket titled \"Leak\"",
        &["leaves open what 'priority' is to be; write priority=... or leave it out"],
    );
    check(
        &tools,
        "Create a ticket titled \"Leak\" with severity=low",
        &[r#"desk.create_ticket(title="Leak", severity="low")"#],
    );
    check(
        &tools,
        "List the sent parcels",
        &[r#"desk.list_parcels(state="sent")"#],
    );
    check(
        &tools,
        "List the open and lost parcels",
        &["leaves open what 'state' is to be; write state=... or leave it out"],
    );
    check(
        &tools,
        "Tag photo P-7 red",
        &[r#"desk.tag_photo(photo_id="P-7", tags=["red"])"#],
    );
}

#[test]
fn plain_words_are_no_name_where_they_may_be_something_else() {
    let tools = one(
        "town",
        json!([
            tool("get_sky", "Get the sky of a city", 1, &[("city", text())]),
            tool("close_city", "Close a city", 1, &[("city", text())]),
        ]),
    );
    check(&tools, "Get the sky in oslo", &[r#"town.get_sky(city="oslo")"#]);
    check(
        &tools,
        "Get the sky for my birthday party",
        &["town.get_sky needs 'city'"],
    );
    check(
        &tools,
        "Close the city for cleaning",
        &["town.close_city needs 'city'"],
    );
    check(
        &tools,
        "Close the city of Oslo",
        &[r#"town.close_city(city="Oslo")"#],
    );
}

#[test]
fn a_word_beside_the_name_of_a_parameter_is_not_dropped() {
    let tools = one(
        "shop",
        json!([
            tool(
                "count_items",
                "Count items",
                1,
                &[("item", text()), ("site", about("Site, north or south."))]
            ),
            tool(
                "hold_item",
                "Hold an item",
                1,
                &[("item_id", text()), ("branch", text())]
            ),
            tool(
                "print_label",
                "Print a label",
                2,
                &[
                    ("order_id", text()),
                    ("recipient", about("Name of the person that gets it"))
                ]
            ),
        ]),
    );
    check(
        &tools,
        "Count items of BX-2 at the south site",
        &[
            r#"shop.count_items(item="BX-2")"#,
            r#"shop.count_items has no parameter for "south", "site", which is left out"#,
        ],
    );
    check(
        &tools,
        "Hold item BX-2 at the harbour branch",
        &["shop.hold_item has no parameter for \"harbour\", \"branch\""],
    );
    check(
        &tools,
        "Print a label for order SO-7 to Acme ToolNames",
        &[r#"shop.print_label(order_id="SO-7", recipient="Acme ToolNames")"#],
    );
}

#[test]
fn several_values_are_not_one() {
    let tools = one(
        "shop",
        json!([
            tool("cancel_order", "Cancel an order", 1, &[("order_id", text())]),
            tool(
                "add_stock",
                "Add stock",
                1,
                &[("amount", json!({"type": "number"}))]
            ),
        ]),
    );
    let check = |text: &str, expected: &str| {
        let calls = calls(&planned(&tools, text));
        assert!(calls[0].contains(expected), "{text}: {calls:?}");
    };
    check(
        "Cancel orders 17, 0018 and 19",
        "has no parameter for \"0018\", \"19\"",
    );
    check("Cancel 3 orders", "shop.cancel_order needs 'order_id'");
    check("Add stock of 4 and 5", "has no parameter for \"5\"");
    check("Cancel order 0018", r#"shop.cancel_order(order_id="0018")"#);
}

/// A step's target is not the source of an earlier step.
#[test]
fn a_place_is_not_taken_from_what_was_read() {
    let tools = one(
        "files",
        json!([
            tool("read_file", "Read a file", 1, &[("path", text())]),
            tool("remove_file", "Remove a file", 1, &[("path", text())]),
            tool(
                "write_file",
                "Write text to a file",
                2,
                &[("path", text()), ("content", text())]
            ),
        ]),
    );
    check(
        &tools,
        "Read other.txt and write it to n",
        &[
            r#"files.read_file(path="other.txt")"#,
            "files.write_file needs 'path'",
        ],
    );
    check(
        &tools,
        "Read other.txt, then remove it",
        &[
            r#"files.read_file(path="other.txt")"#,
            r#"files.remove_file(path="other.txt")"#,
        ],
    );
}

/// A tool's name counts more than another's description; words before a question belong to it.
#[test]
fn the_tool_that_is_named_is_called() {
    let quote = tool(
        "freight_quote",
        "Quote the price of sending a parcel.",
        2,
        &[
            ("weight", json!({"type": "number"})),
            ("country", text()),
            ("express", json!({"type": "boolean", "default": false})),
        ],
    );
    let day = tool(
        "arrival_day",
        "Say on which day an express freight parcel arrives.",
        1,
        &[("sent_on", json!({"description": "Date on which it is sent"}))],
    );
    let tools = one("freight", json!([day, quote]));
    check(
        &tools,
        "I need a freight quote for a parcel, weight=12.5",
        &["freight.freight_quote needs 'country'"],
    );
    check(
        &tools,
        "When does the parcel arrive that is sent on 2026-05-03?",
        &[r#"freight.arrival_day(sent_on="2026-05-03")"#],
    );
}

/// A harmful or unintended call asks, or finds no tool.
#[test]
fn a_tool_is_not_called_with_the_next_best_words() {
    let sql = about("CREATE TABLE SQL statement");
    let lines =
        |which: &str| json!({"type": "number", "description": format!("Returns only the {which} N lines")});
    let tools = search([
        (
            "files".to_owned(),
            json!([
                tool(
                    "write_file",
                    "Write text to a file",
                    2,
                    &[("path", text()), ("content", text())]
                ),
                tool(
                    "read_file",
                    "Read a file",
                    1,
                    &[
                        ("path", text()),
                        ("tail", lines("last")),
                        ("head", lines("first"))
                    ]
                ),
                tool(
                    "search_files",
                    "Search files by a pattern",
                    2,
                    &[("path", text()), ("pattern", text())]
                ),
            ]),
        ),
        (
            "database".to_owned(),
            json!([
                tool(
                    "create_table",
                    "Create a table in the database",
                    1,
                    &[("query", sql)]
                ),
                tool("describe_table", "Describe a table", 1, &[("table_name", text())]),
                tool("list_tables", "List the tables of the database", 0, &[]),
            ]),
        ),
    ]);
    check(
        &tools,
        "Create a table notes with id and text",
        &["database.create_table needs 'query'"],
    );
    check(&tools, "Drop the table users", &["no tool of 6 answers"]);
    check(
        &tools,
        "Describe the table \"users\"",
        &[r#"database.describe_table(table_name="users")"#],
    );
    check(&tools, "Append \"more\" to a.txt", &["no tool of 6 answers"]);
    check(
        &tools,
        "Overwrite a.txt with \"new\"",
        &[r#"files.write_file(path="a.txt", content="new")"#],
    );
    check(
        &tools,
        "Write the weather in Paris to paris.txt",
        &["files.write_file needs 'content': "],
    );
    check(
        &tools,
        "Read a.txt with head 5",
        &[r#"files.read_file(path="a.txt", head=5)"#],
    );
    check(
        &tools,
        "Search the files in src/ for *.md",
        &[r#"files.search_files(path="src/", pattern="*.md")"#],
    );
    check(
        &tools,
        "Read a.txt. Thank you!",
        &[r#"files.read_file(path="a.txt")"#],
    );
}

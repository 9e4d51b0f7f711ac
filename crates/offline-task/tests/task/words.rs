//! Every word of a step is accounted for before anything changes: ordinary sentences that mean
//! something else than the call.

use crate::tools::{calls, check, planned, search, tool};
use catalog::Search;
use serde_json::json;

fn tools() -> Search {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "number"});
    let switch = || json!({"type": "boolean"});
    let about = |about: &str| json!({"type": "string", "description": about});
    let files = json!([
        tool(
            "remove_file",
            "Remove a file",
            1,
            &[("path", text()), ("recursive", switch()), ("force", switch())]
        ),
        tool("read_file", "Read a file", 1, &[("path", text())]),
    ]);
    let crm = json!([
        tool("delete_user", "Delete a user", 1, &[("user", text())]),
        tool(
            "set_quota",
            "Set the quota of a user",
            1,
            &[("user", text()), ("quota", number())]
        ),
        tool("delete_event", "Delete an event", 1, &[("event_id", text())]),
    ]);
    let bank = json!([
        tool(
            "transfer",
            "Transfer money between accounts",
            2,
            &[
                ("amount", number()),
                ("target", about("Account that gets it")),
                ("source", about("Account that pays"))
            ]
        ),
        tool(
            "refund_order",
            "Refund an order",
            1,
            &[("order_id", text()), ("amount", number())]
        ),
    ]);
    let quantity = json!({"type": "integer", "description": "Number of pallets"});
    let repository = about("Repository, such as acme/site");
    let depot = json!([
        tool("order_pallets", "Order pallets", 1, &[("quantity", quantity)]),
        tool(
            "set_visibility",
            "Set the visibility of a repository",
            1,
            &[("repository", repository), ("public", switch())]
        ),
        tool(
            "book_table",
            "Book a table",
            1,
            &[("time", json!({"type": "string", "format": "time"}))]
        ),
    ]);
    let to = json!({"type": "array", "items": {"type": "string", "format": "email"}});
    let mail = json!([tool(
        "send_mail",
        "Send a mail",
        2,
        &[("to", to), ("body", text())]
    )]);
    search(
        [
            ("files", files),
            ("crm", crm),
            ("bank", bank),
            ("depot", depot),
            ("mail", mail),
        ]
        .map(|(name, tools)| (name.to_owned(), tools)),
    )
}

/// Checks that the task cannot be run, and that the reason contains this text.
fn refused(text: &str, expected: &str) {
    let problems = planned(&tools(), text).problems().join("; ");
    assert!(
        !problems.is_empty() && problems.contains(expected),
        "{text}: {problems:?} {:?}",
        calls(&planned(&tools(), text))
    );
}

fn done(text: &str, expected: &str) {
    check(&tools(), text, &[expected]);
}

#[test]
fn a_word_that_nothing_accounts_for_keeps_a_change_from_being_made() {
    refused(
        "Delete user other than \"anna\"",
        "crm.delete_user has no parameter for \"other\", \"than\", so \"Delete user other than \\\"anna\\\"\" may mean another tool",
    );
    refused("Delete all users \"anna\"", "\"all\"");
    refused("Delete users like \"anna\"", "");
    refused("Delete the manager of user \"anna\"", "\"manager\"");
    refused("Delete everything on event EV-9", "\"everything\"");
    refused("Remove the first line from notes.txt", "\"first\", \"line\"");
    refused("Remove duplicates from list.csv", "\"duplicates\"");
    refused("Refund order SO-1001 less 20 dollars", "");
    refused("Transfer 50 to \"bob\", then transfer it back", "");
    refused("Transfer 50 from \"bob\"", "bank.transfer needs 'target'");
    check(
        &tools(),
        "Read the first line from notes.txt",
        &[
            r#"files.read_file(path="notes.txt")"#,
            r#"files.read_file has no parameter for "first", "line", which is left out"#,
        ],
    );
}

/// Words that reverse a sentence, at any place of one that runs without them.
#[test]
fn no_word_is_dropped_from_what_changes_something() {
    let words = "other all half twice back again except not never unless besides apart rather unlike outside least most \
                 about nearly up down more less extra later tomorrow weekly every each or if once maybe pretend almost"
        .split_whitespace();
    for sentence in [
        "Delete user \"anna\"",
        "Order 40 pallets",
        "Transfer 50 to \"bob\"",
        "Remove notes.txt",
    ] {
        assert!(planned(&tools(), sentence).problems().is_empty(), "{sentence}");
        let said: Vec<&str> = sentence.split(' ').collect();
        for word in words.clone() {
            for at in 0..=said.len() {
                let mut said = said.clone();
                said.insert(at, word);
                refused(&said.join(" "), "");
            }
        }
    }
}

#[test]
fn plain_sentences_are_done() {
    done("Delete user \"anna\"", r#"crm.delete_user(user="anna")"#);
    done(
        "Please delete the user called \"anna\" now",
        r#"crm.delete_user(user="anna")"#,
    );
    done(
        "Could you delete the event with id EV-9, please?",
        r#"crm.delete_event(event_id="EV-9")"#,
    );
    done(
        "I'd like to remove notes.txt",
        r#"files.remove_file(path="notes.txt")"#,
    );
    done(
        "Erase the file notes.txt",
        r#"files.remove_file(path="notes.txt")"#,
    );
    done("Order 40 pallets", "depot.order_pallets(quantity=40)");
    done(
        "Refund order SO-1001 with amount 20",
        r#"bank.refund_order(order_id="SO-1001", amount=20)"#,
    );
}

#[test]
fn a_switch_is_turned_by_the_words_after_it_too() {
    let off = |text: &str| {
        let calls = calls(&planned(&tools(), text));
        let is_on = calls
            .iter()
            .any(|call| call.contains("recursive=true") || call.contains("force=true"));
        let is_off = calls[0].contains("recursive=false") || calls[0].contains("force=false");
        assert!(!is_on && is_off, "{text}: {calls:?}");
    };
    off("Remove /data recursive=false");
    off("Remove /data force=false");
    for words in [
        "recursive false",
        "with recursive off",
        "with recursive disabled",
        "force: false",
        "without force",
    ] {
        refused(&format!("Remove /data {words}"), "");
    }
    done(
        "Remove /data recursively",
        r#"files.remove_file(path="/data", recursive=true)"#,
    );
    done(
        "Set visibility of acme/site public=false",
        r#"depot.set_visibility(repository="acme/site", public=false)"#,
    );
    refused(
        "Remove /data, recursive: no",
        "leaves open what 'recursive' is to be",
    );
    refused("Remove /data, don't disable force now, force off", "");
    refused("Set visibility of acme/site from public to private", "public");
}

#[test]
fn a_unit_is_no_name() {
    refused("Set the quota of user anna to 20 GB", "");
    refused("Transfer 50 USD to bob from anna", "");
}

#[test]
fn a_quantity_is_no_id() {
    done("Order 40 pallets", "depot.order_pallets(quantity=40)");
    done("Order 40 pallets, please", "depot.order_pallets(quantity=40)");
    for text in [
        "Order about 40 pallets",
        "Order at least 40 pallets",
        "Order 40 less pallets",
        "Order 5 more pallets",
        "Order 5 pallets more",
    ] {
        refused(text, "");
    }
}

#[test]
fn only_one_list_of_addresses_is_written_to() {
    done(
        "Send a mail to=[\"a@x.org\",\"b@x.org\"] with body \"hi\"",
        r#"mail.send_mail(to=["a@x.org","b@x.org"], body="hi")"#,
    );
    refused("Send a mail to a@x.org and b@x.org with body \"hi\"", "b@x.org");
    refused("Send a mail to a@x.org cc b@x.org with body \"hi\"", "b@x.org");
    refused(
        "Send a mail to a@x.org on behalf of b@x.org with body \"hi\"",
        "b@x.org",
    );
    refused("Send a mail to a@x.org's boss with body \"hi\"", "");
}

#[test]
fn half_of_a_day_is_not_dropped() {
    refused("Book a table at 10:30 pm", "\"pm\"");
    done("Book a table at 22:30", r#"depot.book_table(time="22:30")"#);
}

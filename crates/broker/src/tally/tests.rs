//! What is counted of calls, and what becomes of those for which there is no room.

use serde_json::json;
use serde_json::value::to_raw_value;

use super::*;

fn tool() -> ToolRef {
    ToolRef::new("crm", "find")
}

fn answer(text: &str) -> run::Answer {
    Ok(to_raw_value(&json!({"content": [{"type": "text", "text": text}]})).expect("JSON"))
}

async fn call(tally: &Tally, arguments: &Value, text: &str) {
    let begun = tally.begin(&tool(), arguments).await;
    begun.ended(&tool(), &answer(text)).await;
}

async fn total(tally: &Tally) -> DirectCalls {
    tally.total().await.expect("a tokenizer")
}

#[tokio::test]
async fn arguments_and_answers_are_counted_and_their_room_is_given_back() {
    let tally = Tally::new(Counter::default());
    call(&tally, &json!({"limit": 2}), "one two three").await;
    drop(tally.begin(&tool(), &json!({"limit": 2})).await);
    tally.begin(&tool(), &json!({})).await.leave();
    let counted = total(&tally).await;
    assert_eq!(
        (counted.calls, counted.failed, counted.uncounted),
        (2, 1, 0),
        "one was given up, one is none"
    );
    assert_eq!((counted.written, counted.read, counted.read_bytes), (10, 3, 13));
    assert_eq!((counted.tools.len(), counted.tools[0].calls), (1, 2));
    assert_eq!(tally.room.free.available_permits(), ROOM as usize);
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_room_in_time_is_not_counted_and_that_is_told() {
    let tally = Tally::new(Counter::default());
    let taken = tally
        .room
        .free
        .clone()
        .acquire_many_owned(ROOM)
        .await
        .expect("room");
    // Neither its arguments nor its answer.
    call(&tally, &json!({"limit": 2}), "one two three").await;
    drop(taken);
    let begun = tally.begin(&tool(), &json!({"limit": 2})).await;
    assert_eq!(total(&tally).await.calls, 1, "its arguments are counted by now");
    let taken = tally
        .room
        .free
        .clone()
        .acquire_many_owned(ROOM)
        .await
        .expect("room");
    // Its answer only.
    begun.ended(&tool(), &answer("one two three")).await;
    drop(taken);
    let counted = total(&tally).await;
    assert_eq!((counted.calls, counted.failed, counted.uncounted), (2, 0, 2));
    assert_eq!((counted.written, counted.read), (5, 0));
}

#[tokio::test(start_paused = true)]
async fn many_calls_at_once_with_long_arguments_wait_for_no_answer() {
    let tally = Tally::new(Counter::default());
    let taken = tally.room.free.clone().acquire_many_owned(ROOM - 512).await;
    let arguments = json!({"text": "word ".repeat(20_000)});
    // Together they are longer than what is left of the room, and all are under way before the first is answered.
    let mut begun = Vec::new();
    for _ in 0..10 {
        begun.push(tally.begin(&tool(), &arguments).await);
    }
    for begun in begun {
        begun.ended(&tool(), &answer("")).await;
    }
    let counted = total(&tally).await;
    assert_eq!((counted.calls, counted.uncounted), (10, 0));
    assert!(counted.written > 10 * 20_000, "{counted:?}");
    drop(taken);
}

#[tokio::test]
async fn calls_beyond_the_budget_of_a_run_are_not_counted_and_that_is_told() {
    let tally = Tally::new(Counter::default());
    // Most of the budget went into earlier calls.
    assert!(tally.room.spend(BUDGET - 60_000));
    let arguments = json!({"text": "word ".repeat(5_000)});
    for _ in 0..4 {
        call(&tally, &arguments, "one two three").await;
    }
    let counted = total(&tally).await;
    assert_eq!((counted.calls, counted.failed, counted.uncounted), (4, 0, 2));
    assert!((10_000..11_000).contains(&counted.written), "{counted:?}");
}

#[tokio::test]
async fn names_that_a_program_makes_up_take_bounded_room() {
    let tally = Tally::new(Counter::default());
    let long = ToolRef::new("s".repeat(100_000), "ä".repeat(100_000));
    drop(tally.begin(&long, &json!({})).await);
    for number in 0..MOST_TOOLS + 5 {
        let made_up = ToolRef::new("crm", format!("tool_{number}"));
        drop(tally.begin(&made_up, &json!({})).await);
    }
    let counted = total(&tally).await;
    assert_eq!(counted.calls, MOST_TOOLS as u64 + 6);
    assert!(counted.tools.len() <= MOST_TOOLS + 1);
    let others = counted.tools.iter().find(|tool| tool.server == "(others)");
    assert_eq!(others.map(|others| others.calls), Some(6));
    let longest = counted
        .tools
        .iter()
        .map(|tool| tool.server.len() + tool.tool.len())
        .max();
    assert!(longest <= Some(2 * MOST_OF_NAME), "{longest:?}");
}

#[tokio::test]
async fn what_nobody_can_ask_for_any_more_is_not_counted() {
    let counter = Counter::default();
    let tally = Tally::new(counter.clone());
    let begun = tally.begin(&tool(), &json!({"limit": 2})).await;
    let room = tally.room.free.clone();
    drop((begun, tally));
    let all = room.acquire_many(ROOM).await;
    assert!(all.is_ok(), "what waited has given its room back");
    assert!(format!("{counter:?}").contains("false"), "{counter:?}");
}

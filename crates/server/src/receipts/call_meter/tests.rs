//! What a meter counts, and what happens to calls for which there is no room.

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::*;

fn tool() -> ToolRef {
    ToolRef::new("crm", "find")
}

fn meter() -> CallMeter {
    CallMeter::new(Arc::default())
}

fn result(text: &str) -> Box<RawValue> {
    to_raw_value(&json!({"content": [{"type": "text", "text": text}]})).expect("JSON")
}

async fn call(meter: &CallMeter, arguments: &Value, text: &str) {
    let begun = meter.begin(arguments).await;
    begun.end(&tool(), CallEnd::Answered(&result(text))).await;
}

async fn total(meter: &CallMeter) -> DirectCalls {
    meter.total().await.expect("a tokenizer")
}

#[tokio::test]
async fn arguments_and_answers_are_counted_and_their_room_is_given_back() {
    let meter = meter();
    call(&meter, &json!({"limit": 2}), "one two three").await;
    let given_up = meter.begin(&json!({"limit": 2})).await;
    given_up.end(&tool(), CallEnd::Cancelled).await;
    meter
        .begin(&json!({}))
        .await
        .end(&tool(), CallEnd::ToolFile)
        .await;
    let counted = total(&meter).await;
    assert_eq!(
        (counted.calls, counted.failed, counted.uncounted),
        (2, 1, 0),
        "one was given up, one is none"
    );
    assert_eq!((counted.written, counted.read, counted.read_bytes), (10, 3, 13));
    assert_eq!((counted.tools.len(), counted.tools[&tool()].calls), (1, 2));
    assert_eq!(meter.room.free_kib.available_permits(), ROOM as usize);
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_room_in_time_is_not_counted_and_that_is_told() {
    let meter = meter();
    let taken = meter
        .room
        .free_kib
        .clone()
        .acquire_many_owned(ROOM)
        .await
        .expect("room");
    // Neither its arguments nor its answer.
    call(&meter, &json!({"limit": 2}), "one two three").await;
    drop(taken);
    let begun = meter.begin(&json!({"limit": 2})).await;
    assert_eq!(total(&meter).await.calls, 1, "its arguments are counted by now");
    let taken = meter
        .room
        .free_kib
        .clone()
        .acquire_many_owned(ROOM)
        .await
        .expect("room");
    // Its answer only.
    begun
        .end(&tool(), CallEnd::Answered(&result("one two three")))
        .await;
    drop(taken);
    let counted = total(&meter).await;
    assert_eq!((counted.calls, counted.failed, counted.uncounted), (2, 0, 2));
    assert_eq!((counted.written, counted.read), (5, 0));
}

#[tokio::test(start_paused = true)]
async fn many_calls_at_once_with_long_arguments_wait_for_no_answer() {
    let meter = meter();
    let taken = meter.room.free_kib.clone().acquire_many_owned(ROOM - 512).await;
    let arguments = json!({"text": "word ".repeat(20_000)});
    // Together the texts exceed the remaining room, and all calls are open before the first answer.
    let mut begun = Vec::new();
    for _ in 0..10 {
        begun.push(meter.begin(&arguments).await);
    }
    for begun in begun {
        begun.end(&tool(), CallEnd::Answered(&result(""))).await;
    }
    let counted = total(&meter).await;
    assert_eq!((counted.calls, counted.uncounted), (10, 0));
    assert!(counted.written > 10 * 20_000, "{counted:?}");
    drop(taken);
}

#[tokio::test]
async fn calls_beyond_the_budget_of_a_run_are_not_counted_and_that_is_told() {
    let meter = meter();
    // Earlier calls used most of the budget.
    assert!(meter.room.spend(BUDGET - 60_000));
    let arguments = json!({"text": "word ".repeat(5_000)});
    for _ in 0..4 {
        call(&meter, &arguments, "one two three").await;
    }
    let counted = total(&meter).await;
    assert_eq!((counted.calls, counted.failed, counted.uncounted), (4, 0, 2));
    assert!((10_000..11_000).contains(&counted.written), "{counted:?}");
}

#[tokio::test]
async fn names_that_a_program_makes_up_take_bounded_room() {
    let meter = meter();
    let long = ToolRef::new("s".repeat(100_000), "ä".repeat(100_000));
    let given_up = meter.begin(&json!({})).await;
    given_up.end(&long, CallEnd::Cancelled).await;
    let counted = total(&meter).await;
    assert_eq!(counted.calls, 1);
    let longest = counted
        .tools
        .keys()
        .map(|tool| tool.server.len() + tool.tool.len());
    assert!(longest.max() <= Some(2 * MAX_NAME));
}

#[tokio::test]
async fn what_nobody_can_ask_for_any_more_is_not_counted() {
    let counter = Arc::<TokenCounter>::default();
    let meter = CallMeter::new(counter.clone());
    let begun = meter.begin(&json!({"limit": 2})).await;
    let room = meter.room.free_kib.clone();
    drop((begun, meter));
    let all = room.acquire_many(ROOM).await;
    assert!(all.is_ok(), "what waited has given its room back");
    assert!(format!("{counter:?}").contains("<uninit>"), "{counter:?}");
}

//! The table of `docs/task-runner.md` holds.

use crate::times::clock;
use crate::tools::{calls, planned};

#[test]
fn each_row_of_the_document_is_true() {
    let document = include_str!("../../../../docs/task-runner.md");
    let (_, table) = document
        .split_once("| task | what becomes of it |")
        .expect("a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [task, outcome] = cells.as_slice() else {
            panic!("{row}");
        };
        let steps = calls(&planned(&clock(), task.trim())).join("\n");
        for expected in outcome.split('`').skip(1).step_by(2) {
            assert!(steps.contains(expected), "{task}: {expected:?} is not in {steps}");
        }
        count += 1;
    }
    assert!(count > 12, "{count} rows");
}

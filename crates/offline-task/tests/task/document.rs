//! The table of tasks in `docs/tool-files.md` holds, and so do more rows of its kind.

use crate::times::clock;
use crate::tools::{calls, planned};

/// Rows that the page leaves out.
const MORE_ROWS: &str = r#"
| Calculate 5 + 3 | `calculator.calculate(expression="5 + 3")` |
| Multiply 4 by 7, then add 2 to the result | `calculator.multiply(a=4, b=7)`, `calculator.add(a=2, b=<1>)` |
| How much is 7 times 6? | `calculator.calculate(expression="7 * 6")` |
| How late is it in Paris? | `time.get_current_time(timezone="Europe/Paris")` |
| Get the weather in oslo | `weather.get_weather(location="oslo")` |
| Get weather for Paris tomorrow | `weather.get_weather has no parameter for "tomorrow", which is left out` |
| Write "a" to a.txt tomorrow | `filesystem.write_file has no parameter for "tomorrow"` |
| Write hello world to hello.txt | `filesystem.write_file needs 'content'` |
| Do not read a.txt | `says 'not', which codeyard cannot follow` |
| Update my calendar | `no tool of 14 answers "Update my calendar"` |
| Schreibe hallo nach x.txt | `it does not begin with a known verb, and codeyard reads only English` |
"#;

#[test]
fn each_row_of_the_document_is_true() {
    let document = include_str!("../../../../docs/tool-files.md");
    let (_, table) = document
        .split_once("| task | calls, or message |")
        .expect("a table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut count = 0;
    for row in rows.chain(MORE_ROWS.trim().lines()) {
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
    assert!(count > 16, "{count} rows");
}

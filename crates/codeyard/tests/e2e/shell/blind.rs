//! Thirty programs for nine real servers, by an author who saw only the manual and the declarations of the tools.

use crate::typescript::blind::{Programs, check_in_new_installation};

/// The calculator of 30 has no `round`.
const PROGRAMS: Programs = Programs {
    directory: "shell",
    language: "shell",
    all: 30,
    complete: 29,
};

#[tokio::test]
async fn nearly_all_of_thirty_programs_work() {
    check_in_new_installation(&PROGRAMS).await;
}

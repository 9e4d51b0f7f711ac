//! Two sets of thirty programs for nine real servers, by authors who saw only the manual and the declarations of the tools.

use crate::typescript::blind::{Programs, check_in_new_installation};

/// The calculator of 30 has no `round`.
const FIRST: Programs = Programs {
    directory: "shell",
    language: "shell",
    all: 30,
    complete: 29,
};

const SECOND: Programs = Programs {
    directory: "shell_later",
    language: "shell",
    all: 30,
    complete: 30,
};

#[tokio::test]
async fn nearly_all_of_thirty_programs_work() {
    check_in_new_installation(&FIRST).await;
}

#[tokio::test]
async fn all_of_thirty_later_programs_work() {
    check_in_new_installation(&SECOND).await;
}

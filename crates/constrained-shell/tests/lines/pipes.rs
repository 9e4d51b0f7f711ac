//! Commands one after the other: S0-57 and S0-D09.

use std::cell::Cell;

use constrained_shell::{Filtered, Jaq, Jq, evaluate};

use super::{check, check_error, run, session};

#[test]
fn a_pipe_needs_no_spaces() {
    check("cat n.json|jq .a", "1\n");
    check("cat n.json | jq .a", "1\n");
    check("ls dir|grep y|cat", "y.txt\n");
    check("cat n.json|jq -r '.c|.d'|cat", "text\n");
    check("ls /tools|grep '_s|_r'", "_runtime.py\n_schema.json\n");
}

#[test]
fn a_blank_line_is_nothing() {
    check("", "");
    check("  \t ", "");
}

#[test]
fn the_first_failure_ends_the_line() {
    check_error(
        "cat nope | grep x",
        126,
        "EACCES: read denied for path: /scratch/nope",
    );
    check_error("grep zzz a.txt | cat", 1, "");
    check_error("cat a.txt | grep zzz | jq '.['", 1, "");
    check_error("ls -l | cat", 2, "Unsupported ls option: -l");
    check_error(
        "cat bad.json | jq . | grep '('",
        1,
        "jq: invalid JSON input: byte offset 1: value or end of sequence expected",
    );
}

#[test]
fn a_failure_in_the_middle_keeps_what_its_command_printed() {
    let ended = run("cat n.json | jq '.b[], error(\"no\")' | grep 2");
    assert_eq!(ended.output, "1\n2\n3\n");
    assert_eq!(ended.error, "jq: invalid filter: no");
    assert_eq!(ended.exit, 1);
}

#[test]
fn a_file_that_fails_while_the_next_command_reads_it() {
    check_error(
        "cat a.txt broken.txt | grep two",
        1,
        "cannot read /scratch/broken.txt: input/output error",
    );
}

#[test]
fn ten_thousand_pipes() {
    check(
        &format!("cat a.txt{}", "|cat".repeat(10_000)),
        "one\ntwo\nthree\n",
    );
    check(&format!("cat a.txt{}", " | grep o".repeat(1_000)), "one\ntwo\n");
    check_error(
        &format!("cat a.txt{}|id", "|cat".repeat(10_000)),
        126,
        "EACCES: command 'id' is not permitted",
    );
}

#[test]
fn ten_thousand_words() {
    check(&format!("cat{}", " empty.txt".repeat(10_000)), "");
}

/// Counts the filters that it is asked for.
struct Counted(Cell<usize>);

impl Jq for Counted {
    fn filter(&self, filter: &str, documents: Vec<u8>, is_over: &dyn Fn() -> bool) -> Filtered {
        self.0.set(self.0.get() + 1);
        Jaq::in_disposable_process().filter(filter, documents, is_over)
    }
}

#[test]
fn the_caller_chooses_where_filters_run() {
    let jq = Counted(Cell::new(0));
    let ended = evaluate("jq .b n.json | jq '.[0]' | grep 1", &session(), &jq, &|| false);
    assert_eq!((ended.output.as_str(), jq.0.get()), ("1\n", 2));
    evaluate("cat n.json | grep 'jq'", &session(), &jq, &|| false);
    assert_eq!(jq.0.get(), 2);
}

//! Work without end, and too much of everything: S0-62.

use std::cell::Cell;
use std::time::{Duration, Instant};

use constrained_shell::{Evaluated, Jaq, MAX_OUTPUT, TIME_IS_OVER, evaluate};

use super::{Tree, check, check_error_over, run, run_over, session};

const NOTICE: &str = "shell: output truncated (exceeds 10 MiB limit)";

/// The longest that a line may go on after its time. Generous, because tests run side by side.
const GRACE: Duration = Duration::from_secs(2);

fn run_for(tree: &Tree, line: &str, time: Duration) -> (Evaluated, Duration) {
    let start = Instant::now();
    let ended = evaluate(line, tree, &Jaq::in_disposable_process(), &|| {
        start.elapsed() > time
    });
    (ended, start.elapsed())
}

#[track_caller]
fn check_stops(tree: &Tree, line: &str) {
    let time = Duration::from_millis(50);
    let (ended, took) = run_for(tree, line, time);
    assert_eq!((ended.exit, ended.error.as_str()), (TIME_IS_OVER, ""), "{line}");
    assert!(took < time + GRACE, "{line}: {took:?}");
}

#[track_caller]
fn check_cut(tree: &Tree, line: &str, size: usize) {
    let ended = run_over(tree, line);
    assert_eq!(
        (ended.error.as_str(), ended.exit, ended.is_cut),
        (NOTICE, 0, true),
        "{line}"
    );
    assert_eq!(ended.output.len(), size, "{line}");
    assert!(size <= MAX_OUTPUT);
}

#[test]
fn c355_output_is_at_most_10_mib() {
    let tree = Tree::default()
        .repeated("/scratch/big.txt", b'x', 11 << 20)
        .repeated("/scratch/fits.txt", b'x', 10 << 20)
        .repeated("/scratch/over.txt", b'x', (10 << 20) + 1)
        .repeated("/scratch/bytes.bin", 0xff, 10 << 20)
        .file("/scratch/lines.txt", "0123456789abcde\n".repeat(1 << 20));
    check_cut(&tree, "cat /scratch/big.txt", MAX_OUTPUT);
    check_cut(&tree, "cat over.txt", MAX_OUTPUT);
    check_cut(&tree, "cat big.txt | cat", MAX_OUTPUT);
    check_cut(&tree, "cat fits.txt big.txt", MAX_OUTPUT);
    check_cut(&tree, "grep x big.txt", MAX_OUTPUT);
    check_cut(&tree, "grep 5 lines.txt", MAX_OUTPUT);
    check_cut(&tree, "cat lines.txt | grep 5", MAX_OUTPUT);
    // A replacement character has three bytes.
    check_cut(&tree, "cat bytes.bin", MAX_OUTPUT - 1);
    let whole = run_over(&tree, "cat fits.txt");
    assert_eq!((whole.output.len(), whole.error.as_str()), (MAX_OUTPUT, ""));
}

#[test]
fn a_command_in_the_middle_that_prints_too_much_ends_the_line() {
    let tree = Tree::default().file("/scratch/lines.txt", "0123456789abcde\n".repeat(1 << 20));
    check_cut(&tree, "grep 5 lines.txt | grep nothing", MAX_OUTPUT);
}

#[test]
fn large_files_pass_through_cat() {
    let mut lines = "filler of a line\n".repeat(1 << 20);
    lines.push_str("the needle\n");
    assert!(lines.len() > 17 << 20);
    let tree = Tree::default().file("/scratch/large.txt", lines);
    assert_eq!(
        run_over(&tree, "cat large.txt | grep needle").output,
        "the needle\n"
    );
    assert_eq!(
        run_over(&tree, "cat large.txt large.txt|cat|grep needle").output,
        "the needle\nthe needle\n"
    );
    assert_eq!(
        run_over(&tree, "grep needle large.txt").output,
        "/scratch/large.txt:the needle\n"
    );
    assert_eq!(
        run_over(&tree, "grep -l line large.txt").output,
        "/scratch/large.txt\n"
    );
}

#[test]
fn a_long_line_is_searched_at_its_start() {
    let tree = Tree::default()
        .repeated("/scratch/long", b'a', 20 << 20)
        .file(
            "/scratch/short",
            format!("{}needle\nlast\n", "a".repeat((16 << 20) - 6)),
        )
        .file(
            "/scratch/mixed",
            format!("{}needle\nlast\n", "a".repeat(17 << 20)),
        );
    let partial = |name: &str| format!("a line of {name} is longer than 16 MiB: only its start was searched");
    check_error_over(&tree, "grep b long", 1, &partial("/scratch/long"));
    check_error_over(&tree, "cat long | grep b", 1, &partial("its input"));
    check_error_over(&tree, "grep needle mixed", 1, &partial("/scratch/mixed"));
    assert_eq!(run_over(&tree, "grep -l needle short").output, "/scratch/short\n");
    let ended = run_over(&tree, "grep last mixed");
    assert_eq!(ended.output, "/scratch/mixed:last\n");
    assert_eq!((ended.error, ended.exit), (partial("/scratch/mixed"), 0));
}

#[test]
fn a_sparse_file_of_a_tebibyte() {
    let tree = Tree::default().repeated("/scratch/sparse", 0, 1 << 40);
    check_cut(&tree, "cat sparse", MAX_OUTPUT);
    check_stops(&tree, "grep x sparse");
    check_stops(&tree, "cat sparse | grep x");
    check_stops(&tree, "grep -r x");
    check_error_over(&tree, "jq . sparse", 1, "jq: input too large (max 32 MiB)");
}

#[test]
fn c085_an_expression_cannot_explode() {
    let tree = Tree::default()
        .file("/scratch/a.txt", format!("{}!", "a".repeat(40)))
        .repeated("/scratch/many.txt", b'a', 8 << 20);
    for pattern in [
        "(a+)+$",
        "(a|a)+$",
        "(a*)*b",
        "(a|aa)+$",
        "(.*)*x",
        "(a{1,20}){1,20}$",
    ] {
        let (ended, took) = run_for(
            &tree,
            &format!("grep '{pattern}' /scratch/a.txt"),
            Duration::from_secs(60),
        );
        assert_eq!((ended.output.as_str(), ended.exit), ("", 1), "{pattern}");
        assert!(took < GRACE, "{pattern}: {took:?}");
    }
    for pattern in ["([a-z]{1,90}){1,90}$x", "(a{0,90}b?){0,90}c"] {
        check_stops(&tree, &format!("grep '{pattern}' many.txt"));
    }
}

#[test]
fn an_expression_has_a_greatest_size() {
    let too_large = "grep: invalid regex: the expression is too large";
    for pattern in [
        r"(\w{1,100}){1,100}",
        "((((a{100}){100}){100}){100})",
        r"\pL{1000}",
    ] {
        check_error_over(&session(), &format!("grep '{pattern}' a.txt"), 1, too_large);
    }
    let nested = format!("{}a{}", "(".repeat(200), ")".repeat(200));
    let ended = run(&format!("grep '{nested}' a.txt"));
    assert_eq!(ended.exit, 1);
    assert!(
        ended
            .error
            .starts_with("grep: invalid regex: exceed the maximum number of nested"),
        "{}",
        ended.error
    );
}

#[test]
fn filters_without_end_are_stopped() {
    let tree = session();
    for filter in [
        "def f: f; f",
        "def f: (f, f); f",
        "def f: . as $x | f; f",
        "range(1e12)|empty",
        "last(range(1e12))",
        "[range(1e12)]",
        "reduce range(1e12) as $i (0; . + 1)",
        "[limit(1e9; repeat(1))]",
        "repeat(1)|empty",
        "repeat(1)|repeat(.)|empty",
        "isempty(repeat(empty))",
        "until(false; .)",
        "first(range(1e12) | select(false))",
        "[range(1e6)] | combinations(3)|empty",
        "limit(1e18; repeat(empty))",
        "range(0; 1; 0)|empty",
    ] {
        check_stops(&tree, &format!("jq '{filter}' n.json"));
    }
}

#[test]
fn results_without_end_are_cut() {
    for filter in [
        "\"x\" * 1000 | repeat(.)",
        "range(1e12) | \"x\" * 1000",
        "[range(10000)] | repeat(.)",
    ] {
        let ended = run(&format!("jq '{filter}' n.json"));
        assert_eq!(
            (ended.error.as_str(), ended.exit, ended.is_cut),
            (NOTICE, 0, true),
            "{filter}"
        );
        assert_eq!(ended.output.len(), MAX_OUTPUT, "{filter}");
    }
}

#[test]
fn a_result_that_shares_its_parts_is_cut() {
    let ended = run("jq 'reduce range(60) as $i (0; [., .])' n.json");
    assert_eq!((ended.error.as_str(), ended.is_cut), (NOTICE, true));
    assert_eq!(ended.output.len(), MAX_OUTPUT);
}

#[test]
fn filters_that_call_themselves_too_deep_are_stopped() {
    for filter in [
        "def f: 1 + f; f",
        "def f: [f]; f",
        "def f(g): g + f(g); f(1)",
        "def f: f | 1; f",
        "path(def f: f | .a; f)",
    ] {
        let ended = run(&format!("jq '{filter}' n.json"));
        assert_eq!(ended.error, "jq: the filter calls itself too deep", "{filter}");
        assert_eq!(ended.exit, 1, "{filter}");
    }
    check(
        "jq 'def f: if . > 0 then (. - 1 | f) + 1 else 0 end; 1000 | f' n.json",
        "1000\n",
    );
}

#[test]
fn nested_documents_and_results_have_a_greatest_depth() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let tree = Tree::default()
        .file("/scratch/fits.json", nested(1_000))
        .file("/scratch/deep.json", nested(1_001))
        .file("/scratch/open.json", "[{\"a\":".repeat(1 << 20))
        .file("/scratch/text.json", format!("\"{}\"", "[".repeat(100_000)));
    assert_eq!(run_over(&tree, "jq . fits.json").output.len(), 2_001);
    for line in ["jq . deep.json", "jq . open.json", "cat open.json | jq ."] {
        check_error_over(
            &tree,
            line,
            1,
            "jq: invalid JSON input: it is nested deeper than 1000 levels",
        );
    }
    assert_eq!(run_over(&tree, "jq length text.json").output, "100000\n");
    let cause = "cannot parse as JSON: it is nested deeper than 1000 levels";
    check_error_over(
        &tree,
        "jq fromjson text.json",
        1,
        &format!("jq: invalid filter: {cause}"),
    );
    let ended = run("jq 'reduce range(10000) as $i (0; [.])' n.json");
    assert_eq!(ended.error, "jq: a result is nested deeper than 2000 levels");
}

#[test]
fn numbers_have_a_greatest_length() {
    let tree = Tree::default()
        .file("/scratch/fits.json", "9".repeat(4_000))
        .file("/scratch/long.json", "9".repeat(1 << 20));
    assert_eq!(run_over(&tree, "jq . fits.json").output.len(), 4_001);
    check_error_over(
        &tree,
        "jq . long.json",
        1,
        "jq: invalid JSON input: a number has more than 4000 digits",
    );
}

#[test]
fn time_that_is_over_at_once_stops_every_command() {
    for line in [
        "ls",
        "ls / dir",
        "cat a.txt",
        "grep -r x",
        "cat a.txt | grep t",
        "jq . n.json",
    ] {
        let ended = evaluate(line, &session(), &Jaq::in_disposable_process(), &|| true);
        assert_eq!((ended.exit, ended.output.as_str()), (TIME_IS_OVER, ""), "{line}");
    }
}

#[test]
fn output_before_the_deadline_is_kept() {
    let tree = Tree::default()
        .file("/scratch/a", "match\n")
        .repeated("/scratch/b", 0, 1 << 40);
    let (ended, _) = run_for(&tree, "grep -r match", Duration::from_millis(200));
    assert_eq!(
        (ended.output.as_str(), ended.exit),
        ("/scratch/a:match\n", TIME_IS_OVER)
    );
    let (ended, _) = run_for(
        &session(),
        "jq '1, repeat(empty)' n.json",
        Duration::from_millis(200),
    );
    assert_eq!((ended.output.as_str(), ended.exit), ("1\n", TIME_IS_OVER));
}

#[test]
fn the_time_is_checked_often() {
    let looks = Cell::new(0_u32);
    let tree = Tree::default().repeated("/scratch/zeros", b'\n', 1 << 20);
    evaluate("grep x zeros", &tree, &Jaq::in_disposable_process(), &|| {
        looks.set(looks.get() + 1);
        false
    });
    assert!(looks.get() >= 16, "{}", looks.get());
}

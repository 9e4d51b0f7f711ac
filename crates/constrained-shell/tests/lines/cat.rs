//! `cat`: S0-59.

use super::{Tree, check, check_error, check_over};

#[test]
fn files_one_after_the_other() {
    for (line, output) in [
        ("cat a.txt", "one\ntwo\nthree\n"),
        ("cat /scratch/a.txt", "one\ntwo\nthree\n"),
        ("cat ./a.txt b.txt", "one\ntwo\nthree\nfour\nFive\n"),
        ("cat a.txt a.txt", "one\ntwo\nthree\none\ntwo\nthree\n"),
        ("cat empty.txt", ""),
        ("cat empty.txt b.txt empty.txt", "four\nFive\n"),
        ("cat /tools/.search_index", "stub/add.py:async def add\n"),
        ("cat .secret", "two hidden\n"),
        ("cat -- a.txt", "one\ntwo\nthree\n"),
        ("cat \"a.txt\"", "one\ntwo\nthree\n"),
        ("cat a'.'txt", "one\ntwo\nthree\n"),
        ("cat a\\.txt", "one\ntwo\nthree\n"),
    ] {
        check(line, output);
    }
}

#[test]
fn a_file_begins_on_a_line_of_its_own() {
    check("cat open.txt", "no end of line");
    check("cat open.txt b.txt", "no end of line\nfour\nFive\n");
    check("cat open.txt open.txt", "no end of line\nno end of line");
    check("cat open.txt empty.txt", "no end of line\n");
}

#[test]
fn the_input_is_passed_on() {
    check("cat", "");
    check("cat -", "");
    check("ls dir | cat", "deep/\nlink.txt\ny.txt\n");
    check("ls dir | cat -", "deep/\nlink.txt\ny.txt\n");
    check("cat a.txt | cat | cat", "one\ntwo\nthree\n");
    check("cat a.txt | cat b.txt", "four\nFive\n");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let tree = Tree::default()
        .file("/scratch/b.bin", b"\xff\xfe\x00a\xc3".to_vec())
        .file("/scratch/crlf", "a\r\nb\r\n");
    check_over(&tree, "cat b.bin", "\u{fffd}\u{fffd}\0a\u{fffd}");
    check_over(&tree, "cat crlf", "a\r\nb\r\n");
}

#[test]
fn names_with_spaces_and_quotes() {
    let tree = Tree::default()
        .file("/scratch/a b.txt", "space\n")
        .file("/scratch/it's", "quote\n")
        .file("/scratch/a|b;c", "operators\n")
        .file("/scratch/-n", "dash\n")
        .file("/scratch/*", "star\n");
    check_over(&tree, "cat 'a b.txt'", "space\n");
    check_over(&tree, "cat a\\ b.txt", "space\n");
    check_over(&tree, "cat \"it's\"", "quote\n");
    check_over(&tree, "cat 'a|b;c'", "operators\n");
    check_over(&tree, "cat -- -n", "dash\n");
    check_over(&tree, "cat ./-n", "dash\n");
    check_over(&tree, "cat '*'", "star\n");
}

#[test]
fn mistakes() {
    let denied = |path: &str| format!("EACCES: read denied for path: {path}");
    for (line, exit, error) in [
        ("cat nope", 126, denied("/scratch/nope")),
        ("cat /tools", 126, denied("/tools")),
        ("cat /", 126, denied("/")),
        ("cat link", 126, denied("/scratch/link")),
        ("cat denied.txt", 126, denied("/scratch/denied.txt")),
        ("cat a.txt nope", 126, denied("/scratch/nope")),
        ("cat a.txt -", 126, denied("/scratch/-")),
        ("cat /etc/passwd", 126, denied("/etc/passwd")),
        ("cat /TOOLS/_schema.json", 126, denied("/TOOLS/_schema.json")),
        ("cat link/passwd", 126, denied("/scratch/link/passwd")),
        (
            "cat /tools/../etc/passwd",
            126,
            "EACCES: path traversal denied: /tools/../etc/passwd".to_owned(),
        ),
        (
            "cat ../etc/passwd",
            126,
            "EACCES: path traversal denied: /scratch/../etc/passwd".to_owned(),
        ),
        ("cat 'a\0b'", 126, "EACCES: invalid path".to_owned()),
        ("cat -n a.txt", 2, "Unsupported cat option: -n".to_owned()),
        ("cat --help", 2, "Unsupported cat option: --help".to_owned()),
        (
            "cat broken.txt",
            1,
            "cannot read /scratch/broken.txt: input/output error".to_owned(),
        ),
        (
            "cat unopenable.txt",
            1,
            "cannot read /scratch/unopenable.txt: too many open files".to_owned(),
        ),
    ] {
        check_error(line, exit, &error);
    }
    let long = "x/".repeat(2_048);
    check_error(
        &format!("cat {long}"),
        126,
        &denied(&format!("/scratch/{}", long.trim_end_matches('/'))),
    );
}

//! `grep` and `rg`: S0-60.

use super::{Tree, check, check_error, check_over, run, run_over};

const ADD: &str = "/tools/stub/add.py";

#[test]
fn c082_names_of_matching_files() {
    check("grep -r add /tools --include='*.py' -l", &format!("{ADD}\n"));
}

#[test]
fn lines_of_files() {
    for (line, output) in [
        ("grep two a.txt", "/scratch/a.txt:two\n"),
        ("grep t a.txt", "/scratch/a.txt:two\n/scratch/a.txt:three\n"),
        ("grep 't.o' a.txt", "/scratch/a.txt:two\n"),
        ("grep ^t.*e$ a.txt", "/scratch/a.txt:three\n"),
        ("grep 'one|two' a.txt", "/scratch/a.txt:one\n/scratch/a.txt:two\n"),
        ("grep '(?i)five' b.txt", "/scratch/b.txt:Five\n"),
        ("grep '[A-Z]' a.txt b.txt", "/scratch/b.txt:Five\n"),
        ("grep [A-Z] b.txt", "/scratch/b.txt:Five\n"),
        (
            "grep o a.txt b.txt",
            "/scratch/a.txt:one\n/scratch/a.txt:two\n/scratch/b.txt:four\n",
        ),
        ("grep -l o a.txt b.txt", "/scratch/a.txt\n/scratch/b.txt\n"),
        ("grep o -l a.txt b.txt", "/scratch/a.txt\n/scratch/b.txt\n"),
        ("grep '' b.txt", "/scratch/b.txt:four\n/scratch/b.txt:Five\n"),
        ("grep end open.txt", "/scratch/open.txt:no end of line\n"),
        ("grep '\\bend\\b' open.txt", "/scratch/open.txt:no end of line\n"),
        ("grep 'e{2}' a.txt", "/scratch/a.txt:three\n"),
        ("grep -- two a.txt", "/scratch/a.txt:two\n"),
        ("grep two dir a.txt", "/scratch/a.txt:two\n"),
        ("grep two nope a.txt", "/scratch/a.txt:two\n"),
        ("grep two a.txt a.txt", "/scratch/a.txt:two\n/scratch/a.txt:two\n"),
        ("grep two .secret", "/scratch/.secret:two hidden\n"),
    ] {
        check(line, output);
    }
}

#[test]
fn directories_are_searched_on_demand() {
    let add = format!("{ADD}:async def add(args):\n");
    for (line, output) in [
        ("grep -r 'def add' /tools", add.clone()),
        ("grep -R 'def add' /tools", add.clone()),
        ("grep 'def add' /tools -r", add.clone()),
        ("rg 'def add' /tools", add.clone()),
        ("rg -r 'def add' /tools", add.clone()),
        (
            "grep -rl async /tools",
            format!("/tools/_runtime.py\n{ADD}\n/tools/stub/add.ts\n/tools/stub/echo.py\n"),
        ),
        (
            "grep -lr nothing /tools --include '*.md' a.txt -- ",
            String::new(),
        ),
        (
            "grep -r two",
            "/scratch/a.txt:two\n/scratch/dir/deep/er/x.txt:two deep\n/scratch/dir/y.txt:two\n".to_owned(),
        ),
        (
            "grep -r two dir",
            "/scratch/dir/deep/er/x.txt:two deep\n/scratch/dir/y.txt:two\n".to_owned(),
        ),
        (
            "rg two",
            "/scratch/a.txt:two\n/scratch/dir/deep/er/x.txt:two deep\n/scratch/dir/y.txt:two\n".to_owned(),
        ),
        (
            "grep -r 'two deep' /",
            "/scratch/dir/deep/er/x.txt:two deep\n".to_owned(),
        ),
        (
            "grep -r def /tools/.hidden",
            "/tools/.hidden/add.py:def add(): pass\n".to_owned(),
        ),
    ] {
        if output.is_empty() {
            assert_eq!(run(line).exit, 1, "{line}");
        } else {
            check(line, &output);
        }
    }
}

#[test]
fn include_has_two_forms() {
    let add = format!("{ADD}\n");
    for line in [
        "grep -rl 'def add' /tools --include='*.py'",
        "grep -rl 'def add' /tools --include=*.py",
        "grep -rl --include '*.py' 'def add' /tools",
        "grep -rl --include *.py 'def add' /tools",
        "grep -rl --include=add.* 'def add' /tools",
        "grep -rl --include=a?d.py 'def add' /tools",
        "grep -rl '--include=[a-b]*.py' 'def add' /tools",
        "grep -rl --include=*.md --include=*.py 'def add' /tools",
    ] {
        check(line, &add);
    }
    check("grep -rl add /tools --include=*.ts", "/tools/stub/add.ts\n");
    check(
        "grep -rl add /tools --include='*.{ts,py}'",
        &format!("{ADD}\n/tools/stub/add.ts\n"),
    );
    check("grep two --include=*.txt a.txt", "/scratch/a.txt:two\n");
    check_error("grep two --include=*.md a.txt", 1, "");
    check_error("grep -r add /tools --include='stub/*'", 1, "");
}

#[test]
fn c083_no_match_is_status_1() {
    for line in [
        "grep zzzqq /tools/_schema.json",
        "grep -r zzzqq /tools",
        "grep -l zzzqq a.txt",
        "rg zzzqq",
        "grep x empty.txt",
        "grep -r two /skills",
        "cat a.txt | grep zzzqq",
        "cat empty.txt | grep x",
        "cat empty.txt | grep ''",
    ] {
        let ended = run(line);
        assert_eq!(
            (ended.output.as_str(), ended.error.as_str(), ended.exit),
            ("", "", 1),
            "{line}"
        );
        assert_eq!(
            ended.reported_error().as_deref(),
            Some("Command exited with status 1")
        );
    }
}

#[test]
fn unsearched_operands_are_reported_without_a_match() {
    for (line, error) in [
        ("grep two", "grep: /scratch is a directory (search it with -r)"),
        (
            "grep two dir",
            "grep: /scratch/dir is a directory (search it with -r)",
        ),
        (
            "grep x /tools /skills",
            "grep: /tools is a directory (search it with -r)",
        ),
        ("grep two nope", "Path not found: /scratch/nope"),
        ("grep -r two nope", "Path not found: /scratch/nope"),
        ("rg two nope dir2", "Path not found: /scratch/nope"),
        ("grep zzz nope a.txt", "Path not found: /scratch/nope"),
    ] {
        check_error(line, 1, error);
    }
}

#[test]
fn the_input_is_searched() {
    for (line, output) in [
        ("cat a.txt | grep two", "two\n"),
        ("cat a.txt|grep t", "two\nthree\n"),
        ("cat open.txt | grep end", "no end of line\n"),
        ("cat open.txt b.txt | grep o", "no end of line\nfour\n"),
        ("cat a.txt | rg -l two", "two\n"),
        ("cat a.txt | grep four b.txt", "/scratch/b.txt:four\n"),
        ("ls /tools | grep _", "_runtime.py\n_schema.json\n"),
        ("grep -r two | grep deep", "/scratch/dir/deep/er/x.txt:two deep\n"),
    ] {
        check(line, output);
    }
}

#[test]
fn hidden_and_special_entries_are_skipped_below_a_directory() {
    let ended = run("grep -r two /scratch");
    for hidden in [".secret", "link", "denied", "broken", "unopenable"] {
        assert!(!ended.output.contains(hidden), "{hidden}");
    }
    check_error(
        "grep two link",
        126,
        "EACCES: read denied for path: /scratch/link",
    );
    check_error(
        "grep two denied.txt",
        126,
        "EACCES: read denied for path: /scratch/denied.txt",
    );
    check_error(
        "grep two broken.txt",
        1,
        "cannot read /scratch/broken.txt: input/output error",
    );
    check_error(
        "grep root /etc/passwd",
        126,
        "EACCES: read denied for path: /etc/passwd",
    );
    check_error(
        "grep -r root ..",
        126,
        "EACCES: path traversal denied: /scratch/..",
    );
}

#[test]
fn names_cannot_write_to_a_terminal() {
    let tree = Tree::default()
        .named("/scratch", b"two\nlines", "match\n")
        .named("/scratch", b"\x1b[2J", "match\n")
        .named("/scratch", b"\xff", "match\n");
    check_over(
        &tree,
        "grep -r match",
        "/scratch/\\u{1b}[2J:match\n/scratch/two\\nlines:match\n/scratch/\u{fffd}:match\n",
    );
}

#[test]
fn bytes_that_are_no_text() {
    let tree = Tree::default()
        .file("/scratch/latin", b"caf\xe9 one\nplain\n".to_vec())
        .file("/scratch/zero", b"head\na\0match\nmatch\n".to_vec())
        .file("/scratch/crlf", "one\r\ntwo\r\n")
        .file("/scratch/utf", "grün\nrot\n");
    check_over(&tree, "grep one latin", "/scratch/latin:caf\u{fffd} one\n");
    check_over(&tree, "grep plain latin", "/scratch/latin:plain\n");
    check_over(&tree, "grep match zero", "Binary file /scratch/zero matches\n");
    check_over(&tree, "grep -l match zero", "/scratch/zero\n");
    check_over(&tree, "grep head zero", "/scratch/zero:head\n");
    check_over(&tree, "grep o$ crlf", "/scratch/crlf:two\n");
    check_over(&tree, "grep gr.n utf", "/scratch/utf:grün\n");
    check_over(&tree, "grep 'GRÜN|(?i)ROT' utf", "/scratch/utf:rot\n");
    check_over(
        &tree,
        "grep '^\\w+$' utf",
        "/scratch/utf:grün\n/scratch/utf:rot\n",
    );
}

#[test]
fn deep_directories() {
    let path = |depth: usize| format!("/scratch/{}x", "d/".repeat(depth));
    let tree = Tree::default().file(&path(200), "match\n");
    check_over(&tree, "grep -rl match", &format!("{}\n", path(200)));
    let ended = run_over(&tree.file(&path(230), "match\n"), "grep -rl match");
    assert_eq!(ended.output, format!("{}\n", path(200)));
    assert_eq!(
        (ended.error.as_str(), ended.exit),
        ("directories nested deeper than 200 were not searched", 0)
    );
}

#[test]
fn patterns_are_at_most_512_characters() {
    let tree = Tree::default().file("/scratch/a", "é".repeat(512));
    assert_eq!(run_over(&tree, &format!("grep {} a", "é".repeat(512))).exit, 0);
    let long = "é".repeat(513);
    for command in ["grep", "rg"] {
        let error = format!("{command}: pattern too long (max 512 chars)");
        check_error(&format!("{command} {long} a"), 1, &error);
        check_error(&format!("{command} x a --include={long}"), 1, &error);
    }
}

#[test]
fn mistakes() {
    for (line, exit, error) in [
        ("grep", 1, "grep: missing pattern"),
        ("rg", 1, "rg: missing pattern"),
        ("grep -r", 1, "grep: missing pattern"),
        ("grep --include=x", 1, "grep: missing pattern"),
        ("cat a.txt | grep", 1, "grep: missing pattern"),
        ("grep -i two a.txt", 2, "Unsupported grep option: -i"),
        ("grep -n two a.txt", 2, "Unsupported grep option: -n"),
        ("grep -rn two a.txt", 2, "Unsupported grep option: -rn"),
        ("grep two a.txt -E", 2, "Unsupported grep option: -E"),
        ("rg --hidden two", 2, "Unsupported rg option: --hidden"),
        ("rg --recursive two", 2, "Unsupported rg option: --recursive"),
        ("grep two --include", 2, "Unsupported grep option: --include"),
        (
            "grep two --exclude=x a.txt",
            2,
            "Unsupported grep option: --exclude=x",
        ),
        ("grep '(' a.txt", 1, "grep: invalid regex: unclosed group"),
        ("rg '[' a.txt", 1, "rg: invalid regex: unclosed character class"),
        (
            "grep '*a' a.txt",
            1,
            "grep: invalid regex: repetition operator missing expression",
        ),
        (
            "grep * a.txt",
            1,
            "grep: invalid regex: repetition operator missing expression",
        ),
        (
            "grep '(a)\\1' a.txt",
            1,
            "grep: invalid regex: backreferences are not supported",
        ),
        (
            "grep 'a(?=b)' a.txt",
            1,
            "grep: invalid regex: look-around, including look-ahead and look-behind, is not supported",
        ),
        (
            "grep x --include='[' a.txt",
            1,
            "grep: invalid glob: unclosed character class; missing ']'",
        ),
        (
            "grep two *.txt",
            126,
            "EACCES: '*.txt' is not expanded (name each file, or use grep -r with --include)",
        ),
        (
            "grep two ~",
            126,
            "EACCES: '~' is not expanded (name each file, or use grep -r with --include)",
        ),
    ] {
        check_error(line, exit, error);
    }
}

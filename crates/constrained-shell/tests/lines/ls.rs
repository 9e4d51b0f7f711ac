//! `ls`: S0-58.

use super::{Tree, check, check_error, check_over, run_over};

#[test]
fn directories_come_first() {
    for (line, output) in [
        ("ls /tools", "stub/\n_runtime.py\n_schema.json\n"),
        ("ls /tools/", "stub/\n_runtime.py\n_schema.json\n"),
        ("ls //tools/./", "stub/\n_runtime.py\n_schema.json\n"),
        ("ls /tools/stub", "_meta.json\nadd.py\nadd.ts\necho.py\n"),
        ("ls dir", "deep/\nlink.txt\ny.txt\n"),
        ("ls ./dir/deep", "er/\n"),
        ("ls /skills", ""),
        ("ls /", "results/\nscratch/\nskills/\ntools/\nworkspace/\n"),
        ("ls '/tools'", "stub/\n_runtime.py\n_schema.json\n"),
        ("  ls\t/skills  ", ""),
        ("ls -- dir", "deep/\nlink.txt\ny.txt\n"),
    ] {
        check(line, output);
    }
}

#[test]
fn without_a_path_scratch_is_listed() {
    let scratch = "dir/\na.txt\nb.txt\nbad.json\nbroken.txt\ndenied.txt\nempty.txt\nlink\nn.json\nopen.txt\n\
                   unopenable.txt\n";
    check("ls", scratch);
    check("ls .", scratch);
    check("ls ''", scratch);
    check("ls /scratch", scratch);
}

#[test]
fn hidden_entries_are_listed_on_demand() {
    let tools = ".hidden/\nstub/\n.search_index\n_runtime.py\n_schema.json\n";
    check("ls -a /tools", tools);
    check("ls --all /tools", tools);
    check("ls /tools -a", tools);
    check("ls -a -a /tools", tools);
    check("ls .secret", ".secret\n");
    check("ls /tools/.hidden", "add.py\n");
}

#[test]
fn names_are_sorted_without_case() {
    let tree = Tree::default()
        .file("/results/b", "")
        .file("/results/B", "")
        .file("/results/a", "")
        .file("/results/C/x", "")
        .file("/results/Z", "");
    check_over(&tree, "ls /results", "C/\na\nB\nb\nZ\n");
}

#[test]
fn a_file_is_listed_by_its_name() {
    check("ls /tools/stub/add.py", "add.py\n");
    check("ls a.txt", "a.txt\n");
}

#[test]
fn several_paths_have_headings() {
    check(
        "ls /skills dir /tools/stub/add.py",
        "/skills:\n\n/scratch/dir:\ndeep/\nlink.txt\ny.txt\n\n/tools/stub/add.py:\nadd.py\n",
    );
}

#[test]
fn names_cannot_write_to_a_terminal() {
    let tree = Tree::default()
        .named("/scratch", b"two\nlines", "")
        .named("/scratch", b"esc\x1b[2J", "")
        .named("/scratch", b"bytes\xff\xfe", "")
        .named("/scratch", "safe\u{202e}live".as_bytes(), "");
    check_over(
        &tree,
        "ls",
        "bytes\u{fffd}\u{fffd}\nesc\\u{1b}[2J\nsafe\\u{202e}live\ntwo\\nlines\n",
    );
}

#[test]
fn many_entries() {
    let tree = (0..500).fold(Tree::default(), |tree, number| {
        tree.file(&format!("/scratch/{number:05}"), "")
    });
    let ended = run_over(&tree, "ls");
    assert_eq!(ended.output.lines().count(), 500);
    assert!(ended.output.starts_with("00000\n00001\n"));
}

#[test]
fn mistakes() {
    for (line, exit, error) in [
        ("ls -l", 2, "Unsupported ls option: -l"),
        ("ls -la /tools", 2, "Unsupported ls option: -la"),
        ("ls --color", 2, "Unsupported ls option: --color"),
        ("ls /nope", 126, "EACCES: read denied for path: /nope"),
        ("ls /etc", 126, "EACCES: read denied for path: /etc"),
        ("ls /scratch/nope", 1, "Path not found: /scratch/nope"),
        ("ls nope", 1, "Path not found: /scratch/nope"),
        ("ls link", 126, "EACCES: read denied for path: /scratch/link"),
        ("ls -", 1, "Path not found: /scratch/-"),
        ("ls ..", 126, "EACCES: path traversal denied: /scratch/.."),
        ("ls 'no\u{1b}pe'", 1, "Path not found: /scratch/no\\u{1b}pe"),
        (
            "ls *.txt",
            126,
            "EACCES: '*.txt' is not expanded (name each file, or use grep -r with --include)",
        ),
    ] {
        check_error(line, exit, error);
    }
}

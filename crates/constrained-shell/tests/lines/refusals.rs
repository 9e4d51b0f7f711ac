//! What must reach nothing: C084.

use super::{check_error, run};

#[test]
fn c084_no_other_command_runs() {
    for (line, error) in [
        ("rm -rf /scratch", "EACCES: command 'rm' is not permitted"),
        (
            "curl http://127.0.0.1:18099",
            "EACCES: command 'curl' is not permitted",
        ),
        ("id", "EACCES: command 'id' is not permitted"),
        ("exec ls", "EACCES: command 'exec' is not permitted"),
        ("bash", "EACCES: command 'bash' is not permitted"),
        ("yes", "EACCES: command 'yes' is not permitted"),
        ("LS", "EACCES: command 'LS' is not permitted"),
        ("ls | id", "EACCES: command 'id' is not permitted"),
        ("ls|id", "EACCES: command 'id' is not permitted"),
        ("cat a.txt | head -1", "EACCES: command 'head' is not permitted"),
        ("cat a.txt | xargs rm", "EACCES: command 'xargs' is not permitted"),
    ] {
        check_error(line, 126, error);
    }
}

#[test]
fn c084_nothing_that_a_shell_would_do_is_done() {
    for line in [
        "ls; id",
        "ls $(id)",
        "ls && id",
        "ls & id",
        "ls || id",
        "ls `id`",
        "ls \"$(id)\"",
        "cat /tools/_schema.json > /scratch/o",
        "cat /tools/_schema.json >> /scratch/o",
        "cat < a.txt",
        "cat << EOF",
        "cat <(id)",
        "ls &",
        "(ls)",
        "{ ls",
        "ls\nid",
        "cat *",
        "cat ~",
        "cat {a,b}.txt",
    ] {
        let ended = run(line);
        assert_eq!(ended.output, "", "{line}");
        assert!(!ended.error.is_empty(), "{line}");
        assert!(ended.exit == 126 || ended.exit == 2, "{line}: {}", ended.exit);
    }
}

//! Lines of commands, and programs of one line that look alike.

use proptest::prelude::*;

use super::is_command;

#[track_caller]
fn check(expected: bool, lines: &[&str]) {
    for line in lines {
        assert_eq!(is_command(line), expected, "{line:?}");
    }
}

#[test]
fn commands() {
    check(
        true,
        &[
            "ls",
            "cat",
            "  ls  ",
            "ls\n",
            "ls /",
            "ls .",
            "ls ..",
            "ls ./a",
            "ls .hidden",
            "ls -a",
            "ls --all /tools",
            "ls -1",
            "ls *.py",
            "ls *",
            "ls ?",
            "ls ~",
            "ls\t/tools",
            "cat a b",
            "cat in",
            "cat notes is.txt",
            "cat 'a = b'",
            "cat \"x\"",
            "cat -",
            "cat /tools/_schema.json > /scratch/o",
            "cat x.json|jq .",
            "ls|cat",
            "ls | cat",
            "ls|grep x|cat",
            "grep x",
            "grep -r add /tools --include='*.py' -l",
            "grep --include *.py x /tools",
            "grep @ mail.txt",
            "grep and notes.txt",
            "grep in notes.txt",
            "grep [0-9] a.txt",
            "grep 'a = 5' a.py",
            "grep \"x(\" a.py",
            "rg foo /tools",
            "rg * f",
            "jq . a.json",
            "jq .",
            "jq .a",
            "jq .a.b[0] f.json",
            "jq [.[]] f.json",
            "jq '.x == 1' f.json",
            "jq length f.json",
            "jq {a:.b} f.json",
            // Evaluation refuses shell operators with a reason.
            "ls; id",
            "ls;id",
            "ls && id",
            "ls&&id",
            "ls || id",
            "ls & id",
            "ls>o",
            "ls > o",
            "ls $(id)",
            "ls `id`",
            "cat < x",
            "cat << EOF",
            "ls # all files",
        ],
    );
}

#[test]
fn programs_in_python() {
    check(
        false,
        &[
            "cat = 5",
            "cat=5",
            "cat\t=\t5",
            "ls = []",
            "ls = [x for x in 'a|b']",
            "ls = 1; print(ls)",
            "ls += [1]",
            "ls -= 1",
            "ls-=1",
            "ls //= 2",
            "ls **= 2",
            "ls >>= 1",
            "ls <<= 1",
            "ls |= {1}",
            "ls|=1",
            "ls @= m",
            "cat == 5",
            "cat==5",
            "cat != 5",
            "cat >= 5",
            "cat<=5",
            "cat := 5",
            "cat = dog = 1",
            "ls()",
            "ls ()",
            "ls (1)",
            "ls(1) | grep(2)",
            "grep.x",
            "grep.x = 1",
            "cat.append(5)",
            "ls[0]",
            "ls[0] = 1",
            "cat, dog = 1, 2",
            "cat , dog = 1, 2",
            "jq: int = 3",
            "jq : int = 3",
            "jq = lambda x: x | 1",
            "ls + [1]",
            "ls+1",
            "ls * 2",
            "ls - x",
            "ls-1",
            "ls / 2",
            "ls // 2",
            "ls ** 2",
            "ls % 3",
            "ls @ m",
            "ls ^ 1",
            "cat if x else y",
            "cat and dog",
            "cat or []",
            "cat in dogs",
            "cat is None",
            "cat not in dogs",
            "jq and 'x'",
        ],
    );
}

#[test]
fn programs_in_typescript() {
    check(
        false,
        &[
            "cat++",
            "cat--",
            "cat => cat + 1",
            "cat=>1",
            "cat === 5",
            "cat !== 5",
            "cat ??= 1",
            "cat ||= 1",
            "cat &&= 1",
            "cat?.length",
            "cat!.length",
            "cat ? 1 : 2",
            "cat ?? 1",
            "cat as any",
            "cat instanceof Dog",
            "ls: string",
            "ls`x`",
        ],
    );
}

#[test]
fn other_code() {
    check(
        false,
        &[
            "",
            " ",
            "print(1)",
            "lsof",
            "ls2",
            "ls_x",
            "ls-l",
            "LS",
            "Cat x",
            "rm -rf /scratch",
            "curl http://127.0.0.1:18099",
            "id",
            "concat x",
            "ls\ncat x",
            "ls\rcat x",
            "cat <<EOF\nx\nEOF",
            "ls\u{a0}/tools",
            "\u{2028}ls",
            "'ls'",
            "# ls",
            "await ls()",
        ],
    );
}

proptest! {
    #[test]
    fn any_text_is_judged(text in r"(ls|cat|grep|rg|jq)?\PC{0,20}") {
        is_command(&text);
    }

    #[test]
    fn assignments_are_programs(
        name in r"(ls|cat|grep|rg|jq)",
        operator in r" ?(\+|-|\*|/|//|%|@|&|\||\^|<<|>>|\*\*)?= ?",
        value in r"[a-z0-9]{1,4}",
    ) {
        let program = format!("{name}{operator}{value}");
        prop_assert!(!is_command(&program), "{}", program);
    }
}

//! How `codeyard run` ends, as scripts see it.

use serde_json::Value;
use test_support::{Codeyard, run};

/// C343: each end of a program has its exit code and its words.
#[tokio::test]
async fn c343_every_end_of_a_program_has_its_exit_code() {
    let codeyard = Codeyard::new().unwrap();
    let work = codeyard.work_directory();
    std::fs::write(work.join("ok.py"), "print('ok')").unwrap();
    std::fs::write(
        work.join("raises.py"),
        "print('before')\nraise ValueError('boom')",
    )
    .unwrap();
    std::fs::write(
        work.join("slow.py"),
        "print('begun', flush=True)\nimport time\ntime.sleep(60)",
    )
    .unwrap();
    std::fs::create_dir(work.join("directory")).unwrap();
    for (args, out, err, code) in [
        (&["ok.py"][..], "ok\n", "", 0),
        (&["raises.py"], "before\n", "ValueError: boom", 1),
        (&["missing.py"], "", "Script not found: missing.py", 1),
        (&["directory"], "", "Not a file: directory", 1),
        (&["ok.py/below.py"], "", "ok.py/below.py: ", 2),
        (
            &["slow.py", "--timeout", "1s"],
            "begun\n",
            "Execution timed out after 1000ms",
            124,
        ),
    ] {
        let ended = run(&codeyard, &[&["run"], args].concat(), "").await;
        assert_eq!(
            (ended.out.as_str(), ended.code),
            (out, code),
            "{args:?}: {ended:?}"
        );
        assert!(ended.err.contains(err), "{args:?}: {ended:?}");
    }
    let json = run(&codeyard, &["run", "slow.py", "--timeout", "1s", "--json"], "").await;
    let described: Value = json.json();
    assert_eq!(
        (json.code, described["status"].as_str()),
        (124, Some("timed_out")),
        "{json:?}"
    );
}

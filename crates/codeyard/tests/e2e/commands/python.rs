//! `codeyard python add`, `remove`, `list` and `sync`: the machine's own pip, and wheels built here.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{Codeyard, CommandOutput, run};

use super::at_a_terminal;

/// The index of these tests: the default set with empty packages, and packages with dependencies.
const PACKAGES: [&str; 19] = [
    "numpy==9.0",
    "pandas==9.0:numpy",
    "matplotlib==9.0:numpy",
    "scikit-learn==9.0:numpy",
    "pydantic==9.0",
    "requests==9.0",
    "python-dateutil==9.0",
    "openpyxl==9.0",
    "seaborn==9.0:pandas,matplotlib",
    "plotly==9.0",
    "jinja2==9.0",
    "tabulate==9.0",
    "tiny==1.0",
    "tiny==2.0",
    "helper==1.0",
    "upper==1.0:helper",
    "lower==1.0:helper,extra-part; extra == 'more'",
    "Extra_Part==1.0",
    "strict==1.0:tiny<2",
];

/// An installation whose pip finds only these packages.
fn with_index() -> Codeyard {
    let codeyard = Codeyard::new().unwrap();
    let wheels = codeyard.directory().join("wheels");
    std::fs::create_dir(&wheels).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/commands/packages.py");
    #[expect(clippy::disallowed_methods, reason = "it ends before this function does")]
    let made = std::process::Command::new("python3")
        .arg(script)
        .arg(&wheels)
        .args(PACKAGES)
        .status();
    assert!(made.unwrap().success());
    codeyard.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", wheels)
}

async fn python(codeyard: &Codeyard, line: &str) -> CommandOutput {
    let args: Vec<&str> = ["python"].into_iter().chain(line.split(' ')).collect();
    run(codeyard, &args, "").await
}

/// The installed packages and versions.
/// The names of a directory's entries, sorted.
fn entries(directory: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names
}

async fn listed(codeyard: &Codeyard) -> Vec<String> {
    let list = python(codeyard, "list --json").await.json();
    let packages = list["packages"].as_array().unwrap();
    let shown = |package: &Value| {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        format!("{} {}", text("name"), text("version"))
    };
    packages.iter().map(shown).collect()
}

#[tokio::test]
async fn packages_are_added_listed_imported_and_removed() {
    let codeyard = with_index();
    let ended = python(&codeyard, "list").await;
    assert!(
        ended.code == 0 && ended.out.contains("codeyard python sync"),
        "{ended:?}"
    );
    assert_eq!(
        python(&codeyard, "list --json").await.json()["packages"],
        json!([])
    );
    let ended = python(&codeyard, "remove tiny").await;
    assert!(
        ended.code == 2 && ended.err.contains("codeyard python add NAME"),
        "{ended:?}"
    );

    let ended = python(&codeyard, "add tiny==1.0").await;
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (0, "installed tiny 1.0\n"),
        "{ended:?}"
    );
    let ended = run(&codeyard, &["run", "-"], "import tiny\nprint(tiny.VERSION)").await;
    assert_eq!((ended.code, ended.out.trim()), (0, "1.0"), "{ended:?}");

    let ended = python(&codeyard, "add upper Lower").await;
    assert_eq!(
        ended.out, "installed helper 1.0, lower 1.0, upper 1.0\n",
        "{ended:?}"
    );
    assert_eq!(
        listed(&codeyard).await,
        ["helper 1.0", "lower 1.0", "tiny 1.0", "upper 1.0"]
    );
    let ended = python(&codeyard, "list").await;
    assert!(
        ended.out.contains("tiny    1.0  added as `tiny==1.0`\n"),
        "{ended:?}"
    );
    let ended = python(&codeyard, "add tiny Upper").await;
    assert!(
        ended.code == 0 && ended.out.starts_with("nothing to install"),
        "{ended:?}"
    );
    let ended = python(&codeyard, "add tiny>=2").await;
    assert_eq!(ended.out, "installed tiny 2.0\n", "{ended:?}");
    let ended = run(
        &codeyard,
        &["run", "-"],
        "import tiny, upper\nprint(tiny.VERSION)",
    )
    .await;
    assert_eq!((ended.code, ended.out.trim()), (0, "2.0"), "{ended:?}");

    let ended = python(&codeyard, "remove helper").await;
    let told = "`helper` is needed by lower, upper; remove it together with what needs it: `codeyard python remove helper lower upper`";
    assert!(ended.code == 2 && ended.err.contains(told), "{ended:?}");
    let ended = python(&codeyard, "remove uper").await;
    assert!(
        ended.code == 2 && ended.err.contains("did you mean `upper`?"),
        "{ended:?}"
    );
    let ended = python(&codeyard, "remove upper").await;
    assert_eq!(ended.out, "removed upper 1.0\n", "{ended:?}");
    let ended = python(&codeyard, "remove LOWER").await;
    assert_eq!(ended.out, "removed helper 1.0, lower 1.0\n", "{ended:?}");
    assert_eq!(listed(&codeyard).await, ["tiny 2.0"]);
    python(&codeyard, "add lower[more]").await;
    let ended = python(&codeyard, "remove lower tiny").await;
    assert_eq!(
        ended.out, "removed Extra_Part 1.0, helper 1.0, lower 1.0, tiny 2.0\n",
        "{ended:?}"
    );
    assert_eq!(listed(&codeyard).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_failed_add_changes_nothing_and_its_first_line_gives_the_reason() {
    let codeyard = with_index();
    assert_eq!(python(&codeyard, "add tiny").await.code, 0);
    for (line, told) in [
        (
            "add no-such-package",
            "no version of `no-such-package` for this Python; check the name;",
        ),
        (
            "add upper tiny==7",
            "no version of `tiny==7` for this Python; check the name and version (the newest are 1.0, 2.0)",
        ),
        (
            "add strict tiny==2.0",
            "the packages need versions that exclude each other",
        ),
    ] {
        let ended = python(&codeyard, line).await;
        let first = ended.err.lines().next().unwrap_or_default();
        assert!(
            ended.code == 2 && first.starts_with("error: ") && first.contains(told),
            "{line}: {ended:?}"
        );
        assert!(
            first.contains("what was there before is unchanged"),
            "{line}: {ended:?}"
        );
        assert_eq!(listed(&codeyard).await, ["tiny 2.0"], "{line}");
    }
    let offline = Codeyard::new()
        .unwrap()
        .data(codeyard.data_directory())
        .env("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        .env("PIP_FIND_LINKS", "");
    let ended = python(&offline, "add upper").await;
    assert!(
        ended.code == 5 && ended.err.starts_with("error: pip cannot reach its package index"),
        "{ended:?}"
    );
    assert_eq!(listed(&codeyard).await, ["tiny 2.0"]);
    let ended = run(&codeyard, &["run", "-"], "import tiny\nprint(tiny.VERSION)").await;
    assert_eq!((ended.code, ended.out.trim()), (0, "2.0"), "{ended:?}");
    let ended = python(&offline, "remove tiny").await;
    assert_eq!(ended.out, "removed tiny 2.0\n", "needs no index: {ended:?}");
    let places = std::fs::read_dir(codeyard.data_directory().join("python")).unwrap();
    let drafts = places.filter(|place| {
        place
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("draft")
    });
    assert_eq!(drafts.count(), 0);
}

#[tokio::test]
async fn an_invalid_package_name_is_refused_before_the_start() {
    let codeyard = Codeyard::new().unwrap();
    let before = entries(&codeyard.data_directory().join("python"));
    for (args, told) in [
        (&["add"][..], "<NAME[==VERSION]>"),
        (&["add", ""], "a package name is empty"),
        (&["add", "--index-url", "x"], "unexpected argument '--index-url'"),
        (&["add", "--", "--index-url"], "`--index-url` is an option"),
        (&["add", "tiny", "--", "-rx.txt"], "`-rx.txt` is an option"),
        (&["add", "https://me:pass@example.org/x.whl"], "is a URL"),
        (&["add", "tiny @ file:///tmp/x.whl"], "is a URL"),
        (&["add", "./tiny"], "is a path"),
        (&["add", "tiny-1.0-py3-none-any.whl"], "is a path"),
        (&["add", "two words"], "`two words` is not a package name"),
        (&["add", "tiny\nupper"], "is not a package name"),
        (&["add", "tiny=1"], "NAME==VERSION"),
        (
            &["add", "tiny==1.0", "Tiny==2.0"],
            "`tiny==1.0` and `Tiny==2.0` are the same package",
        ),
        (&["remove"], "<NAME>"),
        (&["remove", "tiny==1.0"], "codeyard python remove tiny"),
        (&["remove", "../tiny"], "is a path"),
        (&["list", "tiny"], "unexpected argument 'tiny'"),
    ] {
        let args: Vec<&str> = ["python"].iter().chain(args).copied().collect();
        let ended = run(&codeyard, &args, "").await;
        assert!(ended.code == 2 && ended.err.contains(told), "{args:?}: {ended:?}");
    }
    assert_eq!(entries(&codeyard.data_directory().join("python")), before);
}

#[tokio::test]
async fn a_sync_keeps_additions_to_the_default_set_and_removals_from_it() {
    let codeyard = with_index();
    python(&codeyard, "add tiny==1.0").await;
    let ended = python(&codeyard, "sync").await;
    assert!(
        ended.code == 0 && ended.out.starts_with("13 packages in "),
        "{ended:?}"
    );
    let ended = python(&codeyard, "remove numpy").await;
    let others = "matplotlib, pandas, scikit-learn, seaborn";
    assert!(ended.code == 2 && ended.err.contains(others), "{ended:?}");
    let ended = python(&codeyard, "remove plotly").await;
    assert_eq!(ended.out, "removed plotly 9.0\n", "{ended:?}");
    let ended = python(&codeyard, "sync").await;
    assert!(ended.err.contains("the environment is up to date"), "{ended:?}");
    let told = "left out, because they were removed: plotly; `codeyard python add plotly` adds them again";
    assert!(ended.err.contains(told), "{ended:?}");
    let ended = python(&codeyard, "sync --refresh").await;
    assert!(
        ended.code == 0 && ended.out.starts_with("12 packages in "),
        "{ended:?}"
    );
    let all = listed(&codeyard).await;
    assert!(
        all.contains(&"tiny 1.0".to_owned()) && !all.contains(&"plotly 9.0".to_owned()),
        "{all:?}"
    );
}

#[tokio::test]
async fn a_sync_that_would_remove_packages_lists_them_and_asks() {
    let codeyard = with_index();
    let work = codeyard.work_directory();
    std::fs::write(work.join("more.txt"), "upper\n").unwrap();
    std::fs::write(work.join("all.txt"), "tiny==1.0 # old\n-r more.txt\n").unwrap();
    std::fs::write(work.join("tiny.txt"), "tiny\n").unwrap();
    let ended = python(&codeyard, "sync --requirements all.txt").await;
    assert!(
        ended.code == 0 && ended.out.starts_with("3 packages in "),
        "{ended:?}"
    );
    let before = ["helper 1.0", "tiny 1.0", "upper 1.0"];

    for line in ["sync --requirements tiny.txt", "sync"] {
        let ended = python(&codeyard, line).await;
        assert_eq!(ended.code, 2, "{ended:?}");
        for told in ["helper  1.0", "upper   1.0", "--yes"] {
            assert!(ended.err.contains(told), "{line}: {ended:?}");
        }
        assert_eq!(listed(&codeyard).await, before, "{line}");
    }
    let args = ["python", "sync", "--requirements", "tiny.txt"];
    let shown = at_a_terminal(&codeyard, &args, "n").await;
    assert!(
        shown.contains("remove 2 packages? [y/N]") && shown.contains("nothing was changed"),
        "{shown}"
    );
    assert_eq!(listed(&codeyard).await, before);
    let shown = at_a_terminal(&codeyard, &args, "y").await;
    assert!(shown.contains("1 package in "), "{shown}");
    assert_eq!(listed(&codeyard).await, ["tiny 2.0"]);

    python(&codeyard, "add upper").await;
    let ended = python(&codeyard, "sync --requirements tiny.txt").await;
    assert!(ended.code == 2 && ended.err.contains("upper   1.0"), "{ended:?}");
    let ended = python(&codeyard, "sync --requirements tiny.txt --yes").await;
    assert!(
        ended.code == 0 && ended.out.starts_with("1 package in "),
        "{ended:?}"
    );
    assert_eq!(listed(&codeyard).await, ["tiny 2.0"]);
}

//! `codeyard tools stubs` and `codeyard tools show --language`.

use std::fs;

use test_support::{Codeyard, run};

#[tokio::test]
async fn a_tool_is_declared_in_both_languages() {
    let codeyard = Codeyard::with_stub().unwrap();
    let shown = async |language: &str| {
        run(
            &codeyard,
            &["tools", "show", "stub.add", "--language", language],
            "",
        )
        .await
    };
    let python = shown("python").await;
    assert!(
        python
            .out
            .contains("async def add(*, a: float, b: float) -> Result:"),
        "{python:?}"
    );
    let typescript = shown("typescript").await;
    let function = "export declare function add(args: Arguments): Promise<Result>;";
    assert!(typescript.out.contains(function), "{typescript:?}");
    let odd = shown("cobol").await;
    assert!(
        odd.code != 0 && odd.err.contains("python") && odd.err.contains("typescript"),
        "{odd:?}"
    );
}

#[tokio::test]
async fn stubs_are_written_once_and_nothing_else_is_touched() {
    let codeyard = Codeyard::with_stub().unwrap();
    let place = codeyard.work_directory().join("typings");
    let directory = place.to_string_lossy().into_owned();
    let write = async |more: &[&str]| {
        let words = [&["tools", "stubs", directory.as_str()], more].concat();
        run(&codeyard, &words, "").await
    };
    let first = write(&[]).await;
    assert_eq!(first.code, 0, "{first:?}");
    let add = place.join("tools/stub/add.pyi");
    assert!(fs::read_to_string(&add).unwrap().contains("async def add("));
    let again = write(&[]).await;
    assert!(again.out.contains(": 0 written, 0 removed"), "{again:?}");

    // An outdated stub is removed, a foreign file is not.
    fs::copy(&add, place.join("tools/stub/old.pyi")).unwrap();
    fs::write(place.join("tools/stub/own.pyi"), "x = 1\n").unwrap();
    fs::write(&add, format!("{}x = 1\n", fs::read_to_string(&add).unwrap())).unwrap();
    let third = write(&["--server", "stub"]).await;
    assert!(third.out.contains(": 1 written, 1 removed"), "{third:?}");
    assert!(!place.join("tools/stub/old.pyi").exists() && place.join("tools/stub/own.pyi").exists());

    fs::write(&add, "x = 1\n").unwrap();
    fs::remove_file(place.join("tools/stub/echo.pyi")).unwrap();
    let refused = write(&[]).await;
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.err.contains("add.pyi") && refused.err.contains("another directory"),
        "{refused:?}"
    );
    assert!(!place.join("tools/stub/echo.pyi").exists());

    let typescript = write(&["--language", "typescript"]).await;
    assert_eq!(typescript.code, 0, "{typescript:?}");
    let index = fs::read_to_string(place.join("tools/stub.d.ts")).unwrap();
    assert!(index.contains("export { add } from \"./stub/add\";"), "{index}");
    let unknown = write(&["--server", "stob"]).await;
    assert!(
        unknown.code == 2 && unknown.err.contains("did you mean 'stub'"),
        "{unknown:?}"
    );
}

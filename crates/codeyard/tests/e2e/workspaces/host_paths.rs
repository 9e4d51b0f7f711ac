//! Two paths of one file: `/workspace/a.csv` for programs, and the host's path for tools.

use serde_json::json;
use test_support::{CodeClient, Codeyard, run};

use super::{user_directory, workspace};

/// A program writes a CSV, a server imports and exports it, pandas reads the export.
const THERE_AND_BACK: &str = r#"
import pandas as pd
pd.DataFrame({"city": ["Oslo", "Rome"], "sold": [3, 5]}).to_csv("sales.csv", index=False)
book, out = runtime.host_path("sales.xlsx"), runtime.host_path("export.csv")
await tools.excel.create_workbook(path=book, overwrite=True)
await tools.excel.import_csv(path=book, csv_path=runtime.host_path("/workspace/sales.csv"), sheet="Sales")
await tools.excel.export_csv(path=book, sheet="Sales", csv_path=out, overwrite=True)
return [pd.read_csv("export.csv").to_dict("records"), len(pd.read_csv(out)), len(pd.read_excel("sales.xlsx", sheet_name="Sales"))]
"#;

#[tokio::test]
async fn a_table_goes_to_a_server_and_comes_back() {
    let codeyard = Codeyard::new().unwrap().real_servers().unwrap();
    let mut client = CodeClient::of(codeyard.managed_environment().unwrap()).await;
    let ran = client.run(THERE_AND_BACK).await;
    let rows = json!([{"city": "Oslo", "sold": 3}, {"city": "Rome", "sold": 5}]);
    assert_eq!(ran.result(), &json!([rows, 2, 2]), "{ran:?}");
    let names: Vec<&str> = ran.fields()["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "/workspace/export.csv",
            "/workspace/sales.csv",
            "/workspace/sales.xlsx"
        ]
    );
    let host = workspace(&client.codeyard);
    for (path, told) in [
        ("sales.xlsx", "pass runtime.host_path('sales.xlsx')".to_owned()),
        (
            "/workspace/sales.xlsx",
            format!("/workspace/sales.xlsx is {}/sales.xlsx there", host.display()),
        ),
        (
            "/scratch/a.xlsx",
            "/sessions/default/scratch/a.xlsx there; pass runtime.host_path('/scratch/a.xlsx')".to_owned(),
        ),
        (
            "/tmp/a.xlsx",
            "exists only inside the sandbox; put the file in /workspace".to_owned(),
        ),
    ] {
        let code = format!("await tools.excel.describe_workbook(path={path:?})");
        let ran = client.run(&code).await;
        assert!(ran.error().contains(&told), "{path}: {}", ran.error());
    }
    let ran = client
        .run("await tools.excel.describe_workbook(path=runtime.host_path('missing.xlsx'))")
        .await;
    assert!(!ran.error().contains("tools see"), "{}", ran.error());
    // Servers confined to their own directories accept no path of the workspace.
    for path in ["'/workspace/sales.csv'", "runtime.host_path('sales.csv')"] {
        let code = format!("from mcp import runtime\nawait tools.filesystem.read_text_file(path={path})");
        let ran = client.run(&code).await;
        assert!(
            ran.error().contains("pass it what is in the file"),
            "{}",
            ran.error()
        );
    }
}

#[tokio::test]
async fn directories_have_the_names_of_programs() {
    let codeyard = Codeyard::with_stub().unwrap();
    let code = "import os, pathlib, subprocess\nopen('x', 'w').close()\n\
                print(os.getcwd(), os.path.abspath('x'), pathlib.Path('x').resolve(), pathlib.Path.cwd(), os.path.realpath('/tmp/y'))\n\
                print(subprocess.run(['sh', '-c', 'pwd'], capture_output=True, text=True).stdout, end='')\n\
                os.makedirs('d', exist_ok=True); os.chdir('d'); print(os.getcwd())";
    let ended = run(&codeyard, &["run", "-"], code).await;
    let expected = "/workspace /workspace/x /workspace/x /workspace /tmp/y\n/workspace\n/workspace/d\n";
    assert_eq!(ended.out, expected, "{ended:?}");
}

#[tokio::test]
async fn the_workspace_and_mounts_are_at_their_own_paths_too() {
    let codeyard = Codeyard::with_stub().unwrap();
    let data = user_directory(&codeyard, "data");
    let mount = format!("{}:/data", data.display());
    let own = workspace(&codeyard);
    let code = format!(
        "open('mine.txt', 'w').write('m')\n\
         print(open({:?}).read(), open({:?}).read().split()[0])\n\
         print(runtime.host_path('/data/table.csv'), runtime.host_path({:?}))",
        own.join("mine.txt"),
        data.join("table.csv"),
        own.join("mine.txt"),
    );
    let ended = run(&codeyard, &["run", "-", "--mount", &mount], &code).await;
    let paths = format!(
        "{} {}",
        data.join("table.csv").display(),
        own.join("mine.txt").display()
    );
    assert_eq!(ended.out, format!("m a,b\n{paths}\n"), "{ended:?}");
    let told = format!(
        "file: /workspace/mine.txt (txt, 1 B): {}",
        own.join("mine.txt").display()
    );
    assert!(ended.err.contains(&told), "{ended:?}");
}

#[tokio::test]
async fn programs_of_tenants_cannot_see_the_hosts_paths() {
    if !super::is_root() {
        return; // Only root keeps tenants' files apart.
    }
    let codeyard = Codeyard::with_stub()
        .unwrap()
        .settings("[sandbox]\nrequire = \"tenant-isolation\"\n[workspace]\nenforce = \"image\"\n");
    let code = format!(
        "import os\nprint(os.path.exists({:?}))\ntry: runtime.host_path('x')\nexcept LookupError as error: print(error)",
        workspace(&codeyard)
    );
    let ended = run(&codeyard, &["run", "-"], &code).await;
    assert!(
        ended
            .out
            .starts_with("False\n/workspace/x is on no disk of the host"),
        "{ended:?}"
    );
}

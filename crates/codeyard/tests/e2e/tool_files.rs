//! Python files as tools: found, described, checked, called and generated.

mod calls;
mod finding;
mod generated;
mod hostile;
mod places;

use std::fs;
use std::path::PathBuf;

use test_support::{CodeClient, Codeyard};

const ADD: &str =
    "def add(a: float, b: float) -> float:\n    \"\"\"Add two numbers.\"\"\"\n    return a + b\n";
const MULTIPLY: &str =
    "def multiply(a: float, b: float) -> float:\n    \"\"\"Multiply two numbers.\"\"\"\n    return a * b\n";
const CALCULATE: &str = include_str!("tool_files/calculate.py");
const CONVERT: &str = "def convert(value: float, unit: str = \"km\") -> dict[str, float]:\n    \
    \"\"\"Convert kilometres to miles.\"\"\"\n    print(\"converting\")\n    return {\"miles\": value / 1.609344}\n";

/// An installation whose settings name a directory with these files.
fn with_files(codeyard: Codeyard, files: &[(&str, &str)]) -> Codeyard {
    let directory = directory(&codeyard);
    fs::create_dir_all(&directory).unwrap();
    let codeyard = codeyard.settings(&format!(
        "[tools]\ndirectories = [{:?}]\n",
        directory.display().to_string()
    ));
    for (name, text) in files {
        write(&codeyard, name, text);
    }
    codeyard
}

fn directory(codeyard: &Codeyard) -> PathBuf {
    codeyard.work_directory().join("my-tools/servers")
}

fn write(codeyard: &Codeyard, name: &str, text: &str) {
    let path = directory(codeyard).join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A calculator, a converter, and a client.
async fn client(more: &[(&str, &str)]) -> (PathBuf, CodeClient) {
    let mut files = vec![
        ("calculator/add.py", ADD),
        ("calculator/multiply.py", MULTIPLY),
        ("calculator/calculate.py", CALCULATE),
        ("units/convert.py", CONVERT),
    ];
    files.extend(more);
    let codeyard = with_files(Codeyard::with_stub().unwrap(), &files);
    (directory(&codeyard), CodeClient::of(codeyard).await)
}

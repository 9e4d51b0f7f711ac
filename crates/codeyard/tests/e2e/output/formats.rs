//! `format` of a call, of a server and of the settings.

use serde_json::json;
use test_support::{CodeClient, Codeyard, Era, McpClient};

const CODE: &str = "return [{'id': 1, 'city': 'Oslo'}, {'id': 2, 'city': 'Rome'}, {'id': 3, 'city': 'Lima'}]";
const TABLE: &str = "[3]:\nid,city\n1,Oslo\n2,Rome\n3,Lima";

/// The program's text from a server started like this.
async fn shown(codeyard: Codeyard, options: &[&str], arguments: serde_json::Value) -> String {
    let command = codeyard.command(["mcp"].iter().chain(options)).unwrap();
    let mut mcp = McpClient::spawn(command).unwrap();
    mcp.open(Era::Legacy).await.unwrap();
    let mut client = CodeClient { mcp, codeyard };
    let mut call = json!({"code": CODE});
    call.as_object_mut()
        .unwrap()
        .extend(arguments.as_object().unwrap().clone());
    let ran = client.execute(call).await;
    // The structured content is the same for every text.
    assert_eq!(ran.result()[2], json!({"id": 3, "city": "Lima"}), "{ran:?}");
    ran.shown().to_owned()
}

#[tokio::test]
async fn a_call_overrides_its_server_and_a_server_the_settings() {
    let usual = || Codeyard::new().unwrap();
    let toon = || Codeyard::new().unwrap().settings("[output]\nformat = \"toon\"");
    assert_eq!(shown(usual(), &[], json!({})).await, TABLE);
    let text = shown(toon(), &[], json!({})).await;
    assert!(
        text.starts_with("status: completed\nresult[3]{id,city}:\n  1,Oslo\n"),
        "{text}"
    );
    assert_eq!(shown(toon(), &["--format", "text"], json!({})).await, TABLE);
    let text = shown(toon(), &["--format", "text"], json!({"format": "json"})).await;
    assert!(
        text.starts_with("{\"status\":\"completed\",\"result\":[{"),
        "{text}"
    );
    let text = shown(usual(), &["--format", "json"], json!({"format": "toon"})).await;
    assert!(text.starts_with("status: completed\n"), "{text}");
}

#[tokio::test]
async fn mistakes_name_the_field_and_the_nearest_value() {
    let mut client = CodeClient::of(Codeyard::new().unwrap()).await;
    for (arguments, told) in [
        (
            json!({"code": "1", "format": "tooon"}),
            "`format` must be \"text\" or \"toon\" or \"json\", not \"tooon\"; the nearest is \"toon\"",
        ),
        (
            json!({"code": "1", "max_result": 1}),
            "`max_result` must be an integer from 1000 to 1000000, not 1; the nearest is 1000",
        ),
        (
            json!({"code": "1", "max_result": "off"}),
            "`max_result` must be an integer from 1000 to 1000000, not \"off\"",
        ),
    ] {
        let ran = client.execute(arguments).await;
        assert_eq!(ran.error(), format!("execute_code was not run: {told}"));
    }
    for (settings, told) in [
        ("[output]\nformat = \"yaml\"", "output.format: expected"),
        ("[output]\nmax_result = \"1 B\"", "output.max_result:"),
        ("[output]\nmax_result = \"of\"", "or \"off\""),
        ("[output]\nmax_results = 1", "did you mean `max_result`?"),
    ] {
        let codeyard = Codeyard::new().unwrap().settings(settings);
        let ran = codeyard.run(["mcp"]).await.unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{settings}: {stderr}");
        assert!(stderr.contains(told), "{settings}: {stderr}");
    }
    let codeyard = Codeyard::new().unwrap();
    for options in [
        &["mcp", "--format", "xml"][..],
        &["mcp", "--surface", "standard", "--format", "toon"],
    ] {
        let ran = codeyard.run(options).await.unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(
            ran.status.code() == Some(2) && stderr.contains("--format"),
            "{stderr}"
        );
    }
}

#[tokio::test]
async fn the_command_line_prints_results_in_each_form() {
    let codeyard = Codeyard::new().unwrap();
    for (format, printed) in [
        ("text", format!("{TABLE}\n")),
        ("toon", "[3]{id,city}:\n  1,Oslo\n  2,Rome\n  3,Lima\n".to_owned()),
        (
            "json",
            "[{\"id\":1,\"city\":\"Oslo\"},{\"id\":2,\"city\":\"Rome\"},{\"id\":3,\"city\":\"Lima\"}]\n"
                .to_owned(),
        ),
    ] {
        let ran = codeyard
            .run_with_input(["run", "-", "--format", format], CODE)
            .await
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), printed);
    }
    // The command line prints everything.
    let code = "'x' * 100_000";
    let ran = codeyard.run_with_input(["run", "-"], code).await.unwrap();
    assert_eq!(ran.stdout.len(), 100_001);
}

//! The examples of the page about the surface, run unchanged.

use serde_json::json;
use test_support::{Codeyard, MetaTools as _, MetaToolsClient, ServerDefinition, codeyard_binary};

const PAGE: &str = include_str!("../../../../../docs/surface-server.md");

#[tokio::test]
async fn the_page_s_examples_work_as_documented() {
    let crm = ServerDefinition::new(codeyard_binary().to_string_lossy(), &["demo-server", "crm"]);
    let mut client = MetaToolsClient::of(Codeyard::new().unwrap().server("crm", &crm)).await;
    let mut compared = 0;
    let mut shown = None;
    let blocks = PAGE.split("```").skip(1).step_by(2);
    for (kind, text) in blocks.filter_map(|block| block.split_once('\n')) {
        let arguments = match kind {
            "python" => json!({"code": text, "language": "python"}),
            "sh" => json!({ "code": text }),
            "text" => {
                assert_eq!(shown.take().as_deref(), Some(text));
                compared += 1;
                continue;
            }
            _ => continue,
        };
        let ran = client.call("shell_exec", arguments).await;
        assert!(!ran.is_error(), "{ran:?}");
        shown = Some(ran.output().to_owned());
    }
    assert_eq!(compared, 2);
}

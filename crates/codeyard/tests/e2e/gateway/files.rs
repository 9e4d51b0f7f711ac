//! Files and command lines over `/rpc`: the cases of the surface `server` on virtual servers.

use serde_json::json;

use super::actors::ALICE;
use super::running::{Gateway, OverRpc};
use crate::server_surface::{commands, files};

impl Gateway {
    /// A new virtual server without a rate limit, as ALICE reaches it.
    async fn server_of_alice(&self) -> OverRpc<'_> {
        let policy = json!({"sandbox_policy": {"max_runs_per_minute": 1000}});
        OverRpc {
            gateway: self,
            actor: &ALICE,
            server: self.cs_a(&policy).await,
        }
    }
}

#[tokio::test]
async fn c071_c073_c075_c077_c079_files() {
    let gateway = Gateway::with_stub().await;
    let directory = gateway.codeyard.directory();
    files::c071_c270(&mut gateway.server_of_alice().await, directory).await;
    files::c073(&mut gateway.server_of_alice().await).await;
    files::c075(&mut gateway.server_of_alice().await).await;
    files::c077(&mut gateway.server_of_alice().await).await;
    files::c079(&mut gateway.server_of_alice().await).await;
}

#[tokio::test]
async fn c082_to_c087_lines_of_commands() {
    let gateway = Gateway::with_stub().await;
    let mut client = gateway.server_of_alice().await;
    commands::write_files(&mut client).await;
    commands::c082_c083(&mut client).await;
    commands::c084(&mut client).await;
    commands::c085(&mut client).await;
    commands::c087(&mut client).await;
}

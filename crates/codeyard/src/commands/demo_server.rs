//! `codeyard demo-server`: serves one of the demo's servers, also to try a client's configuration.

use crate::cli::DemoServerArguments;
use crate::exit::{Exit, Failure};

pub async fn run(arguments: &DemoServerArguments) -> anyhow::Result<Exit> {
    let names = demo_servers::names();
    if !names.contains(&arguments.name.as_str()) {
        let message = format!(
            "no demo server is named `{}`; choose {}",
            arguments.name,
            names.join(", ")
        );
        return Err(Failure::new(Exit::Usage, message).into());
    }
    demo_servers::serve(&arguments.name).await?;
    Ok(Exit::Done)
}

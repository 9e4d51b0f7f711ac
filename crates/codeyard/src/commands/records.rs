//! `codeyard records`: copies all records to another database.

use serde_json::json;
use store::{TransferError, TransferredTable};

use crate::cli::{MoveRecords, RecordsCommand};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::interrupt::Interrupt;

pub async fn run(context: &Context, command: &RecordsCommand) -> anyhow::Result<Exit> {
    match command {
        RecordsCommand::Move(arguments) => copy(context, arguments).await,
    }
}

async fn copy(context: &Context, arguments: &MoveRecords) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::watch()?;
    let mut current = "";
    let copying = store::transfer(&arguments.from, &arguments.to, |table, _| {
        if table != current {
            current = table;
            context.output.tell(&format!("copying {table}"));
        }
    });
    let copied = tokio::select! {
        copied = copying => copied.map_err(failure)?,
        () = interrupt.token.cancelled() => {
            context.output.tell("interrupted; run the same command to continue");
            return Ok(interrupt.exit(Exit::Done));
        }
    };
    print(context, arguments, &copied)?;
    Ok(Exit::Done)
}

fn failure(error: TransferError) -> Failure {
    let exit = match error {
        TransferError::Store(_) | TransferError::Differs { .. } => Exit::Broken,
        _ => Exit::Usage,
    };
    Failure::new(exit, error)
}

fn print(context: &Context, arguments: &MoveRecords, copied: &[TransferredTable]) -> anyhow::Result<()> {
    if arguments.json {
        let tables: Vec<_> = copied
            .iter()
            .map(|table| json!({"table": table.name, "rows": table.rows, "sha256_sum": table.hash}))
            .collect();
        context.output.line(&json!({"tables": tables}).to_string())?;
        return Ok(());
    }
    for table in copied.iter().filter(|table| table.rows > 0) {
        context.output.line(&format!(
            "{:>9}  {:<16} {}",
            table.rows,
            table.name,
            &table.hash[..16]
        ))?;
    }
    let (from, to) = (&arguments.from, &arguments.to);
    context.output.tell(&format!(
        "{from} and {to} hold the same records; start codeyard with --database or CODEYARD_DATABASE_URL to use the new one"
    ));
    Ok(())
}

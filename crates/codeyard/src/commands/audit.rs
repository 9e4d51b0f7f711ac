//! `codeyard audit`: lists administrative changes, and verifies their chain.

use rest::{AuditView, ListFormat};
use serde_json::json;
use store::Audit;
use store::audit::{AuditFilter, AuditRow, VerifyError};

use super::accounts::tenant;
use crate::cli::{AuditCommand, ListAudit, VerifyAudit};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::times;

/// Rows per query.
const ROWS: u32 = 1000;

/// Rows printed without `--limit`.
const SHOWN: u32 = 20;

pub async fn run(context: &Context, command: &AuditCommand) -> anyhow::Result<Exit> {
    let audit = Audit::new(context.load_settings()?.database);
    let done = match command {
        AuditCommand::List(arguments) => list(context, &audit, arguments).await,
        AuditCommand::Verify(arguments) => verify(context, &audit, arguments).await,
    };
    audit.close().await;
    done
}

async fn list(context: &Context, audit: &Audit, arguments: &ListAudit) -> anyhow::Result<Exit> {
    let format = match (arguments.json, arguments.csv) {
        (true, _) => Some(ListFormat::JsonLines),
        (_, true) => Some(ListFormat::Csv),
        _ => None,
    };
    let mut left = match (arguments.limit, format) {
        (Some(limit), _) => limit,
        (None, Some(_)) => u32::MAX,
        (None, None) => SHOWN,
    };
    let mut filter = AuditFilter {
        actor: arguments.user.clone(),
        action: arguments.action.map(|action| action.name().to_owned()),
        from_ms: arguments.since.map(|since| since.timestamp_millis()),
        until_ms: arguments.until.map(|until| until.timestamp_millis()),
        ..AuditFilter::default()
    };
    let mut table = vec![heads()];
    if let Some(format) = format {
        print(context, &format.head::<AuditView>()?)?;
    }
    while left > 0 {
        filter.limit = left.min(ROWS);
        let page = audit.list(&tenant(), &filter).await;
        let page = page.map_err(|trouble| Failure::new(Exit::Broken, trouble))?;
        let count = u32::try_from(page.len()).unwrap_or(u32::MAX);
        let is_last = count < filter.limit;
        filter.before = page.last().map(|row| row.sequence);
        match format {
            Some(format) => {
                let views: Vec<AuditView> = page.into_iter().map(server::audit_view).collect();
                print(context, &format.write(&views)?)?;
            }
            None => table.extend(page.iter().map(cells)),
        }
        left -= count;
        if is_last {
            break;
        }
    }
    match (format, table.len()) {
        (Some(_), _) => {}
        (None, 1) => context.output.tell("no matching change is recorded"),
        (None, _) => context.output.print(&output::table(&table))?,
    }
    Ok(Exit::Done)
}

/// Prints a part of an export, with the fields of `GET /audit`.
fn print(context: &Context, written: &[u8]) -> anyhow::Result<()> {
    context.output.print(std::str::from_utf8(written)?)
}

fn heads() -> Vec<String> {
    ["#", "AT (UTC)", "ACTOR", "ACTION", "OBJECT", "OUTCOME", "DETAIL"]
        .map(str::to_owned)
        .to_vec()
}

fn cells(row: &AuditRow) -> Vec<String> {
    vec![
        row.sequence.to_string(),
        times::when(row.at_ms),
        row.actor.clone(),
        row.action.clone(),
        row.object_id.clone(),
        row.outcome.clone(),
        row.detail.clone(),
    ]
}

async fn verify(context: &Context, audit: &Audit, arguments: &VerifyAudit) -> anyhow::Result<Exit> {
    let chain = match audit.verify(arguments.expect.as_ref()).await {
        Ok(chain) => chain,
        Err(VerifyError::Store(trouble)) => return Err(Failure::new(Exit::Broken, trouble).into()),
        Err(VerifyError::Broken(why)) => {
            let message = format!("the audit table was tampered with: {why}");
            return Err(Failure::new(Exit::Tampered, message).into());
        }
    };
    let (rows, head) = (chain.rows, format!("{}:{}", chain.rows, chain.head));
    if arguments.json {
        context.output.json(&json!({"rows": rows, "head": head}))?;
    } else {
        let noun = if rows == 1 { "row" } else { "rows" };
        context.output.line(&format!("{rows} {noun}, head {head}"))?;
    }
    Ok(Exit::Done)
}

//! `codeyard user`.

use identity::User;
use serde_json::json;
use store::Accounts;
use store::accounts::{AccountPage, UserChange};

use super::operator::{ROWS, actor, failure, principal, tenant, unknown_user};
use crate::cli::{CreateUser, ListAccounts, NamedUser, UserCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::output;

const DISABLE: UserChange = UserChange {
    role: None,
    disabled: Some(true),
};
const ENABLE: UserChange = UserChange {
    role: None,
    disabled: Some(false),
};

pub(super) async fn run(
    context: &Context,
    accounts: &Accounts,
    command: &UserCommand,
) -> anyhow::Result<Exit> {
    match command {
        UserCommand::Create(CreateUser { user, role }) => {
            let made = accounts
                .by(&actor())
                .create_user(&principal(user)?, *role)
                .await
                .map_err(failure)?;
            context.output.tell(&format!("created {}", described(&made)));
        }
        UserCommand::List(arguments) => list(context, accounts, arguments).await?,
        UserCommand::Disable(NamedUser { user }) => change(context, accounts, user, DISABLE).await?,
        UserCommand::Enable(NamedUser { user }) => change(context, accounts, user, ENABLE).await?,
        UserCommand::Delete(NamedUser { user }) => {
            let owner = principal(user)?;
            if !accounts.by(&actor()).delete_user(&owner).await.map_err(failure)? {
                return Err(failure(unknown_user(&owner)).into());
            }
            context
                .output
                .tell(&format!("removed {user} with all tokens and memberships"));
        }
    }
    Ok(Exit::Done)
}

async fn change(
    context: &Context,
    accounts: &Accounts,
    user: &str,
    change: UserChange,
) -> anyhow::Result<()> {
    let changed = accounts
        .by(&actor())
        .change_user(&principal(user)?, change)
        .await
        .map_err(failure)?;
    context.output.tell(&described(&changed));
    Ok(())
}

async fn list(context: &Context, accounts: &Accounts, arguments: &ListAccounts) -> anyhow::Result<()> {
    let mut users: Vec<User> = Vec::new();
    loop {
        let after = users.last().map(|user| user.principal.user().to_string());
        let page = AccountPage {
            after: after.as_deref(),
            limit: ROWS,
        };
        let page = accounts.users(&tenant(), page).await.map_err(failure)?;
        let is_last = page.len() < ROWS as usize;
        users.extend(page);
        if is_last {
            break;
        }
    }
    if arguments.json {
        let users: Vec<_> = users
            .iter()
            .map(|user| {
                json!({
                    "user": user.principal.user().as_str(),
                    "role": user.role.name(),
                    "disabled": user.disabled_ms.is_some(),
                })
            })
            .collect();
        return context.output.json(&json!({ "users": users }));
    }
    let head = vec!["USER".to_owned(), "ROLE".to_owned(), "STATE".to_owned()];
    let rows = users.iter().map(|user| {
        let state = if user.disabled_ms.is_some() {
            "disabled"
        } else {
            "enabled"
        };
        vec![
            user.principal.user().to_string(),
            user.role.to_string(),
            state.to_owned(),
        ]
    });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    context.output.print(&output::table(&rows))
}

fn described(user: &User) -> String {
    let state = if user.disabled_ms.is_some() {
        ", disabled"
    } else {
        ""
    };
    format!("{} ({}{state})", user.principal.user(), user.role)
}

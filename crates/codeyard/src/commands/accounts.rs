//! `codeyard token`, `codeyard user` and `codeyard team`: the users of `codeyard serve`.
//!
//! Access to the database proves that the caller is the operator, so these commands require no token.

mod attempt;
mod logins;
mod operator;
mod teams;
mod tokens;
mod users;

use self::attempt::Attempt;
use self::operator::accounts;
use crate::cli::{LoginsCommand, TeamCommand, TokenCommand, UserCommand};
use crate::context::Context;
use crate::exit::Exit;

pub use self::operator::tenant;

pub async fn token(context: &Context, command: &TokenCommand) -> anyhow::Result<Exit> {
    let accounts = accounts(context)?;
    let done = match command {
        TokenCommand::Create(arguments) => tokens::create(context, &accounts, arguments).await,
        TokenCommand::List(arguments) => tokens::list(context, &accounts, arguments).await,
        TokenCommand::Revoke(arguments) => tokens::revoke(context, &accounts, arguments).await,
    };
    let done = Attempt::of_token(command).conclude(&accounts, done).await;
    accounts.close().await;
    done
}

pub async fn user(context: &Context, command: &UserCommand) -> anyhow::Result<Exit> {
    let accounts = accounts(context)?;
    let done = users::run(context, &accounts, command).await;
    let done = Attempt::of_user(command).conclude(&accounts, done).await;
    accounts.close().await;
    done
}

pub async fn logins(context: &Context, command: &LoginsCommand) -> anyhow::Result<Exit> {
    logins::run(context, command).await
}

pub async fn team(context: &Context, command: &TeamCommand) -> anyhow::Result<Exit> {
    let accounts = accounts(context)?;
    let done = teams::run(context, &accounts, command).await;
    let done = Attempt::of_team(command).conclude(&accounts, done).await;
    accounts.close().await;
    done
}

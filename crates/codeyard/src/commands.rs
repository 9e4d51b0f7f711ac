//! One module per command; this file dispatches to the command and starts its runtime.

mod accounts;
mod advise;
mod audit;
mod call;
mod completions;
mod config;
mod demo_server;
mod doctor;
mod help;
mod import;
mod install;
mod keys;
mod listener;
mod login;
mod logout;
mod mcp;
mod ps;
mod python;
mod records;
mod run;
mod runs;
mod saved;
mod serve;
mod servers;
mod task;
mod token_file;
mod tools;
mod top;
mod trust;
mod typescript;
mod workspace;

use crate::cli::{Cli, Command, McpArguments};
use crate::context::Context;
use crate::demo;
use crate::exit::{Exit, Failure};

pub fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    let context = Context::new(cli.sources);
    match cli.command {
        Command::Mcp(arguments) => {
            let workers = workers(&arguments);
            block_on_workers(workers, mcp::run(&context, &arguments))
        }
        Command::Serve(arguments) => block_on_workers(all_processors(), serve::run(&context, &arguments)),
        Command::Token(command) => block_on(accounts::token(&context, &command)),
        Command::User(command) => block_on(accounts::user(&context, &command)),
        Command::Team(command) => block_on(accounts::team(&context, &command)),
        Command::Logins(command) => block_on(accounts::logins(&context, &command)),
        Command::Audit(command) => block_on(audit::run(&context, &command)),
        Command::Keys(command) => block_on(keys::run(&context, &command)),
        Command::Run(arguments) => block_on(run::run(&context, &arguments)),
        Command::Runs(arguments) => block_on(runs::run(&context, &arguments)),
        Command::Advise(arguments) => block_on(advise::run(&context, &arguments)),
        Command::Records(command) => block_on(records::run(&context, &command)),
        Command::Saved(arguments) => block_on(saved::run(&context, &arguments)),
        Command::Servers(arguments) => block_on(servers::run(&context, &arguments)),
        Command::Import(arguments) => block_on(import::run(&context, &arguments)),
        Command::Install(arguments) => install::run(&context, &arguments),
        Command::Login(arguments) => block_on(login::run(&context, &arguments)),
        Command::Logout(arguments) => block_on(logout::run(&context, &arguments)),
        Command::Config(command) => config::run(&context, &command),
        Command::Ps(arguments) => block_on(ps::run(&context, &arguments)),
        Command::Top(arguments) => block_on(top::run(&context, &arguments)),
        Command::Tools(arguments) => block_on(tools::run(&context, &arguments)),
        Command::Call(arguments) => block_on(call::run(&context, &arguments)),
        Command::Task(arguments) => block_on(task::run(&context, &arguments)),
        Command::Trust(arguments) => trust::run(&context, &arguments),
        Command::Python(command) => python::run(&context, &command),
        Command::Typescript(command) => typescript::run(&context, &command),
        Command::Workspace(arguments) => workspace::run(&context, &arguments),
        Command::Doctor(arguments) => block_on(doctor::run(&context, &arguments)),
        Command::Demo(arguments) => block_on(demo::run(&context, &arguments)),
        Command::DemoServer(arguments) => block_on(demo_server::run(&arguments)),
        Command::Completions(arguments) => completions::run(&context, &arguments),
        Command::Help(arguments) => help::run(&context, &arguments),
    }
}

/// Worker threads that serve clients. For one client, whose messages come one after another, a handover between
/// threads would cost more than most work. Several clients must not wait for each other.
fn workers(arguments: &McpArguments) -> usize {
    match arguments.listen {
        Some(_) => all_processors(),
        None => 1,
    }
}

fn all_processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does not wait for tasks that still run when the command ends.
fn block_on<F: Future<Output = anyhow::Result<Exit>>>(command: F) -> anyhow::Result<Exit> {
    block_on_workers(1, command)
}

fn block_on_workers<F: Future<Output = anyhow::Result<Exit>>>(
    workers: usize,
    command: F,
) -> anyhow::Result<Exit> {
    if let Some(reason) = server::doctor::too_few_files() {
        return Err(Failure::new(Exit::Broken, reason).into());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?;
    let exit = runtime.block_on(command);
    runtime.shutdown_background();
    exit
}

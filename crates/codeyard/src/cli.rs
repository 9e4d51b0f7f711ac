//! The command line: what can be asked, with an example for each.

mod accounts;
mod adopt;
mod advise;
mod audit;
mod call;
mod examples;
mod generate;
mod help;
mod keys;
mod learned;
mod login;
mod logins;
mod records;
mod reference;
mod runs;
mod saved;
mod serve;
mod servers;
mod stubs;
mod task;
mod top;
mod values;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use types::{CheckMode, Format, Principal};

pub use accounts::{
    AddMember, CreateTeam, CreateToken, CreateUser, ListAccounts, ListTokens, Member, NamedTeam, NamedUser,
    RevokeToken, TeamCommand, TokenCommand, UserCommand,
};
pub use adopt::{ImportArguments, InstallArguments};
pub use advise::AdviseArguments;
pub use audit::{AuditCommand, ListAudit, VerifyAudit};
pub use call::CallArguments;
pub use generate::GenerateArguments;
pub use help::{command, explain, with_shared_options};
pub use keys::{KeysCommand, RotateKeys};
pub use learned::{ForgetArguments, LearnedArguments};
pub use login::{LoginArguments, LogoutArguments};
pub use logins::{ListLogins, LoginsCommand, RevokeLogin};
pub use records::{MoveRecords, RecordsCommand};
pub use reference::markdown;
pub use runs::{ExportRun, ReplayRun, RunsArguments, RunsCommand, SavingsKey};
pub use saved::{ImportSaved, OnlyKind, RemoveSaved, SavedArguments, SavedCommand, ShowSaved};
pub use serve::ServeArguments;
pub use servers::{
    AddServer, ChangeServer, ConfigArguments, ConfigCommand, PsArguments, RemoteKind, ServerLogs,
    ServersArguments, ServersCommand,
};
pub use stubs::{Language, StubsArguments};
pub use task::TaskArguments;
pub use top::TopArguments;

pub use values::Expiry;
use values::{parse_check, parse_duration, parse_format, parse_language, parse_listen};

/// Runs programs that call your MCP tools, in a sandbox, so that only their results reach the model.
#[derive(Debug, Parser)]
#[command(
    name = "codeyard",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = examples::AFTER_HELP
)]
pub struct Cli {
    #[command(flatten)]
    pub sources: SourceArguments,
    #[command(subcommand)]
    pub command: Command,
}

/// Where the configuration comes from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Shared options")]
pub struct SourceArguments {
    /// File with `mcpServers`; may be given more than once [default: mcp.json of the configuration directory, then ./.mcp.json]
    #[arg(long, value_name = "FILE", global = true, hide = true)]
    pub config: Vec<PathBuf>,
    /// File with codeyard's own settings [default: codeyard.toml of the configuration directory]
    #[arg(long, value_name = "FILE", global = true, hide = true)]
    pub settings: Option<PathBuf>,
    /// Directory of codeyard's data [default: $XDG_DATA_HOME/codeyard or ~/.local/share/codeyard]
    #[arg(long, value_name = "DIR", global = true, hide = true)]
    pub data: Option<PathBuf>,
    /// Database of records and saved values, as postgres://USER@HOST/DATABASE; a password is better in the variable, which
    /// other users cannot see [default: $CODEYARD_DATABASE_URL, else codeyard.db of the data directory]
    #[arg(long, value_name = "URL", global = true, hide = true)]
    pub database: Option<String>,
    /// Directory of Python files that are tools, as DIR/servers/<server>/<tool>.py; may be given more than once
    #[arg(long, value_name = "DIR", global = true, hide = true)]
    pub tools: Vec<PathBuf>,
    /// What to log on standard error: off, error, warn, info, debug, trace, or a list such as info,upstream=debug
    /// [default: $CODEYARD_LOG, else `[log] level` of the settings, else warn]
    #[arg(long, value_name = "LEVEL", global = true, hide = true)]
    pub log: Option<String>,
}

/// Everything that can be asked.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an MCP client over standard input and output
    #[command(after_help = examples::MCP_HELP)]
    Mcp(McpArguments),
    /// Serve many users over HTTP: virtual servers, tokens, REST
    #[command(after_help = serve::HELP)]
    Serve(ServeArguments),
    /// Make, list and revoke the tokens of `serve`
    #[command(subcommand, after_help = accounts::TOKEN_HELP)]
    Token(TokenCommand),
    /// Make, list, disable and remove the users of `serve`
    #[command(subcommand, after_help = accounts::USER_HELP)]
    User(UserCommand),
    /// Make, list, change and remove the teams of `serve`
    #[command(subcommand, after_help = accounts::TEAM_HELP)]
    Team(TeamCommand),
    /// List and revoke users' logins to the servers behind `serve`
    #[command(subcommand, after_help = logins::HELP)]
    Logins(LoginsCommand),
    /// List administrative changes on `serve`, and verify the list
    #[command(subcommand, after_help = audit::HELP)]
    Audit(AuditCommand),
    /// Change the keys that encrypt recordings of runs
    #[command(subcommand, after_help = keys::HELP)]
    Keys(KeysCommand),
    /// Run a program as a client's model would
    #[command(after_help = examples::RUN_HELP)]
    Run(RunArguments),
    /// List recorded runs, or show one
    #[command(after_help = runs::HELP)]
    Runs(RunsArguments),
    /// Name tools that are cheaper as direct calls, and the cost of exposing them
    #[command(after_help = advise::HELP)]
    Advise(AdviseArguments),
    /// Copy all records to another database
    #[command(subcommand, after_help = records::HELP)]
    Records(RecordsCommand),
    /// List, show, remove and take over the tools and memories that programs saved
    #[command(after_help = saved::HELP)]
    Saved(SavedArguments),
    /// List, add, change and try the servers whose tools programs call
    #[command(after_help = servers::HELP)]
    Servers(ServersArguments),
    /// Import the servers of another MCP client
    #[command(after_help = adopt::IMPORT_HELP)]
    Import(ImportArguments),
    /// Install codeyard in an MCP client, in place of its imported servers
    #[command(after_help = adopt::INSTALL_HELP)]
    Install(InstallArguments),
    /// Log in to a remote server
    #[command(after_help = login::HELP)]
    Login(LoginArguments),
    /// Log out of a remote server
    #[command(after_help = login::LOGOUT_HELP)]
    Logout(LogoutArguments),
    /// Check and show the configuration
    #[command(subcommand, after_help = servers::CONFIG_HELP)]
    Config(ConfigCommand),
    /// List the codeyards that serve clients now
    #[command(after_help = servers::PS_HELP)]
    Ps(PsArguments),
    /// Watch servers, sessions and runs of all codeyards on one page
    #[command(after_help = top::HELP)]
    Top(TopArguments),
    /// List the connected tools, or find some
    #[command(after_help = examples::TOOLS_HELP)]
    Tools(ToolsArguments),
    /// Call one tool
    #[command(after_help = call::HELP)]
    Call(CallArguments),
    /// Do a task described in words, without a language model
    #[command(after_help = task::HELP)]
    Task(TaskArguments),
    /// Let a project's .mcp.json start its servers
    #[command(after_help = examples::TRUST_HELP)]
    Trust(TrustArguments),
    /// Manage the Python that programs run on
    #[command(subcommand, after_help = examples::PYTHON_HELP)]
    Python(PythonCommand),
    /// Manage the engine of TypeScript programs and its packages
    #[command(subcommand, after_help = examples::TYPESCRIPT_HELP)]
    Typescript(TypescriptCommand),
    /// Find, list and remove the files that sessions keep
    #[command(after_help = examples::WORKSPACE_HELP)]
    Workspace(WorkspaceArguments),
    /// Examine this machine: guards, gaps and remedies
    #[command(after_help = examples::DOCTOR_HELP)]
    Doctor(DoctorArguments),
    /// Demonstrate codeyard with three servers of its own
    #[command(after_help = examples::DEMO_HELP)]
    Demo(DemoArguments),
    /// Serve one of the demo's servers over standard input and output
    #[command(after_help = examples::DEMO_SERVER_HELP)]
    DemoServer(DemoServerArguments),
    /// Print completions for a shell
    #[command(after_help = examples::COMPLETIONS_HELP)]
    Completions(CompletionsArguments),
    /// Show the help of a command, or of the shared options
    #[command(after_help = examples::HELP_HELP)]
    Help(HelpArguments),
}

#[derive(Debug, Args)]
pub struct McpArguments {
    /// What the client sees: execute_code and search_tools (code), run_python in the place of the one-tool bridge (bridge),
    /// shell_exec, fs_browse, fs_read and fs_write (server), or the tools, resources and prompts of the servers themselves
    /// (standard)
    #[arg(long, value_enum, default_value_t)]
    pub surface: SurfaceChoice,
    /// Directory of yours that programs see, read-only unless :rw is added; may be given more than once
    #[arg(long, value_name = "DIR:/target[:rw]")]
    pub mount: Vec<String>,
    /// Limit of this server's programs, at most that of the settings; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
    /// How results are written for the model [default: `[output] format` of the settings]
    #[arg(long, value_name = "text|toon|json", value_parser = parse_format)]
    pub format: Option<Format>,
    /// Add to each result its cost in tokens, beside the cost of the same direct calls [default: `[receipts] default`
    /// of the settings]
    #[arg(long)]
    pub receipt: bool,
    /// Serve clients over Streamable HTTP at http://ADDR/mcp, instead of one over standard input and output; a port
    /// alone means 127.0.0.1, port 0 any free port
    #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
    pub listen: Option<SocketAddr>,
    /// With --listen: also serve a client over standard input and output, and end when that client closes
    #[arg(long, requires = "listen")]
    pub stdio: bool,
    /// File with the token that these clients send as `Authorization: Bearer`; required if other machines reach ADDR
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// File with a certificate chain in PEM: these clients connect to https://ADDR/mcp [default: `[http] tls_cert` of the
    /// settings]
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    pub tls_cert: Option<PathBuf>,
    /// File with the certificate's key in PEM, which only you may read
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub struct Listening<'a> {
    pub address: SocketAddr,
    pub tls_cert: Option<&'a Path>,
    pub tls_key: Option<&'a Path>,
    pub token_file: Option<&'a Path>,
    pub with_stdio: bool,
}

impl McpArguments {
    /// The HTTP address to listen on; `None` without `--listen`.
    pub fn listening(&self) -> Option<Listening<'_>> {
        Some(Listening {
            address: self.listen?,
            tls_cert: self.tls_cert.as_deref(),
            tls_key: self.tls_key.as_deref(),
            token_file: self.token_file.as_deref(),
            with_stdio: self.stdio,
        })
    }
}

/// Sets of tools that a client can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SurfaceChoice {
    /// execute_code and search_tools
    #[default]
    Code,
    /// run_python, in the place of the one-tool bridge; configured by MCP_BRIDGE_* and ~/MCPs
    Bridge,
    /// shell_exec, fs_browse, fs_read and fs_write: programs, a few commands, and the files of one session
    Server,
    /// The tools, resources and prompts of the connected servers themselves; no programs are run
    Standard,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The program; `-` reads it from standard input. Without FILE, and with an MCP client on standard input, serves
    /// the surface `bridge`
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The program's text, instead of a file
    #[arg(short = 'c', long, value_name = "CODE", conflicts_with = "file")]
    pub code: Option<String>,
    /// Language of the program [default: by the ending of FILE's name, otherwise python]
    #[arg(long, value_name = "python|typescript|shell", value_parser = parse_language)]
    pub language: Option<types::Language>,
    /// Longest duration, such as 30s or 500ms [default: `[limits] wall_time` of the settings]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// What to do if calls of the program would fail: refuse to run it, run it with a warning, or skip the check
    /// [default: `[check] default` of the settings]
    #[arg(long, value_name = "enforce|warn|off", value_parser = parse_check)]
    pub check: Option<CheckMode>,
    /// Save figures and images of the run in this directory
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,
    /// Directory of yours that the program sees, read-only unless :rw is added; may be given more than once
    #[arg(long, value_name = "DIR:/target[:rw]")]
    pub mount: Vec<String>,
    /// Limit of the program, at most that of the settings; may be given more than once
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
    /// How the result is printed: as a model would see it, as TOON, or as JSON in one line
    #[arg(long, value_name = "text|toon|json", value_parser = parse_format, conflicts_with = "json")]
    pub format: Option<Format>,
    /// Print the run's cost for a model in tokens, beside the cost of the same direct calls
    #[arg(long)]
    pub receipt: bool,
    /// Print one JSON object with all facts of the run
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ToolsArguments {
    #[command(subcommand)]
    pub command: Option<ToolsCommand>,
    /// Words to search for, or a server or SERVER.TOOL to show; without QUERY, lists every tool
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Most tools of a search
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=i64::from(types::MAX_FOUND)))]
    pub limit: u16,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What else can be asked of tools.
#[derive(Debug, Subcommand)]
pub enum ToolsCommand {
    /// Show one tool with its parameters
    #[command(after_help = examples::SHOW_HELP)]
    Show(ShowArguments),
    /// Write files that declare tools with their types
    #[command(after_help = stubs::STUBS_HELP)]
    Stubs(StubsArguments),
    /// Write Python modules that call the tools of servers
    #[command(after_help = generate::HELP)]
    Generate(GenerateArguments),
    /// Show the observed result types of tools that declare none
    #[command(after_help = learned::LEARNED_HELP)]
    Learned(LearnedArguments),
    /// Delete observed result types of tools
    #[command(after_help = learned::FORGET_HELP)]
    Forget(ForgetArguments),
}

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The tool
    #[arg(value_name = "SERVER.TOOL")]
    pub tool: String,
    /// Print the definition as the server sent it
    #[arg(long)]
    pub json: bool,
    /// Print its declaration in this language
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with = "json")]
    pub language: Option<Language>,
}

#[derive(Debug, Args)]
pub struct TrustArguments {
    /// The project's directory or its .mcp.json
    #[arg(value_name = "PATH", default_value = ".")]
    pub path: PathBuf,
}

/// What can be done with Python.
#[derive(Debug, Subcommand)]
pub enum PythonCommand {
    /// Create the environment with numpy, pandas and more for programs
    #[command(after_help = examples::SYNC_HELP)]
    Sync(SyncArguments),
    /// List the packages that programs can import
    #[command(after_help = examples::PACKAGES_HELP)]
    List(PackagesArguments),
    /// Add packages to those that programs can import
    #[command(after_help = examples::ADD_PACKAGES_HELP)]
    Add(AddPackages),
    /// Remove packages, and dependencies that no other package needs
    #[command(after_help = examples::REMOVE_PACKAGES_HELP)]
    Remove(RemovePackages),
    /// Show the Python of programs, and its packages
    #[command(after_help = examples::INFO_HELP)]
    Info(InfoArguments),
}

#[derive(Debug, Args)]
pub struct SyncArguments {
    /// Install this requirements file instead of the default and the added packages
    #[arg(long, value_name = "FILE")]
    pub requirements: Option<PathBuf>,
    /// Recreate the environment even if nothing has changed
    #[arg(long)]
    pub refresh: bool,
    /// Remove packages of the present set that the new set lacks, without asking
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct PackagesArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AddPackages {
    /// A package, optionally with accepted versions
    #[arg(value_name = "NAME[==VERSION]", required = true)]
    pub names: Vec<String>,
}

#[derive(Debug, Args)]
pub struct RemovePackages {
    /// A package that `codeyard python list` shows
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
}

#[derive(Debug, Args)]
pub struct InfoArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be done with the engine of TypeScript.
#[derive(Debug, Subcommand)]
pub enum TypescriptCommand {
    /// Install the engine and the packages that `[typescript]` of the settings names
    #[command(after_help = examples::TYPESCRIPT_SYNC_HELP)]
    Sync,
    /// Show the engine of programs, and its packages
    #[command(after_help = examples::TYPESCRIPT_INFO_HELP)]
    Info(InfoArguments),
}

#[derive(Debug, Args)]
pub struct WorkspaceArguments {
    /// What to do; without it everybody's files are listed
    #[command(subcommand)]
    pub command: Option<WorkspaceCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What can be done with the files that sessions keep.
#[derive(Debug, Subcommand)]
pub enum WorkspaceCommand {
    /// Print the directory that programs see as /workspace
    #[command(after_help = examples::PATH_HELP)]
    Path(PathArguments),
    /// List the owners of files, and the sizes
    #[command(after_help = examples::LIST_HELP)]
    List,
    /// Remove files of sessions
    #[command(after_help = examples::CLEAN_HELP)]
    Clean(CleanArguments),
}

#[derive(Debug, Args)]
pub struct PathArguments {
    /// Owner of the files; `local` is the user who runs codeyard
    #[arg(value_name = "PRINCIPAL", default_value = "local")]
    pub principal: Principal,
}

#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Owner of the files; `local` is the user who runs codeyard
    #[arg(value_name = "PRINCIPAL", default_value = "local")]
    pub principal: Principal,
    /// Only files below /results and /scratch
    #[arg(long)]
    pub results: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Attack the sandbox on this machine with every probe, in every available mode
    #[arg(long, conflicts_with = "fix")]
    pub attack: bool,
    /// Only this probe of --attack, or this step of --fix; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// As root, skip the modes of ordinary users
    #[arg(long, requires = "attack")]
    pub this_user: bool,
    /// Explain how an administrator can strengthen the sandbox here: commands, files, and what each weakens
    #[arg(long)]
    pub fix: bool,
    /// Carry out --fix; needs root
    #[arg(long, requires = "fix")]
    pub yes: bool,
    /// User to apply --fix for, besides root [default: the user who called sudo, else the current user]
    #[arg(long, value_name = "NAME", requires = "fix")]
    pub user: Option<String>,
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Where the chart is saved
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct DemoServerArguments {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct HelpArguments {
    /// The command, such as `servers add`; `options` for the shared options
    #[arg(value_name = "COMMAND")]
    pub topic: Vec<String>,
    /// Print every command and option, as a page in Markdown
    #[arg(long, conflicts_with = "topic")]
    pub markdown: bool,
}

impl Cli {
    /// The usage line of a command.
    pub fn usage_of(command: &str) -> String {
        let mut cli = Cli::command();
        cli.build();
        let found = cli.find_subcommand_mut(command);
        found.map_or_else(String::new, |command| command.render_usage().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[track_caller]
    fn parsed(line: &str) -> Command {
        Cli::try_parse_from(line.split(' ')).unwrap().command
    }

    #[test]
    fn tools_are_listed_searched_and_shown() {
        let Command::Tools(list) = parsed("codeyard tools --json") else {
            panic!()
        };
        assert!(list.command.is_none() && list.query.is_empty() && list.json);
        let Command::Tools(search) = parsed("codeyard tools send a mail") else {
            panic!()
        };
        assert_eq!(search.query, ["send", "a", "mail"]);
        let Command::Tools(show) = parsed("codeyard tools show mail.send") else {
            panic!()
        };
        let Some(ToolsCommand::Show(show)) = show.command else {
            panic!()
        };
        assert_eq!(show.tool, "mail.send");
        let Command::Tools(after_an_option) = parsed("codeyard tools --config a.json show mail.send") else {
            panic!()
        };
        assert!(after_an_option.command.is_some());
        let Command::Tools(word) = parsed("codeyard tools how to show") else {
            panic!()
        };
        assert_eq!(word.query, ["how", "to", "show"]);
    }

    #[test]
    fn configuration_may_follow_the_command() {
        let cli = Cli::try_parse_from([
            "codeyard", "mcp", "--config", "a", "--config", "b", "--log", "info",
        ])
        .unwrap();
        assert_eq!(cli.sources.config, [PathBuf::from("a"), PathBuf::from("b")]);
        assert_eq!(cli.sources.log.as_deref(), Some("info"));
    }

    #[test]
    fn durations_have_a_unit() {
        let Command::Run(run) = parsed("codeyard run - --timeout 500ms") else {
            panic!()
        };
        assert_eq!(run.timeout, Some(Duration::from_millis(500)));
        let error = Cli::try_parse_from(["codeyard", "run", "-", "--timeout", "5"]).unwrap_err();
        assert!(error.to_string().contains("such as `60s`"), "{error}");
    }
}

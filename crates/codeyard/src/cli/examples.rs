//! Text at the end of each command's help: examples and the usual next questions.

pub(super) const AFTER_HELP: &str = "\
Examples:
  codeyard demo                          see what it does
  codeyard mcp                           what an MCP client starts
  codeyard import                        take over the servers of another client
  codeyard servers add files -- CMD      add a server
  codeyard run report.py                 run a program that calls tools
  codeyard tools send mail               find tools
  codeyard call time.get_current_time timezone=Asia/Tokyo
  codeyard runs last                     what the newest run did
  codeyard doctor                        what this machine can and cannot do

Exit codes:
  0  done
  1  the program failed or is not there, or the tool reported an error
  2  the command line or a configuration file is wrong
  3  this machine cannot give the sandbox that is required
  4  an upstream server failed
  5  codeyard could not do its own work, such as read or write a file
  6  the audit table was tampered with
  124  the program took longer than it may
  130, 143, 129  ended by SIGINT, SIGTERM, SIGHUP";

pub(super) const MCP_HELP: &str = "\
Example, an entry in a client's configuration:
  {\"mcpServers\": {
    \"codeyard\": {\"command\": \"codeyard\", \"args\": [\"mcp\", \"--config\", \"/home/me/servers.json\"]}
  }}
With a directory that programs read, and one that they write to:
  codeyard mcp --mount ~/tables:/data --mount ~/reports:/reports:rw
With lower limits than the settings have:
  codeyard mcp --limit memory=256MiB --limit processes=16
With shell_exec, fs_browse, fs_read and fs_write for the client:
  codeyard mcp --surface server
In the place of the one-tool bridge, with its variables and its definitions in ~/MCPs:
  {\"mcpServers\": {
    \"bridge\": {\"command\": \"codeyard\", \"args\": [\"run\"], \"env\": {\"MCP_BRIDGE_TIMEOUT\": \"60s\"}}
  }}";

pub(super) const RUN_HELP: &str = "\
Examples:
  codeyard run report.py --timeout 30s
  codeyard run -c 'dir(tools)'
  echo 'return (await tools.crm.get_customer(customer_id=\"C-0042\"))[\"name\"]' | codeyard run -
  codeyard run chart.py --images charts --json
  codeyard run totals.py --format text         tables as a model sees them
  codeyard run totals.py --mount ~/tables:/data
  codeyard run totals.py --limit memory=256MiB --limit cpu_time=5s";

pub(super) const TOOLS_HELP: &str = "\
Examples:
  codeyard tools                         every tool of every server
  codeyard tools send a message          the best matches
  codeyard tools mailbox                 every tool of one server
  codeyard tools mailbox.send_mail       one tool with its parameters
  codeyard tools show mailbox.send_mail  the same, and an error if there is none
  codeyard tools --tools DIR             also the Python files of this directory
  codeyard tools --json                  for another program";

pub(super) const SHOW_HELP: &str = "\
Examples:
  codeyard tools show mailbox.send_mail
  codeyard tools show mailbox.send_mail --json
  codeyard tools show mailbox.send_mail --language typescript";

pub(super) const TRUST_HELP: &str = "\
A project's .mcp.json names commands that would run on this machine. It is used only after this command, and \
only as long as its content stays the same.

Examples:
  codeyard trust                         ./.mcp.json
  codeyard trust ~/projects/shop";

pub(super) const PYTHON_HELP: &str = "\
Examples:
  codeyard python sync                   numpy, pandas, matplotlib, scikit-learn and more
  codeyard python sync --requirements requirements.txt
  codeyard python add rich httpx==0.27.0
  codeyard python remove rich
  codeyard python list
  codeyard python info";

pub(super) const SYNC_HELP: &str = "\
What `codeyard python add` added stays, and what `codeyard python remove` took out stays out, unless a \
requirements file is given.

Examples:
  codeyard python sync
  codeyard python sync --requirements requirements.txt
  codeyard python sync --requirements requirements.txt --yes
  codeyard python sync --refresh         anew, even if nothing has changed";

pub(super) const PACKAGES_HELP: &str = "\
Examples:
  codeyard python list
  codeyard python list --json            with the requirement of each package that was asked for";

pub(super) const ADD_PACKAGES_HELP: &str = "\
The machine's own pip installs them, with its settings for the index and the proxy. If a package cannot be installed, \
nothing changes.

Examples:
  codeyard python add rich
  codeyard python add httpx==0.27.0 'polars>=1,<2'
  codeyard python add 'requests[socks]'";

pub(super) const REMOVE_PACKAGES_HELP: &str = "\
A package that others need is removed only together with them.

Examples:
  codeyard python remove rich
  codeyard python remove seaborn plotly";

pub(super) const INFO_HELP: &str = "\
Examples:
  codeyard python info
  codeyard python info --json";

pub(super) const TYPESCRIPT_HELP: &str = "\
Examples:
  codeyard typescript sync               Deno from its npm package, and the packages of a lock file
  codeyard typescript info";

pub(super) const TYPESCRIPT_SYNC_HELP: &str = "\
Installs with npm, and runs no scripts of packages. The engine `quickjs`, the default, needs nothing.

Examples:
  codeyard typescript sync";

pub(super) const TYPESCRIPT_INFO_HELP: &str = "\
Examples:
  codeyard typescript info
  codeyard typescript info --json";

pub(super) const WORKSPACE_HELP: &str = "\
Examples:
  codeyard workspace path
  codeyard workspace                     whose files there are, and how much they take
  codeyard workspace clean --results     what sessions wrote to /results and /scratch
  codeyard workspace clean               /workspace too";

pub(super) const PATH_HELP: &str = "\
Examples:
  codeyard workspace path
  cp table.csv \"$(codeyard workspace path)\"";

pub(super) const LIST_HELP: &str = "\
Examples:
  codeyard workspace list
  codeyard workspace list --json";

pub(super) const CLEAN_HELP: &str = "\
Files that a running codeyard uses are not removed.

Examples:
  codeyard workspace clean
  codeyard workspace clean --results --yes";

pub(super) const DOCTOR_HELP: &str = "\
Examples:
  codeyard doctor
  codeyard doctor --json
  codeyard doctor --attack
  codeyard doctor --attack --only fork-bomb --this-user
  codeyard doctor --fix                  what an administrator can do here, and what each line is for
  sudo codeyard doctor --fix --yes       do it
  sudo codeyard doctor --fix --yes --user ann --only ranges";

pub(super) const DEMO_HELP: &str = "\
Example:
  codeyard demo --out /tmp";

pub(super) const DEMO_SERVER_HELP: &str = "\
Example, an entry in a client's configuration:
  {\"mcpServers\": {\"crm\": {\"command\": \"codeyard\", \"args\": [\"demo-server\", \"crm\"]}}}";

pub(super) const COMPLETIONS_HELP: &str = "\
Examples:
  codeyard completions bash > ~/.local/share/bash-completion/completions/codeyard
  codeyard completions zsh > ~/.zfunc/_codeyard";

pub(super) const HELP_HELP: &str = "\
Examples:
  codeyard help servers add
  codeyard help options                  what every command takes";

pub(super) const OPTIONS_HELP: &str = "\
Examples:
  codeyard tools --config servers.json   only the servers of this file
  codeyard --data /tmp/try run report.py nothing of yours is read or written there
  codeyard call time.get_current_time timezone=UTC --log debug

Settings, files and variables: docs/configuration.md";

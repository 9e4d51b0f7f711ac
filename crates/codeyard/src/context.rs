//! What every command starts from: the configuration, its warnings told, logging begun.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use environment::{Environment, Machine, Mistakes};
use registry::{BridgeDefinitions, DefinitionWatcher, Sources};
use settings::{Arguments, Bridge, Loaded, Program};

use types::Principal;

use crate::cli::SourceArguments;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// The log of a command that tells itself which servers do not start.
const WITHOUT_STARTS: &str = "warn,upstream::driver=error";

/// The log of a command that attacks the sandbox.
const ONLY_ERRORS: &str = "error";

/// What a command has at hand.
#[derive(Debug)]
pub struct Context {
    /// Where it prints.
    pub output: Output,
    arguments: SourceArguments,
}

impl Context {
    /// Reads nothing yet.
    pub fn new(arguments: SourceArguments) -> Self {
        let no_color = Machine.var("NO_COLOR").ok().flatten();
        Self {
            output: Output::new(no_color.as_deref()),
            arguments,
        }
    }

    /// The whole configuration.
    pub fn load(&self) -> anyhow::Result<Loaded> {
        self.begin(settings::load(&self.settings_arguments(), &Machine))
    }

    /// The whole configuration with what a command mounts and limits beside the settings. What programs will see of the
    /// user's directories is told, resolved, before anything else.
    pub fn load_serving(&self, mounts: &[String], limits: &[String]) -> anyhow::Result<Loaded> {
        let loaded = settings::load(&self.serving(mounts, limits), &Machine);
        let loaded = self.begin(loaded)?;
        self.tell_mounts(&loaded);
        Ok(loaded)
    }

    /// The same for the surface `bridge`, with its variables and where its servers are defined.
    pub fn load_bridge(
        &self,
        mounts: &[String],
        limits: &[String],
    ) -> anyhow::Result<(Loaded, Bridge, BridgeDefinitions)> {
        let arguments = self.serving(mounts, limits);
        let (loaded, bridge) = match settings::load_bridge(&arguments, &Machine) {
            Ok((loaded, bridge)) => (self.begin(Ok(loaded))?, bridge),
            Err(mistakes) => return Err(Failure::new(Exit::Usage, mistakes).into()),
        };
        self.tell_mounts(&loaded);
        let sources = settings::bridge_sources(&bridge, &arguments, &self.program()?);
        let definitions = BridgeDefinitions::new(sources, Machine);
        Ok((loaded, bridge, definitions))
    }

    /// Looks for changes of what [`Context::load_serving`] reads; to be made before it.
    pub fn reread(&self) -> DefinitionWatcher {
        DefinitionWatcher::new(self.sources(), Machine)
    }

    /// The configuration for a command that goes on where something of it is wrong, and all that is.
    pub fn load_forgiving(&self) -> anyhow::Result<(Loaded, Mistakes)> {
        let (loaded, mistakes) = settings::load_forgiving(&self.settings_arguments(), &Machine)
            .map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?;
        Ok((self.begin(Ok(loaded))?, mistakes))
    }

    fn serving(&self, mounts: &[String], limits: &[String]) -> Arguments {
        Arguments {
            mounts: mounts.to_vec(),
            limits: limits.to_vec(),
            ..self.settings_arguments()
        }
    }

    fn tell_mounts(&self, loaded: &Loaded) {
        for mount in &loaded.settings.mounts {
            self.output.tell(&format!("mount: {mount}"));
            for point in mount.not_shown() {
                self.output.tell(&format!(
                    "warning: {} is mounted below and is not shown at {}; mount it as a folder of its own",
                    point.display(),
                    mount.target
                ));
            }
        }
    }

    /// Settings and data directory, for commands that need no servers.
    pub fn load_settings(&self) -> anyhow::Result<Loaded> {
        self.begin(settings::load_settings_only(&self.settings_arguments(), &Machine))
    }

    /// The whole configuration for a command that tells itself that a server does not start: unless somebody asks for a
    /// log, it does not say that too.
    pub fn load_and_tell(&self) -> anyhow::Result<Loaded> {
        self.begin_with(
            settings::load(&self.settings_arguments(), &Machine),
            Some(WITHOUT_STARTS),
        )
    }

    /// Settings and data directory for such a command.
    pub fn load_settings_and_tell(&self) -> anyhow::Result<Loaded> {
        let loaded = settings::load_settings_only(&self.settings_arguments(), &Machine);
        self.begin_with(loaded, Some(WITHOUT_STARTS))
    }

    /// Settings and data directory for a command that provokes what is warned of elsewhere, and tells itself what held.
    pub fn load_settings_for_probes(&self) -> anyhow::Result<Loaded> {
        let loaded = settings::load_settings_only(&self.settings_arguments(), &Machine);
        self.begin_with(loaded, Some(ONLY_ERRORS))
    }

    /// The whole configuration for a command that may say nothing of servers but what it says itself; with what programs
    /// will see of the user's directories.
    pub fn load_serving_and_tell(&self, mounts: &[String], limits: &[String]) -> anyhow::Result<Loaded> {
        let loaded = settings::load(&self.serving(mounts, limits), &Machine);
        let loaded = self.begin_with(loaded, Some(WITHOUT_STARTS))?;
        self.tell_mounts(&loaded);
        Ok(loaded)
    }

    /// What the parts need to know of this program.
    pub fn program(&self) -> anyhow::Result<Program> {
        // Where /proc is hidden the kernel does not say; then nothing is run, and the reason is told by whoever
        // would run it.
        let executable = std::env::current_exe().or_else(|error| {
            let named = std::env::args_os().next().map(PathBuf::from);
            named.ok_or(error)
        });
        Ok(Program {
            principal: principal(),
            executable: executable.context("the path of this program cannot be found")?,
        })
    }

    /// What the command line says of the log.
    pub fn log(&self) -> Option<&str> {
        self.arguments.log.as_deref()
    }

    /// Where servers are defined.
    pub fn sources(&self) -> Sources {
        Sources {
            files: self.arguments.config.clone(),
            data: self.arguments.data.clone(),
        }
    }

    /// Where the configuration comes from.
    pub fn settings_arguments(&self) -> Arguments {
        Arguments {
            sources: self.sources(),
            settings: self.arguments.settings.clone(),
            database: self.arguments.database.clone(),
            tools: self.arguments.tools.clone(),
            ..Arguments::default()
        }
    }

    /// The data directory; empty if neither an option nor a variable says where it is.
    pub fn data_directory(&self) -> PathBuf {
        self.sources().data_directory(&Machine).unwrap_or_default()
    }

    fn begin(&self, loaded: Result<Loaded, environment::Mistakes>) -> anyhow::Result<Loaded> {
        self.begin_with(loaded, None)
    }

    fn begin_with(
        &self,
        loaded: Result<Loaded, environment::Mistakes>,
        log: Option<&str>,
    ) -> anyhow::Result<Loaded> {
        let data = self.data_directory();
        workspace::check_data(&data).map_err(|error| Failure::new(Exit::Usage, error))?;
        let loaded = loaded.map_err(|mistakes| Failure::new(Exit::Usage, mistakes))?;
        self.start_logging(loaded.settings.log.as_deref().or(log))?;
        for warning in &loaded.warnings {
            self.output.tell(&format!("warning: {warning}"));
        }
        Ok(loaded)
    }

    fn start_logging(&self, settings: Option<&str>) -> anyhow::Result<()> {
        let variable = Machine.var("CODEYARD_LOG").ok().flatten();
        let filter = self
            .arguments
            .log
            .clone()
            .or(variable)
            .or_else(|| settings.map(str::to_owned));
        let no_color = Machine.var("NO_COLOR").ok().flatten();
        let color = match no_color {
            Some(set) if !set.is_empty() => telemetry::Color::Never,
            _ => telemetry::Color::Auto,
        };
        telemetry::start(&telemetry::TelemetryConfig { filter, color })
            .map_err(|error| Failure::new(Exit::Usage, error).into())
    }
}

/// Reads a program or arguments: a file, or standard input for `-`.
pub fn read_input(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        return std::io::read_to_string(std::io::stdin()).context("standard input cannot be read as text");
    }
    std::fs::read_to_string(file).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("{}: {}", file.display(), environment::why_unreadable(&error)),
        )
        .into()
    })
}

/// Whoever started this process: on the command line and over standard input nobody else asks.
pub fn principal() -> Principal {
    Principal::local()
}

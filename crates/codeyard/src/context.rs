//! Loads the configuration for a command, prints its warnings, and starts logging.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use environment::{Environment, Machine, Mistakes};
use registry::{BridgeDefinitions, DefinitionWatcher, Sources};
use server::Host;
use settings::{Arguments, Bridge, CodeExecution, Loaded, Program};

use types::Principal;

use crate::cli::SourceArguments;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Log filter of commands that report servers' start errors themselves.
const WITHOUT_STARTS: &str = "warn,upstream::driver=error";

/// Log filter of a command that attacks the sandbox.
const ONLY_ERRORS: &str = "error";

#[derive(Debug)]
pub struct Context {
    pub output: Output,
    arguments: SourceArguments,
}

impl Context {
    pub fn new(arguments: SourceArguments) -> Self {
        let no_color = Machine.var("NO_COLOR").ok().flatten();
        Self {
            output: Output::new(no_color.as_deref()),
            arguments,
        }
    }

    pub fn load(&self) -> anyhow::Result<Loaded> {
        self.begin(settings::load(&self.settings_arguments(), &Machine))
    }

    /// The whole configuration plus the command line's mounts and limits. Prints first, resolved,
    /// which of the user's directories programs will see.
    pub fn load_serving(&self, mounts: &[String], limits: &[String]) -> anyhow::Result<Loaded> {
        let loaded = settings::load(&self.serving(mounts, limits), &Machine);
        let loaded = self.begin(loaded)?;
        self.tell_mounts(&loaded);
        Ok(loaded)
    }

    /// As [`Context::load_serving`] for the gateway: adds the variables `CODE_EXECUTION_*`.
    pub fn load_gateway(
        &self,
        mounts: &[String],
        limits: &[String],
    ) -> anyhow::Result<(Loaded, CodeExecution)> {
        let (loaded, settings) = match settings::load_gateway(&self.serving(mounts, limits), &Machine) {
            Ok((loaded, settings)) => (self.begin(Ok(loaded))?, settings),
            Err(mistakes) => return Err(Failure::new(Exit::Usage, mistakes).into()),
        };
        self.tell_mounts(&loaded);
        Ok((loaded, settings))
    }

    /// As [`Context::load_serving`] for the surface `bridge`: adds its variables and its server definitions.
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

    /// Watches the files that [`Context::load_serving`] reads; call this function first.
    pub fn reread(&self) -> DefinitionWatcher {
        DefinitionWatcher::new(self.sources(), Machine)
    }

    /// The configuration and all its mistakes, for commands that continue despite mistakes.
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

    pub fn load_settings(&self) -> anyhow::Result<Loaded> {
        self.begin(settings::load_settings_only(&self.settings_arguments(), &Machine))
    }

    /// The whole configuration for a command that reports failed starts itself. The log omits them, unless the user
    /// requested a log.
    pub fn load_and_tell(&self) -> anyhow::Result<Loaded> {
        self.begin_with(
            settings::load(&self.settings_arguments(), &Machine),
            Some(WITHOUT_STARTS),
        )
    }

    /// As [`Context::load_and_tell`], without servers.
    pub fn load_settings_and_tell(&self) -> anyhow::Result<Loaded> {
        let loaded = settings::load_settings_only(&self.settings_arguments(), &Machine);
        self.begin_with(loaded, Some(WITHOUT_STARTS))
    }

    /// Settings for a command that provokes problems on purpose, and reports the results itself.
    pub fn load_settings_for_probes(&self) -> anyhow::Result<Loaded> {
        let loaded = settings::load_settings_only(&self.settings_arguments(), &Machine);
        self.begin_with(loaded, Some(ONLY_ERRORS))
    }

    /// As [`Context::load_serving`], for a command that reports everything about servers itself.
    pub fn load_serving_and_tell(&self, mounts: &[String], limits: &[String]) -> anyhow::Result<Loaded> {
        let loaded = settings::load(&self.serving(mounts, limits), &Machine);
        let loaded = self.begin_with(loaded, Some(WITHOUT_STARTS))?;
        self.tell_mounts(&loaded);
        Ok(loaded)
    }

    /// Begins the execution logs of the settings; without them, nothing is missing for the user.
    pub async fn open_logs(&self, host: &Host) {
        if let Err(error) = host.open_logs().await {
            self.output.tell(&format!(
                "warning: runs are missing in the execution log: {error}"
            ));
        }
    }

    pub fn program(&self) -> anyhow::Result<Program> {
        // With /proc hidden, the kernel does not name the executable. Then no child can run, and the code that starts
        // one gives the reason.
        let executable = std::env::current_exe().or_else(|error| {
            let named = std::env::args_os().next().map(PathBuf::from);
            named.ok_or(error)
        });
        Ok(Program {
            principal: principal(),
            executable: executable.context("the path of this program cannot be found")?,
        })
    }

    pub fn log(&self) -> Option<&str> {
        self.arguments.log.as_deref()
    }

    pub fn sources(&self) -> Sources {
        Sources {
            files: self.arguments.config.clone(),
            data: self.arguments.data.clone(),
        }
    }

    pub fn settings_arguments(&self) -> Arguments {
        Arguments {
            sources: self.sources(),
            settings: self.arguments.settings.clone(),
            database: self.arguments.database.clone(),
            tools: self.arguments.tools.clone(),
            ..Arguments::default()
        }
    }

    /// The data directory; empty if neither an option nor a variable names it.
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

/// Reads a file, or standard input for `-`.
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

/// The user of this process: the command line and standard input have no other principal.
pub fn principal() -> Principal {
    Principal::local()
}

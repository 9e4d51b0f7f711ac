//! Makes the specification of a zygote: the file system, program and identity that its sessions inherit.

use std::path::{Path, PathBuf};

use jail::spec::{Appearance, Counting, TextFile, Tree, ZygoteSpec};
use sandbox_host::guest_user::GuestUser;
use sandbox_host::layout::{self, COPIED_FILES, LayoutError, SystemView, same_path};
use sandbox_host::python::{Environment, GUEST_SITE_PACKAGES, Interpreter};
use serde_json::json;

use crate::config::ProcessConfig;
use crate::mode::Mode;

/// First components of the paths that sessions use for their own purposes.
const RESERVED: [&str; 20] = [
    "at",
    "bin",
    "dev",
    "etc",
    "home",
    "k",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "results",
    "rw",
    "sbin",
    "scratch",
    "skills",
    "tmp",
    "tools",
    "usr",
    "workspace",
];
/// Configuration of fontconfig, which matplotlib reads: paths of the fonts and of their cache.
const FONTS: &str = "<?xml version=\"1.0\"?>\n<fontconfig><dir>/usr/share/fonts</dir>\
                     <cachedir>/tmp/fontconfig</cachedir></fontconfig>\n";

/// The specification for the launcher. `profile` is `plain` or `data`.
///
/// # Errors
/// If the interpreter is outside its prefix.
pub fn zygote_spec(
    config: &ProcessConfig,
    mode: &Mode,
    interpreter: &Interpreter,
    environment: Option<&Environment>,
    profile: &str,
) -> Result<ZygoteSpec, LayoutError> {
    let SystemView {
        mut trees,
        mut links,
        prefix,
        executable,
    } = SystemView::with(interpreter)?;
    let host_links = config.host_links.iter();
    links.extend(host_links.filter(|(path, _)| is_free(path)).cloned());
    let mut site: &[&str] = &[];
    if let Some(environment) = environment {
        site = &[GUEST_SITE_PACKAGES];
        trees.push(Tree {
            source: environment.site_packages.clone(),
            target: GUEST_SITE_PACKAGES.into(),
        });
    }
    let settings = json!({
        "profile": profile,
        "site": site,
        "exec": config.host.exec,
    });
    let appearance = config.host.appearance;
    Ok(ZygoteSpec {
        trees,
        files: files(appearance),
        copies: COPIED_FILES
            .iter()
            .map(|path| same_path(Path::new(path)))
            .collect(),
        mounts: config.mounts.iter().map(PathBuf::from).collect(),
        links,
        program: executable,
        arguments: ["-I", "-S", "-B", "-X", "utf8", "/opt/codeyard/codeyard/zygote.py"]
            .map(str::to_owned)
            .into_iter()
            .chain([settings.to_string()])
            .collect(),
        environment: layout::environment(&prefix, interpreter, site, appearance),
        identity: mode.identity,
        appearance,
        memory: match mode.groups {
            Ok(_) => Counting::Counted,
            Err(_) => Counting::Uncounted,
        },
        removed: config.removed,
        cleanup: mode.cleanup_paths(),
    })
}

/// Whether the template may have a link of the host at this path. Sessions make links below their own file systems
/// themselves.
fn is_free(path: &Path) -> bool {
    let mut parts = path.components().skip(1);
    let first = parts.next().map(|part| part.as_os_str().to_string_lossy());
    parts.next().is_some() && first.is_some_and(|first| !RESERVED.contains(&&*first))
}

/// The guest's Python package, and the files of `/etc` that libraries read.
fn files(appearance: Appearance) -> Vec<TextFile> {
    let [passwd, group] = GuestUser::of(appearance).passwd_and_group(appearance);
    let etc = [
        ("/etc/passwd", passwd),
        ("/etc/group", group),
        ("/etc/hosts", "127.0.0.1 localhost sandbox\n".to_owned()),
        ("/etc/hostname", "sandbox\n".to_owned()),
        (
            "/etc/nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        ),
        ("/etc/fonts/fonts.conf", FONTS.to_owned()),
    ];
    let guest = guest::python_files().iter().map(|file| TextFile {
        path: Path::new("/opt/codeyard").join(file.path),
        text: String::from_utf8_lossy(file.bytes).into_owned(),
    });
    let etc = etc.map(|(path, text)| TextFile {
        path: path.into(),
        text,
    });
    guest.chain(etc).collect()
}

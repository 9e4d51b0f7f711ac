//! Files and directories by their paths.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use rquickjs::{Array, Ctx, Function, Object, Result, TypedArray};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Timespec, Timestamps};

use super::system_error::OrThrow;
use crate::bytes;
use crate::shared::Shared;

/// Maximum bytes of a file that a program may read at once.
const MAX_READ: u64 = 512 * 1024 * 1024;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let own = |name: &str, function: Function<'js>| native.set(name, function);
    own("readFile", Function::new(ctx.clone(), read_file)?)?;
    own("readDirectory", Function::new(ctx.clone(), read_directory)?)?;
    own("stat", Function::new(ctx.clone(), stat)?)?;
    let state = Rc::clone(shared);
    own(
        "realPath",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, path: String| {
            let real = fs::canonicalize(path).or_throw(&ctx, "realpath")?;
            Ok::<_, rquickjs::Error>(state.places.shown(&real.display().to_string()).to_owned())
        })?,
    )?;
    own("readLink", Function::new(ctx.clone(), read_link)?)?;
    own("access", Function::new(ctx.clone(), access)?)?;
    own("utimes", Function::new(ctx.clone(), utimes)?)?;
    own("chmod", Function::new(ctx.clone(), chmod)?)?;
    own("removeFile", Function::new(ctx.clone(), remove_file)?)?;
    own("removeDirectory", Function::new(ctx.clone(), remove_directory)?)?;
    own("removeTree", Function::new(ctx.clone(), remove_tree)?)?;
    own("makeDirectory", Function::new(ctx.clone(), make_directory)?)?;
    own("symlink", Function::new(ctx.clone(), make_symlink)?)?;
    own(
        "makeTemporaryDirectory",
        Function::new(ctx.clone(), make_temporary_directory)?,
    )?;
    define_writing(ctx, native, shared)
}

/// Functions that create or change files; the run's report lists these files.
fn define_writing<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let state = Rc::clone(shared);
    native.set(
        "writeFile",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, path: String, data: TypedArray<'js, u8>, flags: u32, mode: u32| {
                let data = bytes::copy(&ctx, &data)?;
                write_file(&path, &data, flags, mode).or_throw(&ctx, "open")?;
                state.wrote(&path);
                Ok::<_, rquickjs::Error>(())
            },
        )?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "rename",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, from: String, to: String| {
            fs::rename(&from, &to).or_throw(&ctx, "rename")?;
            state.wrote(&to);
            Ok::<_, rquickjs::Error>(())
        })?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "copyFile",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, from: String, to: String, exclusive: bool| {
                copy_file(&from, &to, exclusive).or_throw(&ctx, "copyfile")?;
                state.wrote(&to);
                Ok::<_, rquickjs::Error>(())
            },
        )?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "link",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, from: String, to: String| {
            fs::hard_link(&from, &to).or_throw(&ctx, "link")?;
            state.wrote(&to);
            Ok::<_, rquickjs::Error>(())
        })?,
    )?;
    let state = Rc::clone(shared);
    native.set(
        "truncate",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, path: String, length: u64| {
            let file = OpenOptions::new().write(true).open(&path);
            file.and_then(|file| file.set_len(length))
                .or_throw(&ctx, "open")?;
            state.wrote(&path);
            Ok::<_, rquickjs::Error>(())
        })?,
    )
}

fn read_file<'js>(ctx: Ctx<'js>, path: String) -> Result<TypedArray<'js, u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let size = fs::metadata(&path)?.len();
        if size > MAX_READ {
            return Err(rustix::io::Errno::FBIG.into());
        }
        fs::read(&path)
    };
    let syscall = if Path::new(&path).is_dir() { "read" } else { "open" };
    let content = read().or_throw(&ctx, syscall)?;
    TypedArray::new(ctx, content)
}

fn write_file(path: &str, data: &[u8], flags: u32, mode: u32) -> io::Result<()> {
    open(path, flags, mode)?.write_all(data)
}

/// Opens a file; `flags` and `mode` are the system's numbers.
///
/// # Errors
/// Of the system.
pub fn open(path: &str, flags: u32, mode: u32) -> io::Result<File> {
    let flags = OFlags::from_bits_retain(flags) | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::from_raw_mode(mode))?;
    Ok(File::from(opened))
}

fn copy_file(from: &str, to: &str, exclusive: bool) -> io::Result<()> {
    let mut source = File::open(from)?;
    if source.metadata()?.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    }
    let mut options = OpenOptions::new();
    options.write(true);
    if exclusive {
        options.create_new(true);
    } else {
        options.create(true).truncate(true);
    }
    let mut target = options.open(to)?;
    io::copy(&mut source, &mut target)?;
    match target.set_permissions(source.metadata()?.permissions()) {
        // Without mounts, no session may set modes; the copy keeps the default mode.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        set => set,
    }
}

fn read_directory<'js>(ctx: Ctx<'js>, path: String) -> Result<Array<'js>> {
    let list = || -> io::Result<Vec<(String, &'static str)>> {
        let entries = fs::read_dir(&path)?.map(|entry| {
            let entry = entry?;
            let kind = kind_of(FileType::from_raw_mode(entry.metadata()?.mode()));
            Ok((entry.file_name().to_string_lossy().into_owned(), kind))
        });
        let mut entries: Vec<_> = entries.collect::<io::Result<_>>()?;
        // Node sorts directories too.
        entries.sort();
        Ok(entries)
    };
    let entries = Array::new(ctx.clone())?;
    for (index, (name, kind)) in list().or_throw(&ctx, "scandir")?.into_iter().enumerate() {
        let entry = Object::new(ctx.clone())?;
        entry.set("name", name)?;
        entry.set("kind", kind)?;
        entries.set(index, entry)?;
    }
    Ok(entries)
}

fn stat<'js>(ctx: Ctx<'js>, path: String, follow: bool) -> Result<Object<'js>> {
    let found = if follow {
        fs::metadata(&path).or_throw(&ctx, "stat")
    } else {
        fs::symlink_metadata(&path).or_throw(&ctx, "lstat")
    };
    status(&ctx, &found?)
}

/// A status as the platform reads it; times are in milliseconds.
pub fn status<'js>(ctx: &Ctx<'js>, found: &fs::Metadata) -> Result<Object<'js>> {
    let status = Object::new(ctx.clone())?;
    status.set("kind", kind_of(FileType::from_raw_mode(found.mode())))?;
    #[expect(clippy::cast_precision_loss, reason = "Node's own numbers are no more exact")]
    let numbers: [(&str, f64); 9] = [
        ("dev", found.dev() as f64),
        ("ino", found.ino() as f64),
        ("mode", f64::from(found.mode())),
        ("nlink", found.nlink() as f64),
        ("uid", f64::from(found.uid())),
        ("gid", f64::from(found.gid())),
        ("rdev", found.rdev() as f64),
        ("size", found.size() as f64),
        ("blocks", found.blocks() as f64),
    ];
    for (name, number) in numbers {
        status.set(name, number)?;
    }
    status.set("blksize", found.blksize())?;
    let milliseconds = |seconds: i64, nanoseconds: i64| {
        #[expect(clippy::cast_precision_loss, reason = "Node's own numbers are no more exact")]
        let whole = (seconds as f64, nanoseconds as f64);
        whole.0 * 1000.0 + whole.1 / 1_000_000.0
    };
    let changed = milliseconds(found.ctime(), found.ctime_nsec());
    status.set("atimeMs", milliseconds(found.atime(), found.atime_nsec()))?;
    status.set("mtimeMs", milliseconds(found.mtime(), found.mtime_nsec()))?;
    status.set("ctimeMs", changed)?;
    let born = found.created().ok();
    let born = born.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    status.set(
        "birthtimeMs",
        born.map_or(changed, |time| time.as_secs_f64() * 1000.0),
    )?;
    Ok(status)
}

fn kind_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        FileType::Fifo => "fifo",
        FileType::Socket => "socket",
        FileType::CharacterDevice => "character",
        FileType::BlockDevice => "block",
        _ => "file",
    }
}

/// Makes a directory; with parents, returns the first that was made.
fn make_directory(ctx: Ctx<'_>, path: String, recursive: bool, mode: u32) -> Result<Option<String>> {
    let make = || -> io::Result<Option<String>> {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
        if !recursive {
            builder.create(&path)?;
            return Ok(None);
        }
        let missing = Path::new(&path)
            .ancestors()
            .take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists())
            .last();
        builder.recursive(true).create(&path)?;
        Ok(missing.map(|first| first.display().to_string()))
    };
    make().or_throw(&ctx, "mkdir")
}

fn remove_file(ctx: Ctx<'_>, path: String) -> Result<()> {
    rustix::fs::unlinkat(CWD, &path, AtFlags::empty()).or_throw(&ctx, "unlink")
}

fn remove_directory(ctx: Ctx<'_>, path: String) -> Result<()> {
    fs::remove_dir(path).or_throw(&ctx, "rmdir")
}

fn remove_tree(ctx: Ctx<'_>, path: String) -> Result<()> {
    let is_directory = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
    let removed = if is_directory {
        fs::remove_dir_all(&path)
    } else {
        fs::remove_file(&path)
    };
    removed.or_throw(&ctx, "rm")
}

fn read_link(ctx: Ctx<'_>, path: String) -> Result<String> {
    let target = fs::read_link(path).or_throw(&ctx, "readlink")?;
    Ok(target.display().to_string())
}

fn make_symlink(ctx: Ctx<'_>, target: String, path: String) -> Result<()> {
    symlink(target, path).or_throw(&ctx, "symlink")
}

fn chmod(ctx: Ctx<'_>, path: String, mode: u32) -> Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).or_throw(&ctx, "chmod")
}

/// `mode` holds the bits of `access(2)`: 4 to read, 2 to write, 1 to execute.
fn access(ctx: Ctx<'_>, path: String, mode: u32) -> Result<()> {
    let wanted = rustix::fs::Access::from_bits_truncate(mode);
    rustix::fs::access(&path, wanted).or_throw(&ctx, "access")
}

fn utimes(ctx: Ctx<'_>, path: String, accessed: f64, modified: f64) -> Result<()> {
    rustix::fs::utimensat(CWD, &path, &times(accessed, modified), AtFlags::empty()).or_throw(&ctx, "utime")
}

/// Times in seconds since 1970.
pub fn times(accessed: f64, modified: f64) -> Timestamps {
    Timestamps {
        last_access: timespec(accessed),
        last_modification: timespec(modified),
    }
}

fn timespec(seconds: f64) -> Timespec {
    let time = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or_default();
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Makes a directory whose name begins with the prefix and ends with six random characters.
fn make_temporary_directory(ctx: Ctx<'_>, prefix: String) -> Result<String> {
    const ATTEMPTS: u32 = 100;
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let make = || -> io::Result<String> {
        for _ in 0..ATTEMPTS {
            let mut drawn = [0u8; 6];
            getrandom::fill(&mut drawn).map_err(io::Error::other)?;
            let name = drawn.map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
            let path = format!("{prefix}{}", name.iter().collect::<String>());
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| path),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    };
    make().or_throw(&ctx, "mkdtemp")
}

//! Open files by their numbers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::rc::Rc;

use rquickjs::{Ctx, Function, Object, Result, TypedArray};
use rustix::fs::OFlags;

use super::files::{open, status, times};
use super::system_error::OrThrow;
use crate::bytes;
use crate::shared::Shared;

/// Open files of the session, under their own numbers, which are not the system's.
#[derive(Debug, Default)]
struct OpenFiles {
    files: BTreeMap<u32, File>,
    last: u32,
}

/// One less than the number of a session's first file.
const BEFORE_FIRST: u32 = 9;

type Files = Rc<RefCell<OpenFiles>>;

pub fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>, shared: &Rc<Shared>) -> Result<()> {
    let files: Files = Rc::new(RefCell::new(OpenFiles {
        files: BTreeMap::new(),
        last: BEFORE_FIRST,
    }));
    let (all, state) = (Rc::clone(&files), Rc::clone(shared));
    native.set(
        "open",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, path: String, flags: u32, mode: u32| {
                let file = open(&path, flags, mode).or_throw(&ctx, "open")?;
                if flags & OFlags::ACCMODE.bits() != 0 {
                    state.wrote(&path);
                }
                let mut all = all.borrow_mut();
                all.last += 1;
                let number = all.last;
                all.files.insert(number, file);
                Ok::<_, rquickjs::Error>(number)
            },
        )?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "read",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, number: u32, length: usize, position: i64| {
                let read = with(&all, number, |file| read_at(file, length, position));
                TypedArray::new(ctx.clone(), read.or_throw(&ctx, "read")?)
            },
        )?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "writeTo",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, number: u32, data: TypedArray<'js, u8>, position: i64| {
                let data = bytes::copy(&ctx, &data)?;
                with(&all, number, |file| write_at(file, &data, position)).or_throw(&ctx, "write")
            },
        )?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "statOf",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, number: u32| {
            let found = with(&all, number, |file| file.metadata()).or_throw(&ctx, "fstat")?;
            status(&ctx, &found)
        })?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "truncateOf",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, number: u32, length: u64| {
            with(&all, number, |file| file.set_len(length)).or_throw(&ctx, "ftruncate")
        })?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "chmodOf",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, number: u32, mode: u32| {
            let permissions = std::fs::Permissions::from_mode(mode);
            with(&all, number, |file| file.set_permissions(permissions)).or_throw(&ctx, "fchmod")
        })?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "utimesOf",
        Function::new(
            ctx.clone(),
            move |ctx: Ctx<'js>, number: u32, accessed: f64, modified: f64| {
                let times = times(accessed, modified);
                with(&all, number, |file| Ok(rustix::fs::futimens(file, &times)?)).or_throw(&ctx, "futime")
            },
        )?,
    )?;
    let all = Rc::clone(&files);
    native.set(
        "sync",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, number: u32| {
            with(&all, number, |file| file.sync_all()).or_throw(&ctx, "fsync")
        })?,
    )?;
    native.set(
        "close",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, number: u32| {
            let closed = files.borrow_mut().files.remove(&number);
            closed
                .map(drop)
                .ok_or(rustix::io::Errno::BADF)
                .or_throw(&ctx, "close")
        })?,
    )
}

fn with<T>(files: &Files, number: u32, work: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    match files.borrow_mut().files.get_mut(&number) {
        Some(file) => work(file),
        None => Err(rustix::io::Errno::BADF.into()),
    }
}

/// A negative position means the file's current position.
fn read_at(file: &mut File, length: usize, position: i64) -> io::Result<Vec<u8>> {
    // A program may request more bytes than the file has.
    let there = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut content = vec![0; length.min(there.max(64 * 1024))];
    let read = match u64::try_from(position) {
        Ok(position) => file.read_at(&mut content, position)?,
        Err(_) => file.read(&mut content)?,
    };
    content.truncate(read);
    Ok(content)
}

fn write_at(file: &mut File, data: &[u8], position: i64) -> io::Result<usize> {
    match u64::try_from(position) {
        Ok(position) => {
            let before = file.stream_position()?;
            let written = file.write_at(data, position)?;
            file.seek(SeekFrom::Start(before))?;
            Ok(written)
        }
        Err(_) => file.write(data),
    }
}

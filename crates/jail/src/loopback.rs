//! Loop devices: attaches a file as a block device, finds the device of a file, and mounts the device's ext4 file
//! system.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use libc::{c_long, c_ulong};
use rustix::fs::{Mode, OFlags};

use crate::launcher::sys::c_path;

const CONTROL: &str = "/dev/loop-control";

/// From linux/loop.h.
const CONFIGURE: c_ulong = 0x4c0a;
const GET_STATUS: c_ulong = 0x4c05;
const GET_FREE: c_ulong = 0x4c82;
/// The kernel detaches the file when the device is no longer in use.
const AUTOCLEAR: u32 = 4;
/// Writes bypass the page cache of the file, so the kernel charges them to the writer's control group.
const DIRECT_IO: u32 = 16;
/// Bytes per sector. ext4 with blocks of 1 KiB needs sectors of at most 1 KiB.
const SECTOR: u32 = 512;

/// Attempts when other processes take the free device first.
const ATTEMPTS: usize = 64;

/// `struct loop_info64`.
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    real_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct Configuration {
    descriptor: u32,
    block_size: u32,
    info: Info,
    reserved: [u64; 8],
}

/// A loop device with a file. The file stays attached as long as this value, or a mounted file system, holds the
/// device.
#[derive(Debug)]
pub struct Loop {
    device: OwnedFd,
    path: PathBuf,
}

/// Whether this process can use loop devices.
///
/// # Errors
/// Why this process cannot use loop devices, with the path.
pub fn available() -> io::Result<()> {
    free().map(drop)
}

/// The device that a file is attached to, if any. Attaching a file to two devices at once would destroy the file.
///
/// # Errors
/// If a device that may hold the file cannot be examined.
pub fn find(file: &File, path: &Path) -> io::Result<Option<Loop>> {
    let wanted = rustix::fs::fstat(file)?;
    for entry in std::fs::read_dir("/sys/block")?.flatten() {
        let Ok(shown) = std::fs::read_to_string(entry.path().join("loop/backing_file")) else {
            continue;
        };
        let name = Path::new("/dev").join(entry.file_name());
        let device = match open(&name) {
            Ok(device) => device,
            // The device belongs to another container, because its file has another name.
            Err(_) if Path::new(shown.trim_end()).file_name() != path.file_name() => continue,
            Err(error) => return Err(error),
        };
        let found = Loop { device, path: name };
        match found.status() {
            Ok(info) if (info.device, info.inode) == (wanted.st_dev, wanted.st_ino) => {
                return Ok(Some(found));
            }
            // The file was detached meanwhile.
            Err(error) if error.raw_os_error() != Some(libc::ENXIO) => return Err(error),
            _ => {}
        }
    }
    Ok(None)
}

/// Attaches a file that is open for reading and writing to a free device.
///
/// # Errors
/// If all loop devices are taken, or the kernel cannot use the file as one.
pub fn attach(file: &File) -> io::Result<Loop> {
    for _ in 0..ATTEMPTS {
        let device = free()?;
        match device.configure(file.as_fd()) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
            configured => return configured.map(|()| device),
        }
    }
    Err(io::Error::other(format!(
        "{CONTROL}: other processes took each free device first"
    )))
}

/// Unmounts what is mounted at a path. A mount in use stays, with an error.
///
/// # Errors
/// If nothing is mounted there, or it is in use.
pub fn unmount(path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: the path is NUL-terminated and outlives the call.
    system_result(c_long::from(unsafe {
        libc::umount2(path.as_ptr(), libc::UMOUNT_NOFOLLOW)
    }))
    .map(drop)
}

// === impl Loop ===

impl Loop {
    /// Mounts the ext4 file system of the device, without set-user-id and devices.
    ///
    /// # Errors
    /// The system's error.
    pub fn mount_ext4(&self, target: BorrowedFd<'_>) -> io::Result<()> {
        let source = c_path(&self.path)?;
        let target = format!("/proc/self/fd/{}", target.as_raw_fd());
        let target = c_path(Path::new(&target))?;
        let options = c"errors=remount-ro,discard";
        // SAFETY: the strings are NUL-terminated and outlive the call.
        system_result(c_long::from(unsafe {
            libc::mount(
                source.as_ptr(),
                target.as_ptr(),
                c"ext4".as_ptr(),
                libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOATIME,
                options.as_ptr().cast(),
            )
        }))
        .map(drop)
    }

    /// The device number, as in `st_dev` of files on its file system.
    ///
    /// # Errors
    /// The system's error.
    pub fn number(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstat(&self.device)?.st_rdev)
    }

    fn configure(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        let configuration = Configuration {
            descriptor: file.as_raw_fd().cast_unsigned(),
            block_size: SECTOR,
            info: Info {
                flags: AUTOCLEAR | DIRECT_IO,
                ..Info::EMPTY
            },
            reserved: [0; 8],
        };
        // SAFETY: the call reads a `struct loop_config`, which `Configuration` is, and both descriptors are open.
        system_result(c_long::from(unsafe {
            libc::ioctl(self.device.as_raw_fd(), CONFIGURE, &raw const configuration)
        }))
        .map(drop)
    }

    fn status(&self) -> io::Result<Info> {
        let mut info = Info::EMPTY;
        // SAFETY: the call writes a `struct loop_info64`, which `Info` is, and the descriptor is open.
        system_result(c_long::from(unsafe {
            libc::ioctl(self.device.as_raw_fd(), GET_STATUS, &raw mut info)
        }))?;
        Ok(info)
    }
}

impl Info {
    const EMPTY: Info = Info {
        device: 0,
        inode: 0,
        real_device: 0,
        offset: 0,
        size_limit: 0,
        number: 0,
        encrypt_type: 0,
        encrypt_key_size: 0,
        flags: 0,
        file_name: [0; 64],
        crypt_name: [0; 64],
        encrypt_key: [0; 32],
        init: [0; 2],
    };
}

fn free() -> io::Result<Loop> {
    let control = open(Path::new(CONTROL))?;
    // SAFETY: the call takes no argument, and the descriptor is open.
    let number = system_result(c_long::from(unsafe {
        libc::ioctl(control.as_raw_fd(), GET_FREE)
    }))
    .map_err(|error| with_path(Path::new(CONTROL), &error))?;
    let path = PathBuf::from(format!("/dev/loop{number}"));
    Ok(Loop {
        device: open(&path)?,
        path,
    })
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let opened = rustix::fs::open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    opened.map_err(|error| with_path(path, &error.into()))
}

fn with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn system_result(returned: c_long) -> io::Result<c_long> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}

#[cfg(test)]
mod tests {
    use std::mem::size_of;

    use super::*;

    #[test]
    fn structures_are_as_large_as_the_kernel_has_them() {
        assert_eq!(size_of::<Info>(), 232);
        assert_eq!(size_of::<Configuration>(), 304);
    }

    #[test]
    fn a_file_is_found_on_the_device_that_it_is_attached_to() {
        if let Err(error) = available() {
            println!("skipped: no loop device: {error}");
            return;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        assert!(find(file.as_file(), file.path()).unwrap().is_none());
        let attached = attach(file.as_file()).unwrap();
        let found = find(file.as_file(), file.path()).unwrap().unwrap();
        assert_eq!(found.number().unwrap(), attached.number().unwrap());
        let other = tempfile::NamedTempFile::new().unwrap();
        assert!(find(other.as_file(), other.path()).unwrap().is_none());
    }
}

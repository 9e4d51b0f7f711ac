//! Lets clones of this process inherit the mapped pages of its program and libraries.
//!
//! A clone receives the page-table entries of a file mapping only if one of its pages is private to the process.
//! Otherwise the clone takes a page fault for every 64 KiB of code. Without these faults, a TypeScript session starts
//! 7 % earlier.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

/// Makes the first page of each read-only file mapping private, without changing it.
///
/// # Errors
/// If the process cannot read its mappings or write its own memory.
pub fn inherit() -> io::Result<()> {
    let memory = OpenOptions::new().read(true).write(true).open("/proc/self/mem")?;
    for mapping in fs::read_to_string("/proc/self/maps")?.lines() {
        let Some(start) = start_of_file(mapping) else {
            continue;
        };
        let mut byte = [0];
        memory.read_exact_at(&mut byte, start)?;
        // A write through this file copies the page, even in a read-only mapping.
        memory.write_all_at(&byte, start)?;
    }
    Ok(())
}

/// The address of a private read-only mapping of a file, from a line of `/proc/self/maps`.
fn start_of_file(mapping: &str) -> Option<u64> {
    let mut fields = mapping.split_ascii_whitespace();
    let (range, access) = (fields.next()?, fields.next()?);
    let is_file = fields.last()?.starts_with('/');
    if !is_file || !matches!(access, "r-xp" | "r--p") {
        return None;
    }
    u64::from_str_radix(range.split('-').next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(mapping: &str, expected: Option<u64>) {
        assert_eq!(start_of_file(mapping), expected, "{mapping}");
    }

    #[test]
    fn only_read_only_mappings_of_files_are_chosen() {
        check(
            "1000-2000 r-xp 00000000 fe:00 12 /usr/lib/libc.so.6",
            Some(0x1000),
        );
        check("7f00-8f00 r--p 00001000 fe:00 12    /opt/a program", None);
        check("7f00-8f00 r--p 00001000 fe:00 12    /opt/program", Some(0x7f00));
        check("1000-2000 rw-p 00000000 fe:00 12 /usr/lib/libc.so.6", None);
        check("1000-2000 r-xs 00000000 fe:00 12 /usr/lib/libc.so.6", None);
        check("1000-2000 r-xp 00000000 00:00 0 [vdso]", None);
        check("1000-2000 rw-p 00000000 00:00 0 ", None);
    }

    #[test]
    fn the_code_of_this_process_stays_as_it_is() {
        inherit().expect("a process may write its own memory");
        inherit().expect("twice as well");
    }
}

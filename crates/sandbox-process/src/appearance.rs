//! User, group and file system sizes of sessions that look like a container.

use jail::session::wire::{self, FileSystemBounds, ROOMS, Request};
use jail::spec::Appearance;
use sandbox_host::guest_user::NOBODY;
use types::Limits;

/// Bytes of a page, the unit of a tmpfs.
const PAGE: u64 = 4096;
/// A file system needs its root and one file.
const MIN_INODES: u64 = 2;

/// Refuses root, and the number that means "unchanged" to the kernel.
///
/// # Errors
/// The reason and the remedy.
pub fn validate(appearance: Appearance) -> Result<(), String> {
    let Appearance::Container { user, group, .. } = appearance else {
        return Ok(());
    };
    let is_valid = |number: u32| (1..u32::MAX).contains(&number);
    if is_valid(user) && is_valid(group) {
        return Ok(());
    }
    Err(format!(
        "sessions cannot look like user {user} and group {group}: they are never root, nor seem to be; name numbers \
         from 1 to 4294967294, such as {NOBODY}:{NOBODY}"
    ))
}

pub fn write_to_request(appearance: Appearance, limits: &Limits, request: &mut Request) {
    let Appearance::Container {
        user,
        group,
        workspace,
        tmp,
    } = appearance
    else {
        return;
    };
    request.flags |= wire::CONTAINER;
    request.shown = [u64::from(user), u64::from(group)];
    request.rooms = rooms([workspace, tmp, tmp], limits);
}

/// The sizes of the file systems: `wanted`, or proportional shares if the disk limit is smaller than their sum.
fn rooms(wanted: [u64; ROOMS], limits: &Limits) -> [FileSystemBounds; ROOMS] {
    let all = wanted.iter().map(|bytes| u128::from(*bytes)).sum::<u128>().max(1);
    let share = |of: u64, wanted: u64| {
        let share = u128::from(of) * u128::from(wanted) / all;
        u64::try_from(share).unwrap_or(of)
    };
    wanted.map(|wanted| FileSystemBounds {
        // The kernel reads 0 as unlimited.
        bytes: (share(limits.disk, wanted).min(wanted) / PAGE * PAGE).max(PAGE),
        inodes: share(limits.inodes, wanted).max(MIN_INODES),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn file_systems_share_the_limits() {
        let check = |wanted: [u64; ROOMS], disk, inodes, expected: [(u64, u64); ROOMS]| {
            let limits = Limits {
                disk,
                inodes,
                ..Limits::default()
            };
            let found = rooms(wanted, &limits).map(|room| (room.bytes, room.inodes));
            assert_eq!(found, expected, "{wanted:?} of {disk} and {inodes}");
        };
        let usual = [128 * MIB, 64 * MIB, 64 * MIB];
        let whole = [(128 * MIB, 10_000), (64 * MIB, 5_000), (64 * MIB, 5_000)];
        check(usual, 256 * MIB, 20_000, whole);
        check(usual, 4096 * MIB, 20_000, whole);
        check(usual, 8 * MIB, 100, [(4 * MIB, 50), (2 * MIB, 25), (2 * MIB, 25)]);
        check(usual, 0, 0, [(PAGE, MIN_INODES); ROOMS]);
        check([0; ROOMS], 256 * MIB, 20_000, [(PAGE, MIN_INODES); ROOMS]);
        check([u64::MAX; ROOMS], 3 * PAGE, 9, [(PAGE, 3); ROOMS]);
    }

    #[test]
    fn nobody_seems_to_be_root() {
        let check = |user, group, expected: bool| {
            let appearance = Appearance::Container {
                user,
                group,
                workspace: MIB,
                tmp: MIB,
            };
            assert_eq!(validate(appearance).is_ok(), expected, "{user}:{group}");
        };
        check(NOBODY, NOBODY, true);
        check(1000, 1, true);
        check(0, 1000, false);
        check(1000, 0, false);
        check(u32::MAX, 1000, false);
        assert_eq!(validate(Appearance::Codeyard), Ok(()));
    }
}

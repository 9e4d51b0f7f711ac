//! What sessions look like from inside, in numbers: who they seem to be, and how much they may write where.

use jail::session::wire::{self, ROOMS, Request, Room};
use jail::spec::{Appearance, ZYGOTE_USER};
use types::Limits;

/// Who nobody is on most systems, and as whom the kernel shows owners that a session has no number for.
const NOBODY: u32 = 65_534;
/// Bytes of a page: what a file system in memory is measured in.
const PAGE: u64 = 4096;
/// Fewest inodes of a place: itself and one file.
const FEWEST: u64 = 2;

/// Who a session seems to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Name of the user.
    pub name: &'static str,
    /// Name of the group.
    pub group_name: &'static str,
    /// Number of the user.
    pub user: u32,
    /// Number of the group.
    pub group: u32,
    /// The home directory.
    pub home: &'static str,
}

impl Person {
    /// The user of sessions of that appearance.
    pub fn of(appearance: Appearance) -> Self {
        match appearance {
            Appearance::Codeyard => Self {
                name: "user",
                group_name: "user",
                user: ZYGOTE_USER,
                group: ZYGOTE_USER,
                home: "/home",
            },
            Appearance::Container { user, group, .. } => Self {
                name: if user == NOBODY { "nobody" } else { "user" },
                group_name: if group == NOBODY { "nogroup" } else { "user" },
                user,
                group,
                home: "/workspace",
            },
        }
    }

    /// `/etc/passwd` and `/etc/group`; in a container with those whom the kernel shows as owners of all that is not the
    /// session's.
    pub fn files(&self, appearance: Appearance) -> [String; 2] {
        let Self {
            name,
            group_name,
            user,
            group,
            home,
        } = self;
        let mut passwd = format!("{name}:x:{user}:{group}:{name}:{home}:/bin/bash\n");
        let mut groups = format!("{group_name}:x:{group}:\n");
        if appearance != Appearance::Codeyard && *user != NOBODY {
            passwd += &format!("nobody:x:{NOBODY}:{NOBODY}:nobody:/nonexistent:/usr/sbin/nologin\n");
        }
        if appearance != Appearance::Codeyard && *group != NOBODY {
            groups += &format!("nogroup:x:{NOBODY}:\n");
        }
        [passwd, groups]
    }
}

/// Why no session can look like that, with the remedy; `None` if sessions can.
pub fn mistake(appearance: Appearance) -> Option<String> {
    let Appearance::Container { user, group, .. } = appearance else {
        return None;
    };
    let good = |number: u32| (1..u32::MAX).contains(&number);
    (!good(user) || !good(group)).then(|| {
        format!(
            "sessions cannot look like user {user} and group {group}: they are never root, nor seem to be; name numbers \
             from 1 to 4294967294, such as {NOBODY}:{NOBODY}"
        )
    })
}

/// Asks for that appearance in a request for a session with these limits.
pub fn ask(appearance: Appearance, limits: &Limits, request: &mut Request) {
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

/// The bounds of the places: what is wanted, or a smaller share where the limit on disk is smaller than all of them.
fn rooms(wanted: [u64; ROOMS], limits: &Limits) -> [Room; ROOMS] {
    let all = wanted.iter().map(|bytes| u128::from(*bytes)).sum::<u128>().max(1);
    let share = |of: u64, wanted: u64| {
        let share = u128::from(of) * u128::from(wanted) / all;
        u64::try_from(share).unwrap_or(of)
    };
    wanted.map(|wanted| Room {
        // 0 would be no bound at all.
        bytes: (share(limits.disk, wanted).min(wanted) / PAGE * PAGE).max(PAGE),
        inodes: share(limits.inodes, wanted).max(FEWEST),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn places_share_the_limits() {
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
        check(usual, 0, 0, [(PAGE, FEWEST); ROOMS]);
        check([0; ROOMS], 256 * MIB, 20_000, [(PAGE, FEWEST); ROOMS]);
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
            assert_eq!(mistake(appearance).is_none(), expected, "{user}:{group}");
        };
        check(NOBODY, NOBODY, true);
        check(1000, 1, true);
        check(0, 1000, false);
        check(1000, 0, false);
        check(u32::MAX, 1000, false);
        assert_eq!(mistake(Appearance::Codeyard), None);
    }
}

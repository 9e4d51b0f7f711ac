//! The user that a session sees as its own.

use jail::spec::{Appearance, ZYGOTE_USER};

/// `nobody` and `nogroup` on most systems. The kernel also shows this number for owners without a number in the
/// session's user namespace.
pub const NOBODY: u32 = 65_534;

/// User and group of a session as programs in the session see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestUser {
    /// User name.
    pub name: &'static str,
    /// Group name.
    pub group_name: &'static str,
    /// User id.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// Absolute path.
    pub home: &'static str,
}

impl GuestUser {
    /// The user of sessions with this appearance.
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

    /// The text of `/etc/passwd` and of `/etc/group`. A container also lists `nobody` and `nogroup`, because the
    /// kernel shows them as owners of other users' files.
    pub fn passwd_and_group(&self, appearance: Appearance) -> [String; 2] {
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

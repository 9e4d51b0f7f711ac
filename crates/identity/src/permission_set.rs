//! Sets of permissions, as bits.

use std::fmt;

use crate::{Permission, UnknownWord};

/// Displayed as names separated by a space, in the order of [`Permission::ALL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PermissionSet(u64);

// A 65th permission needs a wider set.
const _: () = assert!(Permission::ALL.len() <= 64);

// === impl PermissionSet ===

impl PermissionSet {
    /// No permission.
    pub const NONE: PermissionSet = PermissionSet(0);

    /// Every permission.
    pub const ALL: PermissionSet = PermissionSet::of(Permission::ALL);

    /// These permissions.
    pub const fn of(permissions: &[Permission]) -> PermissionSet {
        let mut bits = 0;
        let mut rest = permissions;
        while let [first, others @ ..] = rest {
            bits |= 1 << *first as u64;
            rest = others;
        }
        PermissionSet(bits)
    }

    /// Reads names separated by white space, as [`fmt::Display`] writes them.
    ///
    /// # Errors
    /// The first name that is unknown.
    pub fn read(names: &str) -> Result<PermissionSet, UnknownWord> {
        names.split_ascii_whitespace().map(str::parse).collect()
    }

    /// Whether the permission is in the set.
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u64) != 0
    }

    /// Whether the other set is a subset.
    pub const fn covers(self, other: PermissionSet) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Permissions in either set.
    #[must_use]
    pub const fn union(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 | other.0)
    }

    /// Permissions in both sets.
    #[must_use]
    pub const fn intersection(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & other.0)
    }

    /// Permissions that the other set lacks.
    #[must_use]
    pub const fn without(self, other: PermissionSet) -> PermissionSet {
        PermissionSet(self.0 & !other.0)
    }

    /// The permissions in the order of [`Permission::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        let all = Permission::ALL.iter().copied();
        all.filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        let sets = permissions.into_iter().map(|one| PermissionSet::of(&[one]));
        sets.fold(PermissionSet::NONE, PermissionSet::union)
    }
}

impl fmt::Display for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, permission) in self.iter().enumerate() {
            let separator = if place == 0 { "" } else { " " };
            write!(f, "{separator}{permission}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_set_is_read_as_it_is_written() {
        let check = |text: &str, shown: &str| {
            let read =
                PermissionSet::read(text).map_or_else(|error| error.to_string(), |set| set.to_string());
            assert_eq!(read, shown, "{text}");
        };
        check("", "");
        check("servers.use", "servers.use");
        check("  skills.read servers.read\n", "servers.read skills.read");
        check("servers.read servers.read", "servers.read");
        check(
            "servers.use servers.raed",
            "unknown permission 'servers.raed'; did you mean 'servers.read'?",
        );
        check(&PermissionSet::ALL.to_string(), &PermissionSet::ALL.to_string());
        assert_eq!(PermissionSet::ALL.iter().count(), Permission::ALL.len());
    }

    proptest! {
        #[test]
        fn sets_are_sets(one: u64, other: u64) {
            let (one, other) = (PermissionSet(one & PermissionSet::ALL.0), PermissionSet(other & PermissionSet::ALL.0));
            prop_assert_eq!(PermissionSet::read(&one.to_string()).ok(), Some(one));
            prop_assert_eq!(one.iter().collect::<PermissionSet>(), one);
            prop_assert_eq!(one.union(other).without(other), one.without(other));
            prop_assert!(one.covers(one.intersection(other)) && one.union(other).covers(one));
            prop_assert_eq!(one.covers(other), other.without(one).is_empty());
        }
    }
}

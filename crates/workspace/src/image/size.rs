//! How large an image is: the quota, and what ext4 itself needs beside it.

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// From here on blocks have 4 KiB, below 1 KiB: a small image can then hold more small files.
const LARGE: u64 = 512 * MIB;
/// Bytes of an inode on disk.
const INODE: u64 = 256;
/// Bytes of the description of a block group.
const DESCRIPTOR: u64 = 64;
/// Groups with a copy of the descriptions of all groups; powers of 3, 5 and 7 are so few.
const COPIES: u64 = 30;
/// What survives a power failure is what the journal holds.
pub(super) const JOURNAL: u64 = 4 * MIB;
/// Blocks for root alone, so that codeyard can make a session's directory in a full image.
pub(super) const RESERVED: u64 = 64;
/// The file system's own inodes, and those that codeyard makes: two directories, the lock, `lost+found`.
const OWN_INODES: u64 = 16;
/// `lost+found` and the directories that codeyard makes.
const OWN_BLOCKS: u64 = 24;
/// `mkfs.ext4` rounds the inodes of a group down to a multiple of this.
const INODE_STEP: u64 = 8;
/// ext4 keeps one part in so many of the blocks, and at most so many blocks, for its own growth.
const KEPT_PART: u64 = 50;
const MOST_KEPT: u64 = 4096;
/// Bytes for each file where the settings have no bound on files.
const USUAL_FILE: u64 = 16 * KIB;
/// Longest label of an ext4 file system.
pub(super) const LABEL: usize = 16;

/// What an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    quota: u64,
    inodes: u64,
}

impl Size {
    /// For a principal's bounds; `None` where bytes have none.
    pub(crate) fn of(quota: u64, inodes: u64) -> Option<Size> {
        let quota = quota.next_multiple_of(MIB);
        let wanted = if inodes == 0 { quota / USUAL_FILE } else { inodes };
        (quota > 0).then_some(Size {
            quota,
            inodes: wanted,
        })
    }

    /// The label of its file system, by which an image of another size is recognised.
    pub(super) fn label(self) -> String {
        format!("{:x}/{:x}", self.quota / MIB, self.inodes)
    }

    pub(super) fn block(self) -> u64 {
        if self.quota < LARGE { KIB } else { 4 * KIB }
    }

    /// Inodes of the whole image; ext4 has at most one for each block.
    pub(super) fn inodes(self) -> u64 {
        self.wanted_inodes() + self.groups() * INODE_STEP
    }

    fn wanted_inodes(self) -> u64 {
        self.inodes.min(self.quota / self.block()) + OWN_INODES
    }

    /// Block groups. Their own blocks hardly ever make another one necessary; one more is provided for.
    fn groups(self) -> u64 {
        let blocks = self.data() + self.wanted_inodes() * INODE / self.block();
        blocks.div_ceil(8 * self.block()) + 1
    }

    fn data(self) -> u64 {
        let block = self.block();
        self.quota / block + JOURNAL / block + RESERVED + OWN_BLOCKS
    }

    /// Blocks of the whole image.
    pub(super) fn blocks(self) -> u64 {
        let block = self.block();
        let groups = self.groups();
        let inodes_each = self.inodes().div_ceil(groups).next_multiple_of(block / INODE);
        let copies = (1 + (groups * DESCRIPTOR).div_ceil(block)) * groups.min(COPIES);
        let used = self.data() + groups * (inodes_each * INODE / block + 2) + copies;
        used + (used / (KEPT_PART - 1)).min(MOST_KEPT)
    }

    /// Bytes of the whole image.
    pub(super) fn bytes(self) -> u64 {
        self.blocks() * self.block()
    }
}

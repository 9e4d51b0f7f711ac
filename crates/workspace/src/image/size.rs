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
/// Journals, without which a power failure would destroy files: of 1 MiB below this quota, else of 4 MiB.
const LARGE_JOURNAL: u64 = 32 * MIB;
/// Blocks for root alone, so that codeyard can make a session's directory in a full image.
const RESERVED: u64 = 64;
/// The file system's own inodes, and those that codeyard makes: two directories, the lock, `lost+found`.
const OWN_INODES: u64 = 16;
/// `lost+found` and the directories that codeyard makes.
const OWN_BLOCKS: u64 = 32;
/// `mkfs.ext4` rounds the inodes of a group down to a multiple of this.
const INODE_STEP: u64 = 8;
/// ext4 keeps one part in so many of the blocks, and at most so many blocks, for its own growth.
const KEPT_PART: u64 = 50;
const MOST_KEPT: u64 = 4096;
/// Blocks that the last group has beside its own.
const LEAST_DATA: u64 = 64;
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

    /// MiB of its journal.
    pub(super) fn journal(self) -> u64 {
        if self.quota < LARGE_JOURNAL { 1 } else { 4 }
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
        self.quota / block + self.journal() * MIB / block + RESERVED + OWN_BLOCKS
    }

    /// Blocks of the whole image.
    pub(super) fn blocks(self) -> u64 {
        self.needed_blocks() + self.padding()
    }

    /// Blocks for root alone: those of its own, and those that only make the last group large enough.
    pub(super) fn reserved(self) -> u64 {
        RESERVED + self.padding()
    }

    fn needed_blocks(self) -> u64 {
        let used = self.data() + self.groups() * (self.table() + 2) + self.copy() * self.groups().min(COPIES);
        used + (used / (KEPT_PART - 1)).min(MOST_KEPT)
    }

    /// `mkfs.ext4` leaves away a last group that hardly holds its own blocks.
    fn padding(self) -> u64 {
        let smallest = self.table() + 2 + self.copy() + LEAST_DATA;
        match self.needed_blocks() % (8 * self.block()) {
            0 => 0,
            last => smallest.saturating_sub(last),
        }
    }

    /// Blocks of the inodes of one group.
    fn table(self) -> u64 {
        let inodes = self.inodes().div_ceil(self.groups());
        inodes.next_multiple_of(self.block() / INODE) * INODE / self.block()
    }

    /// Blocks of a copy of the superblock and the descriptions of all groups.
    fn copy(self) -> u64 {
        1 + (self.groups() * DESCRIPTOR).div_ceil(self.block())
    }

    /// Bytes of the whole image.
    pub(super) fn bytes(self) -> u64 {
        self.blocks() * self.block()
    }
}

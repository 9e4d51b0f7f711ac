//! Size of an image: the quota plus the space that ext4 itself needs.

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Bytes from which an image has blocks of 4 KiB. Smaller images have blocks of 1 KiB, so that they hold more small
/// files.
const LARGE: u64 = 512 * MIB;
/// Bytes of an inode on disk.
const INODE: u64 = 256;
/// Bytes of a block group's descriptor.
const DESCRIPTOR: u64 = 64;
/// Block groups that hold a copy of all descriptors: the groups whose number is a power of 3, 5 or 7. An image has at
/// most this many of them.
const COPIES: u64 = 30;
/// Journals have 1 MiB below this quota, and 4 MiB from this quota on. Without a journal a power failure would destroy
/// files.
const LARGE_JOURNAL: u64 = 32 * MIB;
/// Blocks reserved for root, so that codeyard can create a session's directory in a full image.
const RESERVED: u64 = 64;
/// Inodes of ext4 itself and of codeyard: two directories, the lock, `lost+found`.
const OWN_INODES: u64 = 16;
/// Blocks of `lost+found` and codeyard's directories.
const OWN_BLOCKS: u64 = 32;
/// `mkfs.ext4` rounds the inodes of a group down to a multiple of this.
const INODE_STEP: u64 = 8;
/// ext4 keeps one of this many blocks for its own growth, up to a maximum.
const KEPT_PART: u64 = 50;
const MOST_KEPT: u64 = 4096;
/// Fewest data blocks of the last group.
const LEAST_DATA: u64 = 64;
/// Bytes per file, for settings that do not limit the number of files.
const USUAL_FILE: u64 = 16 * KIB;
/// Bytes of an ext4 label.
pub(super) const LABEL: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    quota: u64,
    inodes: u64,
}

impl Size {
    /// The size for a principal's bounds; `None` if the bytes have no bound.
    pub(crate) fn of(quota: u64, inodes: u64) -> Option<Size> {
        let quota = quota.next_multiple_of(MIB);
        let wanted = if inodes == 0 { quota / USUAL_FILE } else { inodes };
        (quota > 0).then_some(Size {
            quota,
            inodes: wanted,
        })
    }

    /// The label. A different label shows that the image has another size.
    pub(super) fn label(self) -> String {
        format!("{:x}/{:x}", self.quota / MIB, self.inodes)
    }

    pub(super) fn block(self) -> u64 {
        if self.quota < LARGE { KIB } else { 4 * KIB }
    }

    /// MiB of the journal.
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

    /// Block groups, with one group more than needed, because metadata blocks rarely need another group.
    fn groups(self) -> u64 {
        let blocks = self.data() + self.wanted_inodes() * INODE / self.block();
        blocks.div_ceil(8 * self.block()) + 1
    }

    fn data(self) -> u64 {
        let block = self.block();
        self.quota / block + self.journal() * MIB / block + RESERVED + OWN_BLOCKS
    }

    pub(super) fn blocks(self) -> u64 {
        self.needed_blocks() + self.padding()
    }

    /// Blocks for root: the reserve, and the blocks that only make the last group large enough.
    pub(super) fn reserved(self) -> u64 {
        RESERVED + self.padding()
    }

    fn needed_blocks(self) -> u64 {
        let used = self.data() + self.groups() * (self.table() + 2) + self.copy() * self.groups().min(COPIES);
        used + (used / (KEPT_PART - 1)).min(MOST_KEPT)
    }

    /// Blocks added because `mkfs.ext4` drops a last group that has little room besides its metadata.
    fn padding(self) -> u64 {
        let smallest = self.table() + 2 + self.copy() + LEAST_DATA;
        match self.needed_blocks() % (8 * self.block()) {
            0 => 0,
            last => smallest.saturating_sub(last),
        }
    }

    /// Blocks of one group's inodes.
    fn table(self) -> u64 {
        let inodes = self.inodes().div_ceil(self.groups());
        inodes.next_multiple_of(self.block() / INODE) * INODE / self.block()
    }

    /// Blocks of a copy of the superblock and all descriptors.
    fn copy(self) -> u64 {
        1 + (self.groups() * DESCRIPTOR).div_ceil(self.block())
    }

    pub(super) fn bytes(self) -> u64 {
        self.blocks() * self.block()
    }
}

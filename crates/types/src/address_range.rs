//! Ranges of IP addresses, as `10.0.0.0/8`.

use std::net::IpAddr;
use std::str::FromStr;

/// Addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    /// In its canonical form: an IPv4 address written as IPv6 is IPv4.
    first: IpAddr,
    /// Leading bits that all addresses share.
    prefix: u32,
}

/// Why a text names no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRange {
    /// Neither an address nor a range.
    #[error("`{0}` is not an IP address; write one such as 127.0.0.1, or a range such as 10.0.0.0/8")]
    NoAddress(String),
    /// The prefix is not a number of bits of the address.
    #[error("`{0}` has no valid prefix; write a number from 1 to {1} behind the slash")]
    NoPrefix(String, u32),
    /// A prefix of zero bits.
    #[error("`{0}` contains every address; name those that you trust")]
    Everything(String),
    /// An IPv4 address in the form of IPv6, with a prefix of that form.
    #[error("`{0}` writes IPv4 as IPv6; write an IPv4 range such as 10.0.0.0/8")]
    Mapped(String),
    /// The address has bits behind the prefix.
    #[error("`{0}` has bits behind its prefix; write {1}")]
    BitsBehind(String, String),
}

impl AddressRange {
    /// Whether the address is one of the range.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        width(address) == width(self.first) && masked(address, self.prefix) == self.first
    }
}

impl FromStr for AddressRange {
    type Err = BadRange;

    fn from_str(text: &str) -> Result<AddressRange, BadRange> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let first: IpAddr = address
            .parse()
            .map_err(|_| BadRange::NoAddress(text.to_owned()))?;
        let Some(prefix) = prefix else {
            let first = first.to_canonical();
            let prefix = width(first);
            return Ok(AddressRange { first, prefix });
        };
        if first != first.to_canonical() {
            return Err(BadRange::Mapped(text.to_owned()));
        }
        let width = width(first);
        let is_number = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let bits = prefix.parse().ok().filter(|bits| is_number && *bits <= width);
        let prefix = bits.ok_or_else(|| BadRange::NoPrefix(text.to_owned(), width))?;
        if prefix == 0 {
            return Err(BadRange::Everything(text.to_owned()));
        }
        let begin = masked(first, prefix);
        match begin == first {
            true => Ok(AddressRange { first, prefix }),
            false => Err(BadRange::BitsBehind(text.to_owned(), format!("{begin}/{prefix}"))),
        }
    }
}

/// Bits of an address of this family.
fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => u32::BITS,
        IpAddr::V6(_) => u128::BITS,
    }
}

/// The address without the bits behind a prefix of at least one bit.
fn masked(address: IpAddr, prefix: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX << (u32::BITS - prefix);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX << (u128::BITS - prefix);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(text: &str) -> Result<AddressRange, String> {
        text.parse::<AddressRange>().map_err(|bad| bad.to_string())
    }

    #[test]
    fn a_range_contains_its_addresses() {
        for (text, inside, outside) in [
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("10.0.0.0/8", "::ffff:10.1.2.3", "::10.1.2.3"),
            ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"),
            ("fd00::/8", "fd12::1", "fe80::1"),
            ("::1", "::1", "127.0.0.1"),
        ] {
            let range = range(text).unwrap();
            assert!(range.contains(inside.parse().unwrap()), "{text} {inside}");
            assert!(!range.contains(outside.parse().unwrap()), "{text} {outside}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_remedy() {
        for (text, told) in [
            ("", "is not an IP address"),
            ("localhost", "is not an IP address"),
            ("10.0.0.0/33", "write a number from 1 to 32"),
            ("10.0.0.0/", "write a number from 1 to 32"),
            ("10.0.0.0/+8", "write a number from 1 to 32"),
            ("::/129", "write a number from 1 to 128"),
            ("0.0.0.0/0", "contains every address"),
            ("::/0", "contains every address"),
            ("10.1.2.3/8", "write 10.0.0.0/8"),
            ("::ffff:10.0.0.0/104", "write an IPv4 range"),
        ] {
            let error = range(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9a-f:./]{0,24}") {
            let _ = range(&text);
        }

        #[test]
        fn addresses_with_the_prefix_are_inside(first: u32, other: u32, prefix in 1..=32_u32) {
            let begin = masked(IpAddr::V4(first.into()), prefix);
            let range = range(&format!("{begin}/{prefix}")).unwrap();
            prop_assert!(range.contains(IpAddr::V4(first.into())));
            let has_prefix = first >> (32 - prefix) == other >> (32 - prefix);
            prop_assert_eq!(range.contains(IpAddr::V4(other.into())), has_prefix);
        }
    }
}

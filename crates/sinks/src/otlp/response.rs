//! `ExportLogsServiceResponse`: the number of records that a collector refused in an accepted request.

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;
const FIXED32: u64 = 5;

/// One field of a message.
enum ProtobufValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Any other wire type.
    Other,
}

/// The number of refused records; 0 for an unreadable answer, because the status reports success.
pub(super) fn rejected(body: &[u8]) -> u64 {
    let partial_success = field(body, 1);
    match partial_success {
        Some(ProtobufValue::Bytes(message)) => match field(message, 1) {
            Some(ProtobufValue::Number(rejected)) => i64::try_from(rejected).map_or(0, i64::unsigned_abs),
            _ => 0,
        },
        _ => 0,
    }
}

/// The first field with this number.
fn field(mut message: &[u8], wanted: u64) -> Option<ProtobufValue<'_>> {
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let value = match key & 7 {
            VARINT => ProtobufValue::Number(varint(&mut message)?),
            LENGTH => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (bytes, rest) = message.split_at_checked(length)?;
                message = rest;
                ProtobufValue::Bytes(bytes)
            }
            form @ (FIXED64 | FIXED32) => {
                let length = if form == FIXED64 { 8 } else { 4 };
                message = message.split_at_checked(length)?.1;
                ProtobufValue::Other
            }
            _ => return None,
        };
        if key >> 3 == wanted {
            return Some(value);
        }
    }
    None
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::protobuf::ProtobufMessage;
    use super::*;

    #[test]
    fn refused_records_are_counted() {
        let mut partial = ProtobufMessage::default();
        partial.varint(1, 300).text(2, "too old");
        let mut answer = ProtobufMessage::default();
        answer.fixed64(9, 1).message(1, &partial);
        assert_eq!(rejected(&answer.into_bytes()), 300);
        for answer in [&b""[..], b"{}", b"\x0a\x00", b"\x0a\x05\x08", b"\xff\xff"] {
            assert_eq!(rejected(answer), 0, "{answer:?}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_is_too_odd(answer in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = rejected(&answer);
        }
    }
}

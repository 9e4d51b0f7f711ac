//! Writes protobuf: only the field types that OpenTelemetry's logs and spans need.

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;

/// One message.
#[derive(Debug, Default)]
pub(super) struct ProtobufMessage(Vec<u8>);

// === impl ProtobufMessage ===

impl ProtobufMessage {
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn varint(&mut self, field: u64, value: u64) -> &mut ProtobufMessage {
        self.key(field, VARINT);
        self.raw_varint(value);
        self
    }

    pub(super) fn fixed64(&mut self, field: u64, value: u64) -> &mut ProtobufMessage {
        self.key(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn text(&mut self, field: u64, value: &str) -> &mut ProtobufMessage {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(&mut self, field: u64, value: &ProtobufMessage) -> &mut ProtobufMessage {
        self.bytes(field, &value.0)
    }

    pub(super) fn bytes(&mut self, field: u64, value: &[u8]) -> &mut ProtobufMessage {
        self.key(field, LENGTH);
        self.raw_varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    fn key(&mut self, field: u64, form: u64) {
        self.raw_varint(field << 3 | form);
    }

    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(low_bits(value) | 0x80);
            value >>= 7;
        }
        self.0.push(low_bits(value));
    }
}

/// The lowest seven bits.
fn low_bits(value: u64) -> u8 {
    (value & 0x7f) as u8
}

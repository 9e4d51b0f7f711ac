//! Where a request belongs in a distributed trace: W3C Trace Context, as clients send it and servers receive it.

use std::fmt;

/// Longest `tracestate` that is passed on, in bytes: what W3C asks every participant to keep.
const MAX_STATE: usize = 512;
/// Length of `traceparent` of version 00.
const LENGTH: usize = 55;

/// One place in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// Never zero.
    pub trace: u128,
    /// The span that sent the request; never zero.
    pub span: u64,
    /// Whether the sender records the trace.
    pub sampled: bool,
    /// Values of other vendors, passed on unread.
    pub state: Option<String>,
}

// === impl TraceContext ===

impl TraceContext {
    /// Reads `traceparent` and `tracestate`. A text that W3C calls invalid is no context.
    pub fn read(parent: &str, state: Option<&str>) -> Option<TraceContext> {
        // What follows in later versions is theirs.
        let is_plain = parent
            .bytes()
            .take(LENGTH)
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
        let mut parts = parent.split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let is_known = version.len() == 2 && version != "ff";
        // Later versions may add fields.
        let fits = parent.len() == LENGTH || (version != "00" && parts.next().is_some());
        if !is_plain || !is_known || !fits || trace.len() != 32 || span.len() != 16 || flags.len() != 2 {
            return None;
        }
        let is_state = |state: &&str| {
            (1..=MAX_STATE).contains(&state.len()) && state.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        };
        Some(TraceContext {
            trace: u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?,
            span: u64::from_str_radix(span, 16).ok().filter(|span| *span != 0)?,
            sampled: u8::from_str_radix(flags, 16).ok()? & 1 == 1,
            state: state.filter(is_state).map(str::to_owned),
        })
    }
}

/// As `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{:032x}-{:016x}-{flags:02x}", self.trace, self.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

    #[test]
    fn a_valid_parent_is_written_as_it_was_read() {
        let context = TraceContext::read(VALID, Some("vendor=1")).expect("valid");
        assert_eq!(context.to_string(), VALID);
        assert_eq!(
            (context.sampled, context.state.as_deref()),
            (true, Some("vendor=1"))
        );
        let later = format!("01{}-more", &VALID[2..]);
        assert_eq!(
            TraceContext::read(&later, None)
                .expect("a later version")
                .to_string(),
            VALID
        );
    }

    #[test]
    fn what_w3c_calls_invalid_is_no_context() {
        for wrong in [
            "",
            "00",
            "00-0AF7651916CD43DD8448EB211C80319C-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01-x",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-0",
            "ff-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
            "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01\n",
            "00-+af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::read(wrong, None), None, "{wrong}");
        }
        let long = "a".repeat(MAX_STATE + 1);
        for state in ["", "a\nb", long.as_str()] {
            let context = TraceContext::read(VALID, Some(state)).expect("valid");
            assert_eq!(context.state, None, "{state}");
        }
    }
}

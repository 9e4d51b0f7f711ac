//! Reads and writes durations such as `60s` and sizes such as `1 GiB`, always with a
//! unit.

use std::time::Duration;

const KIB: u64 = 1024;

/// Reads `250ms`, `60s` or `5m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text).ok_or_else(|| wrong_duration(text))?;
    let ms_per_unit = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        _ => return Err(wrong_duration(text)),
    };
    number
        .checked_mul(ms_per_unit)
        .map(Duration::from_millis)
        .ok_or_else(|| wrong_duration(text))
}

/// Reads `45s`, `30m`, `12h` or `7d`.
pub fn age(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("`{text}` is not an age; write a whole number and `s`, `m`, `h` or `d`, such as `30d`");
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let seconds_per_unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return Err(wrong()),
    };
    number
        .checked_mul(seconds_per_unit)
        .map(Duration::from_secs)
        .ok_or_else(wrong)
}

/// Reads `512 B`, `64 KiB`, `256 MiB`, `1 GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split(text).ok_or_else(|| wrong_size(text))?;
    let bytes_per_unit = match unit {
        "B" => 1,
        "KiB" => KIB,
        "MiB" => KIB * KIB,
        "GiB" => KIB * KIB * KIB,
        "K" | "KB" | "kB" | "M" | "MB" | "G" | "GB" => {
            let binary = unit.chars().next().unwrap_or('M').to_ascii_uppercase();
            return Err(format!("`{text}` is not a size; write `{number} {binary}iB`"));
        }
        _ => return Err(wrong_size(text)),
    };
    number.checked_mul(bytes_per_unit).ok_or_else(|| wrong_size(text))
}

/// As written in settings.
pub fn show_duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    if ms.is_multiple_of(1000) {
        format!("{}s", ms / 1000)
    } else {
        format!("{ms}ms")
    }
}

/// As written in settings.
pub fn show_size(bytes: u64) -> String {
    let units = [(KIB * KIB * KIB, "GiB"), (KIB * KIB, "MiB"), (KIB, "KiB")];
    units
        .into_iter()
        .find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit))
        .map_or_else(
            || format!("{bytes} B"),
            |(unit, name)| format!("{} {name}", bytes / unit),
        )
}

fn split(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    Some((text[..end].parse().ok()?, text[end..].trim_start()))
}

fn wrong_duration(text: &str) -> String {
    format!("`{text}` is not a duration; write a whole number and `ms`, `s` or `m`, such as `60s`")
}

fn wrong_size(text: &str) -> String {
    format!("`{text}` is not a size; write a whole number and `B`, `KiB`, `MiB` or `GiB`, such as `256 MiB`")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration(" 60 s "), Ok(Duration::from_secs(60)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in [
            "",
            "60",
            "s",
            "1.5s",
            "-1s",
            "60 sec",
            "1h",
            "99999999999999999999s",
            "18446744073709551615m",
        ] {
            assert_eq!(duration(wrong), Err(wrong_duration(wrong)));
        }
    }

    #[test]
    fn ages() {
        assert_eq!(age("45s"), Ok(Duration::from_secs(45)));
        assert_eq!(age("2 h"), Ok(Duration::from_secs(7200)));
        assert_eq!(age("30d"), Ok(Duration::from_secs(2_592_000)));
        for wrong in [
            "",
            "30",
            "d",
            "-1d",
            "1.5h",
            "1w",
            "500ms",
            "99999999999999999999d",
        ] {
            assert!(
                age(wrong).is_err_and(|error| error.contains("such as `30d`")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(size("0 B"), Ok(0));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("1 GiB"), Ok(1 << 30));
        assert_eq!(
            size("1 GB"),
            Err("`1 GB` is not a size; write `1 GiB`".to_owned())
        );
        for wrong in [
            "",
            "1024",
            "1.5 GiB",
            "-1 MiB",
            "1 TiB",
            "18446744073709551615 GiB",
        ] {
            assert_eq!(size(wrong), Err(wrong_size(wrong)));
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_can_be_read(bytes in any::<u64>(), ms in 0_u64..1 << 40) {
            prop_assert_eq!(size(&show_size(bytes)), Ok(bytes));
            prop_assert_eq!(duration(&show_duration(Duration::from_millis(ms))), Ok(Duration::from_millis(ms)));
        }
    }
}

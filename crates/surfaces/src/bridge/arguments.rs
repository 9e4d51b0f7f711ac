//! Checks the arguments of `run_python`, with the messages of the bridge that it replaces.

use rmcp::model::JsonObject;
use serde_json::Value;

/// Maximum size of a program in bytes. A larger program should read its data from a tool or file.
const MAX_CODE: usize = 8 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) code: String,
    /// Server names as the caller wrote them.
    pub(super) servers: Vec<String>,
    /// Seconds, not clamped yet.
    pub(super) timeout: Option<i128>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadArguments {
    #[error("Missing 'code' argument")]
    Code,
    #[error("'code' has {0} bytes; it may have {MAX_CODE}")]
    CodeTooLong(usize),
    #[error("'servers' must be a list")]
    Servers,
    #[error("'timeout' must be an integer")]
    Timeout,
}

/// Reads the arguments. Ignores unknown names, as the replaced bridge does.
pub(super) fn read(arguments: &JsonObject) -> Result<Arguments, BadArguments> {
    // Some clients write `null` for an absent argument.
    let get = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let code = match get("code") {
        Some(Value::String(code)) if code.len() > MAX_CODE => {
            return Err(BadArguments::CodeTooLong(code.len()));
        }
        Some(Value::String(code)) if !code.trim().is_empty() => code.clone(),
        _ => return Err(BadArguments::Code),
    };
    let servers = match get("servers") {
        None => Vec::new(),
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned).ok_or(BadArguments::Servers))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(BadArguments::Servers),
    };
    let timeout = get("timeout")
        .map(|value| whole(value).ok_or(BadArguments::Timeout))
        .transpose()?;
    Ok(Arguments {
        code,
        servers,
        timeout,
    })
}

/// An integer of any size; `5.0` counts as an integer.
fn whole(value: &Value) -> Option<i128> {
    let Value::Number(number) = value else { return None };
    let float = || number.as_f64().filter(|float| float.fract() == 0.0);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what lies beyond is clamped in either form"
    )]
    number.as_i128().or_else(|| float().map(|float| float as i128))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(arguments: Value, expected: Result<(&[&str], Option<i128>), &str>) {
        let found = read(arguments.as_object().unwrap());
        let found = found
            .map(|found| (found.servers, found.timeout))
            .map_err(|bad| bad.to_string());
        let expected = expected
            .map(|(servers, timeout)| (servers.iter().map(|name| (*name).to_owned()).collect(), timeout));
        assert_eq!(found, expected.map_err(str::to_owned), "{arguments}");
    }

    #[test]
    fn what_is_good() {
        check(json!({"code": "1"}), Ok((&[], None)));
        check(
            json!({"code": "1", "servers": null, "timeout": null, "beyond": 1}),
            Ok((&[], None)),
        );
        check(
            json!({"code": "1", "servers": ["a", "b"], "timeout": 5}),
            Ok((&["a", "b"], Some(5))),
        );
        check(json!({"code": "1", "timeout": 5.0}), Ok((&[], Some(5))));
        check(json!({"code": "1", "timeout": -5}), Ok((&[], Some(-5))));
        check(json!({"code": "1", "timeout": 1e300}), Ok((&[], Some(i128::MAX))));
    }

    #[test]
    fn what_is_wrong() {
        const CODE: &str = "Missing 'code' argument";
        const SERVERS: &str = "'servers' must be a list";
        const TIMEOUT: &str = "'timeout' must be an integer";
        for code in [
            json!({}),
            json!({"code": ""}),
            json!({"code": " \n"}),
            json!({"code": 5}),
        ] {
            check(code, Err(CODE));
        }
        for servers in [json!("stub"), json!([1]), json!({})] {
            check(json!({"code": "1", "servers": servers}), Err(SERVERS));
        }
        for timeout in [json!("5"), json!(true), json!(2.5), json!([5])] {
            check(json!({"code": "1", "timeout": timeout}), Err(TIMEOUT));
        }
    }
}

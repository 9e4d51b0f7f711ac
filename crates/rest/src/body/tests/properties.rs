//! Properties of any body.

use proptest::prelude::*;

use super::*;

fn number(number: PolicyNumber) -> impl Strategy<Value = u64> {
    // Below, within and above the range.
    let high = *number.range().end();
    prop_oneof![0..=high, Just(high + 1), Just(u64::MAX)]
}

fn globs(glob: &'static str) -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(glob, 0..4)
}

/// A policy in any form; some policies are wrong.
fn any_policy() -> impl Strategy<Value = Value> {
    let numbers = PolicyNumber::ALL.map(|one| proptest::option::of(number(one)));
    let globs = (
        globs("/[a-z*]{1,4}(/\\*\\*)?"),
        globs("/[a-z]{1,4}"),
        globs("[a-z*]{1,3}/[a-z*]{1,3}"),
    );
    (numbers, globs, any::<[bool; 6]>()).prop_map(|(numbers, (read, deny, tools), flags)| {
        let [nests, flattens, http, calls, python, has_globs] = flags;
        let mut limits = json!({});
        for (one, value) in PolicyNumber::ALL.into_iter().zip(numbers) {
            if let Some(value) = value {
                limits[one.name()] = json!(value);
            }
        }
        let mut policy = if flattens {
            limits.clone()
        } else {
            json!({"limits": limits})
        };
        if nests {
            policy["permissions"] = json!({"network": {"allow_raw_http": http, "allowToolCalls": calls}});
            policy["runtimeRequirements"] = json!({"language": if python { "python" } else { "typescript" }});
        } else {
            policy["allow_raw_http"] = json!(http);
            policy["runtime"] = json!(if python { "python" } else { "deno" });
        }
        if has_globs {
            policy["permissions"]["filesystem"] = json!({"read": read, "deny": deny});
            policy["permissions"]["tools"] = json!({"allow": tools});
        }
        policy
    })
}

fn words() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-z-]{1,6}", 0..3)
}

fn any_server() -> impl Strategy<Value = Value> {
    let common = (
        "[a-zA-Z0-9 ä_-]{0,5}x",
        proptest::option::of("\\PC{0,20}"),
        words(),
        0..3_usize,
    );
    let rules = proptest::option::of((words(), words(), words()));
    let of_code = (
        any::<bool>(),
        rules,
        proptest::option::of(any_policy()),
        0..3_usize,
        any::<[bool; 2]>(),
    );
    (common, of_code).prop_map(|((name, description, tags, visibility), of_code)| {
        let (is_code, rules, policy, surface, [tokenizes, approves]) = of_code;
        let mut body = json!({
            "name": name, "description": description, "tags": tags, "team_id": "t",
            "visibility": Visibility::ALL[visibility].name(),
        });
        if is_code {
            body["type"] = json!("code_execution");
            body["surface"] = json!(types::CodeSurface::ALL[surface].name());
            body["skills_require_approval"] = json!(approves);
            body["sandbox_policy"] = json!(policy);
            if let Some((tags, servers, tools)) = rules {
                body["mount_rules"] =
                    json!({"include_tags": tags, "exclude_servers": servers, "includeTools": tools});
            }
            if tokenizes {
                body["tokenization"] = json!({"enabled": true});
            }
        }
        body
    })
}

/// Any JSON that names some members of bodies.
fn any_json() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
        Just(json!("code_execution")),
    ];
    let name = prop_oneof![
        "[a-zA-Z_]{0,6}".boxed(),
        proptest::sample::select(known()).prop_map(str::to_owned).boxed(),
        proptest::sample::select(vec![
            "limits",
            "permissions",
            "filesystem",
            "read",
            "maxMemoryMb",
            "types"
        ])
        .prop_map(str::to_owned)
        .boxed(),
    ];
    plain.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn read_policy(written: &Value) -> Option<SandboxPolicy> {
    let new = create(&with_policy(written)).ok()?;
    code(&new.settings).sandbox_policy.clone()
}

proptest! {
    #[test]
    fn a_policy_that_is_read_and_written_is_the_same_policy(written in any_policy()) {
        if let Some(policy) = read_policy(&written) {
            let once = sandbox_policy_json(&policy);
            let again = read_policy(&once);
            prop_assert_eq!(again.as_ref(), Some(&policy));
            prop_assert_eq!(again.map(|policy| sandbox_policy_json(&policy)), Some(once));
        }
    }

    #[test]
    fn no_policy_leaves_its_bounds(written in any_policy()) {
        if let Some(policy) = read_policy(&written) {
            for number in PolicyNumber::ALL {
                prop_assert!(number.range().contains(&policy.number(number)));
            }
        }
    }

    #[test]
    fn a_policy_is_refused_if_and_only_if_a_number_is_out_of_bounds(written in any_policy()) {
        let numbers = if written.get("limits").is_some() { &written["limits"] } else { &written };
        let is_within = PolicyNumber::ALL.into_iter().all(|number| {
            numbers[number.name()].as_u64().is_none_or(|value| number.range().contains(&value))
        });
        prop_assert_eq!(read_policy(&written).is_some(), is_within);
    }

    #[test]
    fn a_server_that_is_answered_and_written_back_is_unchanged(body in any_server()) {
        if let Ok(new) = create(&body) {
            let current = server(new.settings);
            let answer = serde_json::to_vec(&ServerView::of(&current)).map_err(|error| TestCaseError::fail(error.to_string()))?;
            for defaults in [CodeDefaults::default(), operator()] {
                prop_assert_eq!(update_server(&answer, &current, &defaults), Ok(current.settings.clone()));
            }
        }
    }

    #[test]
    fn any_json_is_a_server_or_refused(body in any_json()) {
        let current = server(created(&documented()));
        for read in [create(&body).map(|new| new.settings), update_server(body.to_string().as_bytes(), &current, &operator())] {
            match read {
                Err(RestError::Invalid(mistakes)) => prop_assert!(!mistakes.is_empty()),
                Err(problem) => prop_assert!(matches!(problem.status(), 400 | 409), "{}", problem),
                Ok(_) => {}
            }
        }
    }
}

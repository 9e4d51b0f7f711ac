//! `codeyard advise`: its judgement of look-ups, and its lines for the settings, used unchanged.

use serde_json::{Value, json};
use test_support::{CodeClient, Codeyard, CommandOutput, ServerDefinition, run};

async fn advise(codeyard: &Codeyard, args: &[&str]) -> CommandOutput {
    let ended = run(codeyard, &[&["advise"], args].concat(), "").await;
    assert_eq!(ended.code, 0, "{ended:?}");
    ended
}

/// An installation in which one client looked up one tool this often.
async fn looked_up(times: usize, arguments: Value) -> Codeyard {
    let mut client = CodeClient::with_stub().await;
    for number in 0..times {
        let code = format!("return await tools.stub.echo(message='the answer of look-up number {number}')");
        let mut call = json!({"code": code});
        call.as_object_mut()
            .unwrap()
            .extend(arguments.as_object().unwrap().clone());
        assert_eq!(client.execute(call).await.status(), "completed");
    }
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    codeyard
}

/// The number of look-ups among the client's runs, after its end.
async fn check_judged(client: CodeClient, runs: usize, lookups: usize) {
    let CodeClient { mcp, codeyard } = client;
    assert!(mcp.finish().await.unwrap().success());
    let advice = advise(&codeyard, &["--json"]).await.json();
    assert_eq!(
        (&advice["runs"], &advice["lookups"]),
        (&json!(runs), &json!(lookups)),
        "{advice}"
    );
}

#[tokio::test]
async fn without_records_nothing_is_proposed() {
    let ended = advise(&Codeyard::with_stub().unwrap(), &[]).await;
    assert!(
        ended.out.contains("Too little is recorded for a proposal"),
        "{ended:?}"
    );
    let codeyard = looked_up(2, json!({})).await;
    let all = advise(&codeyard, &["--all", "--json"]).await.json();
    let prices = all["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["definition"].as_u64());
    assert!(
        prices.clone().count() > 5 && prices.clone().all(|price| price > Some(0)),
        "{all}"
    );
    let advice = advise(&codeyard, &["--json"]).await.json();
    assert_eq!(
        (&advice["enough"], &advice["lookups"], &advice["estimated"]),
        (&json!(false), &json!(2), &json!(2))
    );
    assert_eq!(advice["proposed"], json!([]), "{advice}");
}

#[tokio::test]
async fn a_tool_that_is_looked_up_often_is_proposed_with_lines_that_work() {
    let codeyard = looked_up(12, json!({"receipt": true})).await;
    let advice = advise(&codeyard, &["--json"]).await.json();
    let echo = &advice["tools"][0];
    assert_eq!(
        (&echo["tool"], &echo["lookups"], &echo["better"]),
        (&json!("stub.echo"), &json!(12), &json!("direct")),
        "{advice}"
    );
    assert!(advice["overhead_percent"].as_i64() > Some(0), "{advice}");
    let (price, saved) = (
        echo["definition"].as_i64().unwrap(),
        echo["saved_each"].as_i64().unwrap(),
    );
    let in_all = echo["in_all"].as_i64().unwrap();
    assert!((in_all - (saved * 12 - price)).abs() < 12, "{echo}");
    assert_eq!(advice["proposed"], json!(["stub.echo"]));

    let ended = advise(&codeyard, &[]).await;
    let (_, lines) = ended.out.split_once("In codeyard.toml:\n\n").unwrap();
    assert_eq!(lines.trim_end(), advice["lines"].as_str().unwrap());
    let mut client = CodeClient::of(Codeyard::with_stub().unwrap().settings(lines)).await;
    let names: Vec<Value> = client
        .mcp
        .tools()
        .await
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["execute_code", "search_tools", "stub_echo"]);

    let poor = advise(&codeyard, &["--budget", "5"]).await;
    assert!(
        poor.out
            .contains("No tool pays for its definition within 5 tokens"),
        "{poor:?}"
    );

    // Exposed tools that do not fit already: codeyard must not propose lines that prevent its own start.
    let codeyard = codeyard.settings(lines);
    let over = advise(&codeyard, &["--budget", "5", "--json"]).await.json();
    assert_eq!(
        (&over["exposed"], &over["over_budget"], &over["lines"]),
        (&echo["definition"], &json!(true), &Value::Null),
        "{over}"
    );
    let over = advise(&codeyard, &["--budget", "5"]).await.out;
    let told = format!(
        "What is exposed takes {price} tokens, more than the budget of 5, with which Codeyard does not start: leave tools out of \
         [expose], or raise the budget to {price}."
    );
    assert!(
        over.contains(&told) && !over.contains("In codeyard.toml"),
        "{over}"
    );
}

#[tokio::test]
async fn programs_that_shorten_a_result_are_no_look_ups() {
    let check = async |words: u64, format: &str| {
        let mut client = CodeClient::with_stub().await;
        let code = format!("await tools.stub.echo(message='word ' * {words})\nreturn 1");
        for _ in 0..6 {
            let ran = client.execute(json!({"code": code, "receipt": true, "format": format}));
            assert_eq!(ran.await.status(), "completed");
        }
        let CodeClient { mcp, codeyard } = client;
        assert!(mcp.finish().await.unwrap().success());
        let advice = advise(&codeyard, &["--json"]).await.json();
        assert_eq!(
            (&advice["runs"], &advice["lookups"], &advice["estimated"]),
            (&json!(6), &json!(0), &json!(0)),
            "{format}: {advice}"
        );
    };
    check(400, "text").await;
    // The receipt is longer than the saved part of the answer, and does not count as output.
    check(100, "json").await;
    check(100, "toon").await;
}

#[tokio::test]
async fn look_ups_are_found_in_every_form_of_a_result() {
    for format in ["text", "json", "toon"] {
        let codeyard = looked_up(6, json!({"receipt": true, "format": format})).await;
        let advice = advise(&codeyard, &["--json"]).await.json();
        assert_eq!(
            (&advice["lookups"], &advice["estimated"]),
            (&json!(6), &json!(0)),
            "{format}: {advice}"
        );
    }
}

#[tokio::test]
async fn only_answers_of_programs_that_completed_are_look_ups() {
    let mut client = CodeClient::with_stub().await;
    let codes = [
        // A failed tool, a refused call, and a program that fails after its call.
        "try:\n    await tools.stub.fail(message='a reason that is long enough')\nexcept Exception as e:\n    print(e)",
        "try:\n    await tools.stub.echo(message=5)\nexcept Exception as e:\n    print(e)",
        "print(await tools.stub.echo(message='an answer that is long enough'))\n1 / 0",
    ];
    for code in codes {
        for receipt in [true, false] {
            let call = json!({"code": code, "receipt": receipt, "check": "off"});
            client.execute(call).await;
        }
    }
    let ran = client
        .run("return await tools.stub.echo(message='an answer that is long enough')")
        .await;
    assert_eq!(ran.status(), "completed");
    check_judged(client, 7, 1).await;
}

/// A program that also calls a tool file or reads a resource is not a look-up.
#[tokio::test]
async fn programs_that_do_more_than_one_call_are_no_look_ups() {
    let codeyard = Codeyard::new()
        .unwrap()
        .server("stub", &ServerDefinition::stub_with_extras());
    let directory = codeyard.work_directory().join("servers");
    std::fs::create_dir_all(directory.join("sums")).unwrap();
    let add = "def add(a: int):\n    'Adds.'\n    return a\n";
    std::fs::write(directory.join("sums/add.py"), add).unwrap();
    let settings = format!("[tools]\ndirectories = [{:?}]\n", directory.display().to_string());
    let mut client = CodeClient::of(codeyard.settings(&settings)).await;
    let look_up = "return await tools.stub.echo(message='an answer that is long enough')";
    for before in [
        "",
        "await tools.sums.add(a=1)\n",
        "import mcp\nawait mcp.resources.read('stub://note', server='stub')\n",
    ] {
        for receipt in [true, false] {
            let code = format!("{before}{look_up}");
            let ran = client
                .execute(json!({"code": code, "receipt": receipt, "check": "off"}))
                .await;
            assert_eq!(ran.status(), "completed", "{ran:?}");
        }
    }
    check_judged(client, 6, 2).await;
}

#[tokio::test]
async fn runs_that_no_client_asked_for_are_left_out_and_told() {
    let codeyard = looked_up(2, json!({})).await;
    let program = "return await tools.stub.echo(message='the answer of a look-up by a person')";
    for _ in 0..6 {
        assert_eq!(run(&codeyard, &["run", "-"], program).await.code, 0);
    }
    let task = run(&codeyard, &["task", "echo the message \"hello there\""], "").await;
    assert_eq!(task.code, 0, "{task:?}");
    let advice = advise(&codeyard, &["--json"]).await.json();
    assert_eq!(
        ["runs", "left_out", "lookups", "sessions"].map(|name| advice[name].as_u64()),
        [2, 7, 2, 1].map(Some),
        "{advice}"
    );
    let told = advise(&codeyard, &[]).await.out;
    for line in [
        "7 runs of the command line and of tasks left out",
        "2 of the look-ups had no receipt and are estimated",
    ] {
        assert!(told.contains(&format!("\n{line}")), "{told}");
    }
    let none = advise(&codeyard, &["--since", "2999-01-01", "--json"])
        .await
        .json();
    assert_eq!(
        (&none["runs"], &none["left_out"]),
        (&json!(0), &json!(0)),
        "{none}"
    );
    // The bill omits them, too.
    let savings = run(&codeyard, &["runs", "--savings", "--json"], "").await.json();
    assert_eq!(
        (&savings["total"]["runs"], &savings["total"]["sessions"]),
        (&json!(2), &json!(1)),
        "{savings}"
    );
}

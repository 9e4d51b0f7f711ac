//! The page's claims about libraries, measured.

use super::Workplace;

/// Variables that libraries pass on.
pub const PASSED_ON: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/// Runs a program with a package, if installed, and compares the output.
#[track_caller]
fn check(package: &str, name: &str, program: &str, expected: &[&str]) {
    let workplace = Workplace::new();
    let Some(interpreter) = workplace.program(package) else {
        return;
    };
    workplace.write(name, program);
    let printed = workplace.printed(interpreter, name);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    for variable in workplace.passed_on() {
        assert!(PASSED_ON.contains(&&*variable), "{variable}");
    }
}

#[test]
fn a_failing_program_raises_nothing_in_the_python_sdk() {
    check(
        "mcp==2.3.0",
        "python_sdk.py",
        include_str!("python_sdk.py"),
        &["True ZeroDivisionError: division by zero"],
    );
}

#[test]
fn the_typescript_sdk_waits_for_a_minute() {
    check(
        "@modelcontextprotocol/client@2.4.0",
        "typescript_sdk.mts",
        include_str!("typescript_sdk.mts"),
        &["60000"],
    );
}

#[test]
fn fastmcp_raises_and_names_servers() {
    check(
        "fastmcp==4.1.2",
        "fastmcp_client.py",
        include_str!("fastmcp_client.py"),
        &[
            "raised ZeroDivisionError: division by zero",
            "True",
            "codeyard_execute_code codeyard_search_tools",
        ],
    );
}

#[test]
fn langchain_keeps_variables_in_one_session_only() {
    check(
        "langchain-mcp-adapters==0.3.2",
        "langchain.py",
        include_str!("langchain.py"),
        &["error NameError: name 'x' is not defined", "success 7"],
    );
}

#[test]
fn openai_agents_wait_five_seconds_and_demand_all_arguments() {
    let ran = "{'type': 'text', 'text': '1'}";
    let searched = "{'type': 'text', 'text': 'no tool matches'}";
    check(
        "openai-agents==0.24.0",
        "openai_agents.py",
        include_str!("openai_agents.py"),
        &[
            "An error occurred while running the tool. Please try again.",
            "code language session timeout_ms",
            "text image",
            ran,
            searched,
            ran,
            searched,
            ran,
            searched,
        ],
    );
}

#[test]
fn pydantic_ai_reads_structured_content_and_ends_at_the_second_failure() {
    check(
        "pydantic-ai-slim[mcp]==2.68.0",
        "pydantic_ai_agent.py",
        include_str!("pydantic_ai_agent.py"),
        &["status result stdout session run_id", "1 ended", "3 done"],
    );
}

#[test]
fn the_inspector_ends_with_5_and_reads_numbers() {
    let workplace = Workplace::new();
    if workplace
        .program("@modelcontextprotocol/inspector@2.12.0")
        .is_none()
    {
        return;
    }
    let call = "npx mcp-inspector --cli --method tools/call --tool-name execute_code";
    for (arguments, expected) in [
        ("--tool-arg code=1/0", "ZeroDivisionError"),
        ("--tool-arg code=42", "`code` must be a string, not 42"),
    ] {
        workplace.write("call.sh", &format!("{call} {arguments} -- codeyard mcp"));
        let ran = workplace.run("sh", "call.sh");
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(printed.contains(expected), "{printed}");
        assert_eq!(ran.status.code(), Some(5), "{arguments}");
    }
    workplace.write(
        "call.sh",
        &format!("{call} --tool-args-json '{{\"code\": \"42\"}}' -- codeyard mcp"),
    );
    let printed = workplace.printed("sh", "call.sh");
    assert!(printed.contains("\"result\": 42"), "{printed}");
}

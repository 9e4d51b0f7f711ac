//! Tasks in words: planned over the caller's tools, then run as one ordinary program.

use std::sync::Arc;
use std::time::Duration;

use catalog::Entry;
use offline_task::{
    DEFAULT_THRESHOLD, MissingArgument, PlanRequest, PlannedCall, PlannedStep, ProgramOverrides, TaskError,
    TaskPlan, ToolNames,
};
use serde::Serialize;
use serde_json::Value;
use store::Front;
use tokio_util::sync::CancellationToken;
use types::{Language, Outcome, Status};

use crate::Caller;
use crate::programs::{NotRun, Program, ProgramResult};

/// Longest wait of planning for servers whose tools are unknown.
const PATIENCE: Duration = Duration::from_secs(60);

/// A task.
#[derive(Debug, Clone)]
pub struct TaskRequest {
    /// The task in English.
    pub description: String,
    /// Selects a tool if its score is at least this share of the score of its own name, 0 to 1.
    pub threshold: f32,
    /// Use these tools without a selection.
    pub required: Option<ToolNames>,
    /// The caller's own parts of the program.
    pub overrides: ProgramOverrides,
    /// Longest duration of the run; `None` uses the settings'.
    pub timeout: Option<Duration>,
    /// Plan without running.
    pub plan_only: bool,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskResult {
    /// Every step has a result; with `plan_only`, the plan can be run.
    Success,
    /// A step failed, or the task cannot be run as worded.
    Failure,
    /// The program was refused before it ran.
    Blocked,
    /// The program exceeded its duration.
    Timeout,
}

/// Result and plan of a task.
#[derive(Debug, Serialize)]
pub struct TaskReport {
    /// How the task ended.
    pub result: TaskResult,
    /// The program's output, if it ran and printed.
    pub output: Option<String>,
    /// Why the task did not succeed.
    pub error: Option<String>,
    /// All callable tools.
    pub discovered: ToolNames,
    /// Tools of the plan.
    pub selected: ToolNames,
    /// The caller named the tools, so there was no selection.
    pub tools_were_given: bool,
    /// Steps in order.
    pub steps: Vec<TaskStep>,
    /// Remarks on the plan.
    pub notes: Vec<String>,
    /// The program; `None` if the task cannot be run.
    pub code: Option<String>,
    /// Handle of the run.
    pub run_id: Option<String>,
    /// Duration of the run in milliseconds.
    pub duration_ms: Option<f64>,
    /// A remark on the run, such as a lost session.
    pub notice: Option<String>,
}

/// One step of a task.
#[derive(Debug, Serialize)]
pub struct TaskStep {
    /// Words of the task.
    pub text: String,
    /// The tool called.
    pub tool: Option<String>,
    /// The call in the program.
    pub call: Option<String>,
    /// Required arguments that the task does not state.
    pub missing: Vec<MissingArgument>,
    /// Other tools that fit equally.
    pub as_likely: Vec<String>,
    /// Words and values of the step that the call does not use.
    pub unused: Vec<String>,
    /// Why the step cannot be run.
    pub problem: Option<String>,
}

// === impl TaskRequest ===

impl TaskRequest {
    /// A task with defaults for everything but its words.
    pub fn new(description: impl Into<String>) -> TaskRequest {
        TaskRequest {
            description: description.into(),
            threshold: DEFAULT_THRESHOLD,
            required: None,
            overrides: ProgramOverrides::default(),
            timeout: None,
            plan_only: false,
        }
    }
}

impl Caller {
    /// Plans a task and runs its program, once and in one session. If the task cannot be run as worded, the report
    /// says so and nothing runs.
    ///
    /// # Errors
    /// If the text cannot be read, or a required tool does not exist.
    pub async fn task(
        &self,
        request: TaskRequest,
        cancel: CancellationToken,
    ) -> Result<TaskReport, TaskError> {
        let shared = &self.shared;
        let tools_were_given = request.required.is_some();
        let (reader, text, required) = (self.clone(), request.description, request.required);
        let planned = shared.broker.searching(PATIENCE, move |search| {
            let visible = |entry: &Entry| reader.shared.broker.may_call(&reader.principal, entry);
            let asked = PlanRequest {
                text: &text,
                threshold: request.threshold,
                required: required.as_ref(),
            };
            offline_task::plan(&asked, search, &visible)
        });
        let mut plan = planned.await.unwrap_or(Err(TaskError::Interrupted))?;
        plan.replace(&request.overrides);
        let mut report = TaskReport {
            tools_were_given,
            ..TaskReport::of(&plan)
        };
        let problems = plan.problems();
        if !problems.is_empty() {
            report.result = TaskResult::Failure;
            report.error = Some(problems.join("\n"));
            return Ok(report);
        }
        let code = offline_task::program(&plan, &request.overrides);
        report.code = Some(code.clone());
        if !request.plan_only {
            let program = Program {
                language: Language::Python,
                code,
                timeout: request.timeout,
                check: None,
                // No model wrote the program.
                receipt: Some(false),
                output: None,
            };
            match self.run_for(Front::Task, program, cancel).await {
                Ok(ran) => {
                    shared.records.described(&ran.run_id, &plan.task);
                    report.ran(ran);
                }
                Err(not_run) => report.refused(&not_run),
            }
        }
        Ok(report)
    }
}

// === impl TaskReport ===

impl TaskReport {
    fn of(plan: &TaskPlan) -> TaskReport {
        TaskReport {
            result: TaskResult::Success,
            output: None,
            error: None,
            discovered: tools(&plan.discovered),
            selected: tools(&plan.selected),
            tools_were_given: false,
            steps: plan.steps.iter().map(TaskStep::of).collect(),
            notes: plan.notes(),
            code: None,
            run_id: None,
            duration_ms: None,
            notice: None,
        }
    }

    fn ran(&mut self, ran: ProgramResult) {
        self.result = match ran.outcome.status {
            Status::Completed => TaskResult::Success,
            Status::TimedOut => TaskResult::Timeout,
            Status::Refused => TaskResult::Blocked,
            Status::Failed | Status::LimitExceeded { .. } | Status::Cancelled => TaskResult::Failure,
        };
        self.error = match self.result {
            TaskResult::Success => None,
            _ => Some(error(&ran)),
        };
        self.output = output(&ran.outcome);
        self.duration_ms = Some((ran.outcome.usage.wall.as_secs_f64() * 1e6).round() / 1e3);
        self.run_id = Some(ran.run_id.to_string());
        self.notice = ran.notice;
    }

    fn refused(&mut self, not_run: &NotRun) {
        self.result = TaskResult::Blocked;
        self.error = Some(not_run.to_string());
    }

    /// Numbers of discovered and of selected tools.
    pub fn counts(&self) -> (usize, usize) {
        let count = |tools: &ToolNames| tools.values().map(Vec::len).sum();
        (count(&self.discovered), count(&self.selected))
    }
}

// === impl TaskStep ===

impl TaskStep {
    fn of(step: &PlannedStep) -> TaskStep {
        let call = step.call.as_ref();
        TaskStep {
            text: step.text.clone(),
            tool: call.map(|call| call.entry.tool.to_string()),
            call: call.map(PlannedCall::text),
            missing: call.map(|call| call.missing.clone()).unwrap_or_default(),
            as_likely: step.alternatives.iter().map(ToString::to_string).collect(),
            unused: step.unused.clone(),
            problem: step.problem.clone(),
        }
    }
}

fn tools(entries: &[Arc<Entry>]) -> ToolNames {
    let mut tools = ToolNames::new();
    for entry in entries {
        tools
            .entry(entry.tool.server.clone())
            .or_default()
            .push(entry.tool.tool.clone());
    }
    tools
}

fn output(outcome: &Outcome) -> Option<String> {
    let mut output = outcome.stdout.shown().trim_end().to_owned();
    let result = match &outcome.result {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(value) => Some(value.to_string()),
    };
    if let Some(result) = result {
        output = if output.is_empty() {
            result
        } else {
            format!("{output}\n{result}")
        };
    }
    (!output.is_empty()).then_some(output)
}

/// The program's error, without the exit by which the program reports failure.
fn error(ran: &ProgramResult) -> String {
    let told = ran.outcome.stderr.shown();
    let told = told.trim_end();
    let is_exit = ran
        .outcome
        .error
        .as_ref()
        .is_some_and(|error| error.kind == "SystemExit");
    let reason = ran.error_text().filter(|_| !is_exit || told.is_empty());
    let parts: Vec<String> = [told.to_owned()]
        .into_iter()
        .chain(reason)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n")
}

// Think step by step about whether we should move our database to the cloud, with one revision of an earlier step.
type Step = { thought: string; revises?: number };
const steps: Step[] = [
  { thought: "List the current costs: two servers, licences, half an administrator." },
  { thought: "Estimate cloud costs: managed instance, storage, egress." },
  { thought: "Egress was forgotten for the nightly reports; raise the estimate of step 2.", revises: 2 },
  { thought: "Conclusion: move the staging database first and measure." },
];

let last: Awaited<ReturnType<typeof tools.thinking.sequentialthinking>> | undefined;
for (const [i, step] of steps.entries()) {
  last = await tools.thinking.sequentialthinking({
    thought: step.thought,
    thoughtNumber: i + 1,
    totalThoughts: steps.length,
    nextThoughtNeeded: i < steps.length - 1,
    ...(step.revises ? { isRevision: true, revisesThought: step.revises } : {}),
  });
  console.log(`step ${last?.thoughtNumber}/${last?.totalThoughts}: ${step.thought}`);
}
return { done: last?.nextThoughtNeeded === false, history: last?.thoughtHistoryLength };

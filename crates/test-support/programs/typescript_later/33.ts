// Run a short background job, then try a research query about tea; give up politely if research is not available. Report durations.
async function timed<T>(label: string, job: () => Promise<T>): Promise<{ label: string; ms: number; result?: T; error?: string }> {
  const start = Date.now();
  try {
    const result = await job();
    return { label, ms: Date.now() - start, result };
  } catch (err) {
    return { label, ms: Date.now() - start, error: (err as Error)?.message ?? String(err) };
  }
}

const job = await timed("job", () => tools.everything.trigger_long_running_operation({ duration: 1, steps: 2 }));
const research = await timed("research", () => tools.everything.simulate_research_query({ topic: "history of tea" }));
for (const r of [job, research]) {
  console.log(`${r.label}: ${(r.ms / 1000).toFixed(1)} s ${r.error ? `failed (${r.error})` : "ok"}`);
}
return { jobOk: !job.error, researchOk: !research.error };

// Calls tools in a loop, all at once, and sorts the answers by their kind.

// Calls by such names cannot be found in the text, so the host does not judge them before the run.
const named: any = tools;
const SERVER = "server";

async function kinds(count: number): Promise<Set<string>> {
  const calls = Array.from({ length: count }, () => named[SERVER].tool({ text: "x".repeat(1_000) }));
  const settled = await Promise.allSettled(calls);
  return new Set(settled.map(({ status, reason }: any) => reason?.kind ?? status));
}

const answered = await kinds(2_000);
look("called_2000_times", answered.has("fulfilled"));
look("refused_beyond_limit", answered.has("limit"));
const more = await kinds(10);
look("called_after_limit", more.size !== 1 || !more.has("limit"));

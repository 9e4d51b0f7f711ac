// The next run: reports which of them act during it.

const begun = { ...(globalThis as any).acts };
await new Promise((resolve) => setTimeout(resolve, 50));
const now = (globalThis as any).acts;
for (const kind of Object.keys(begun)) look(kind, now[kind] > begun[kind]);
say("next_run", "allowed");

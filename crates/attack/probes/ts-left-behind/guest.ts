// Leaves timers, jobs and a call that act after the run, and ends its program before they have their turn.

// Calls by such names cannot be found in the text, so the host does not judge them before the run.
const named: any = tools;
const SERVER = "server";
const shared = globalThis as any;
const KINDS = ["interval", "timeout", "immediate", "job", "tick", "call"];
shared.acts = Object.fromEntries(KINDS.map((kind) => [kind, 0]));

function act(kind: string): void {
  shared.acts[kind]++;
}

async function actForAWhile(): Promise<void> {
  for (let number = 0; number < 1_000; number++) {
    await 0;
    act("job");
  }
}

function tick(): void {
  act("tick");
  if (shared.acts.tick < 1_000) process.nextTick(tick);
}

setInterval(() => act("interval"), 1);
setTimeout(() => act("timeout"), 5);
setImmediate(() => act("immediate"));
process.nextTick(tick);
void actForAWhile();
named[SERVER].tool({}).then(() => act("call"), () => act("call"));
say("left", "allowed");
process.exit(1);

// task: Run the long operation for one second with a timeout of ten seconds and up to three attempts, and tell me how long it took.
// expect: an object with attempts 1, seconds of about 1 (below 10) and the tool's completion message
import { setTimeout as sleep } from "node:timers/promises";

class TimeoutError extends Error {
  override name = "TimeoutError";
}

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  const ac = new AbortController();
  const timer = sleep(ms, undefined, { signal: ac.signal }).then(() => {
    throw new TimeoutError(`timed out after ${ms} ms`);
  });
  timer.catch(() => {});
  return Promise.race([work, timer]).finally(() => ac.abort());
}

async function retry<T>(fn: () => Promise<T>, max = 3, baseMs = 100): Promise<{ value: T; attempts: number }> {
  for (let attempts = 1; ; attempts++) {
    try {
      return { value: await fn(), attempts };
    } catch (e) {
      if (attempts >= max) throw e;
      await sleep(baseMs * 2 ** (attempts - 1));
    }
  }
}

const t0 = Date.now();
const { value, attempts } = await retry(() =>
  withTimeout(tools.everything.trigger_long_running_operation({ duration: 1, steps: 2 }), 10_000)
);
return { attempts, seconds: (Date.now() - t0) / 1000, message: value };

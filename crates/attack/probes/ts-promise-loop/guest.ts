// Keeps its thread busy with jobs that start the next one, so that no timer and no answer has its turn.

async function spin(): Promise<void> {
  for (;;) await 0;
}

queueMicrotask(function again() {
  queueMicrotask(again);
});
await spin();
say("spun", "allowed");

// Leaves a job that loops, and ends its program before the job has its turn.

say("left", "allowed");
queueMicrotask(() => {
  for (;;);
});
process.exit(0);

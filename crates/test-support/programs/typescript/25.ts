// task: Record a three-step train of thought about choosing a database with the thinking tool, and return how the history grew.
// expect: a list of three numbers each one greater than the last, and done true
const thoughts = [
  "The data is small and single-user, so an embedded database may do.",
  "SQLite needs no server and is well supported; PostgreSQL would need operations work.",
  "Conclusion: use SQLite, revisit when concurrent writers appear.",
];

const lengths: number[] = [];
let done = false;
for (const [i, thought] of thoughts.entries()) {
  const thoughtNumber = i + 1;
  const r = await tools.thinking.sequentialthinking({
    thought,
    thoughtNumber,
    totalThoughts: thoughts.length,
    nextThoughtNeeded: thoughtNumber < thoughts.length,
  });
  lengths.push(r.thoughtHistoryLength);
  done = !r.nextThoughtNeeded;
}
return { lengths, done };

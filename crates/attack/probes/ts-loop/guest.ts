// Loops without end, also in `catch` and `finally`.

for (;;) {
  try {
    for (;;);
  } catch {
    for (;;);
  } finally {
    for (;;);
  }
}
say("looped", "allowed");

// Ends its process, and goes on.

try {
  say("before", "allowed");
  process.exit(0);
} catch {
  say("in_catch", "allowed");
} finally {
  say("in_finally", "allowed");
}
say("after", "allowed");

// The next run: what a program replaced stays replaced in its own session.

say("next_run", "allowed");
return [1, { text: "x" }];

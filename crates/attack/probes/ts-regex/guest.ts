// Matches an expression that backtracks for years.

/^(a+)+$/.test(`${"a".repeat(60)}b`);
say("matched", "allowed");

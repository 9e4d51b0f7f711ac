// Throws a value whose message is computed without end, while the engine describes the error.

say("threw", "allowed");
throw {
  get message(): string {
    for (;;);
  },
};

// Shared by hostile programs in TypeScript: the words for an attempt's outcome.

/** How an attempt ended, in one line. */
function say(name: string, answer: unknown): void {
  console.log(`${name}: ${answer}`);
}

/** The word for what was thrown: the system's name of the error, else the kind of a failed call, else the class. */
function wordFor(thrown: any): unknown {
  return thrown?.code ?? thrown?.kind ?? thrown?.name ?? String(thrown);
}

/** Runs the action and prints the outcome. */
async function attempt(name: string, action: () => unknown): Promise<void> {
  try {
    await action();
  } catch (thrown) {
    say(name, wordFor(thrown));
    return;
  }
  say(name, "allowed");
}

/** Prints whether something that must be closed is open. */
function look(name: string, isOpen: boolean): void {
  say(name, isOpen ? "allowed" : "closed");
}

/** Succeeds with the first path with which the action does; else fails as the last one did. */
function anyOf(paths: string[], action: (path: string) => unknown): unknown {
  let last: unknown = new Error("no path");
  for (const path of paths) {
    try {
      return action(path);
    } catch (thrown) {
      last = thrown;
    }
  }
  throw last;
}

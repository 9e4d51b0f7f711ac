// Prints 2.4 MiB in each way that a program has.

const LINE = `${"x".repeat((1 << 13) - 1)}\n`;

function often(action: () => unknown): () => void {
  return () => {
    for (let number = 0; number < 100; number++) action();
  };
}

await attempt("printed", often(() => console.error(LINE)));
await attempt("written", often(() => process.stderr.write(LINE)));
await attempt("tabled", often(() => console.warn([LINE])));

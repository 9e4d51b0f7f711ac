// Allocates 256 MiB of each kind of value, a little at a time, and keeps it until the engine refuses.

const MOST = 256 << 20;
const PIECE = 1 << 20;

/** Takes pieces of a mebibyte. */
function take(make: (number: number) => unknown): () => void {
  return () => {
    const held: unknown[] = [];
    for (let number = 0; number < MOST / PIECE; number++) held.push(make(number));
  };
}

function promises() {
  const held: Promise<number>[] = [];
  for (let number = 0; number < 4_000_000; number++) held.push(Promise.resolve(number));
}

function grownText() {
  let text = "x";
  // The engine keeps a sum as its parts until somebody looks.
  while (text.length < MOST) text = `${text}${text}${text.length}`.replace("x", "y");
  return text;
}

await attempt("arrays", take(() => new Array(PIECE / 16).fill(0.5)));
await attempt("typed_arrays", take(() => new Float64Array(PIECE / 8).fill(1)));
await attempt("buffers", take(() => Buffer.alloc(PIECE, 1)));
await attempt("texts", take((number) => `${number}${"x".repeat(PIECE)}`));
await attempt("wide_texts", take((number) => `${number}${"\u4e00".repeat(PIECE / 2)}`));
await attempt("objects", take(() => Array.from({ length: PIECE / 64 }, (_, key) => ({ key }))));
await attempt("promises", promises);
await attempt("grown_text", grownText);
say("after_all", "allowed");

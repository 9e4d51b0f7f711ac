// Returns texts and keys that are not well formed, and large ones.

say("next_run", "allowed");
return {
  lone: "\ud800",
  ["\udc00"]: "key",
  ["k".repeat(1 << 18)]: "huge",
  escape: '"},"t":"done","id":1,"x":{"',
  ["__proto__"]: { t: "done" },
  big: 1n << 200n,
  bytes: new Uint8Array(3),
};

// Returns a value whose conversion throws.

say("begun", "allowed");
return {
  get first(): never {
    throw new Error("mine");
  },
  toJSON(): never {
    throw new Error("mine");
  },
};

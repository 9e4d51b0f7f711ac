// Returns a value that is nested deeper than the host reads.

let value: unknown = 1;
for (let level = 0; level < 126; level++) value = { value };
say("begun", "allowed");
return value;

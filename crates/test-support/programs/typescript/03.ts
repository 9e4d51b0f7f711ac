// task: Save this text to a file, read it back, and tell me the three most frequent words.
// expect: [["the",4],["dog",2],["fox",2]]
const path = "DATA/files/words03.txt";
await tools.filesystem.write_file({
  path,
  content: "the quick brown fox jumps over the lazy dog. The dog barks; the fox runs away.",
});

const { content } = await tools.filesystem.read_text_file({ path });

const counts = new Map<string, number>();
for (const word of content.toLowerCase().match(/[a-z']+/g) ?? []) {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

const top = [...counts]
  .sort(([wa, ca], [wb, cb]) => cb - ca || wa.localeCompare(wb))
  .slice(0, 3);
return top;

// Save three meeting notes as text files and tell me which words come up most across them.
const dir = "DATA/files/b2_06_notes";
await tools.filesystem.create_directory({ path: dir });

const notes: Record<string, string> = {
  "monday.txt": "Budget review: the budget is tight, marketing wants more budget.\nAction: Lena to update forecast.",
  "wednesday.txt": "Forecast updated by Lena. Marketing agreed to postpone the campaign.\nRisk: supplier delay.",
  "friday.txt": "Supplier delay confirmed, two weeks. Campaign postponed, budget unchanged.",
};
await Promise.all(
  Object.entries(notes).map(([name, content]) => tools.filesystem.write_file({ path: `${dir}/${name}`, content })),
);

const stop = new Set(["the", "is", "to", "by", "more", "two", "a", "and"]);
const counts = new Map<string, number>();
for (const name of Object.keys(notes)) {
  const { content } = await tools.filesystem.read_text_file({ path: `${dir}/${name}` });
  for (const [word] of content.toLowerCase().matchAll(/[a-z]+/g)) {
    if (!stop.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
}
const top = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, 5);
console.log(top.map(([w, n]) => `${w} (${n})`).join(", "));
return Object.fromEntries(top);

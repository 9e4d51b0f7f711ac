// Look at a.txt as it was last committed, count its lines and words, and remember these figures.
const shown = await tools.git.git_show({ repo_path: "DATA/repo", revision: "HEAD:a.txt" });
const text = typeof shown === "string" ? shown : JSON.stringify(shown);
const lineCount = text.split(/\r?\n/).filter((l) => l.trim() !== "").length;
const wordCount = (text.match(/\S+/g) ?? []).length;

await tools.memory.create_entities({
  entities: [{ name: "b2_13 a.txt", entityType: "file", observations: [] }],
});
const { results } = await tools.memory.add_observations({
  observations: [{ entityName: "b2_13 a.txt", contents: [`lines: ${lineCount}`, `words: ${wordCount}`] }],
});
return { lineCount, wordCount, stored: results[0]?.addedObservations ?? [] };

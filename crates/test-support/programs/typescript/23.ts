// task: Find all markdown files under a folder, and list every TODO in them with the file's name and line number.
// expect: three entries: a.md line 2 "write intro", a.md line 4 "fix link", sub/b.md line 1 "translate"
const path = require("node:path");
const base = "DATA/files/notes23";

await tools.filesystem.create_directory({ path: `${base}/sub` });
await tools.filesystem.write_file({ path: `${base}/a.md`, content: "# A\nTODO: write intro\ntext\n- TODO: fix link\n" });
await tools.filesystem.write_file({ path: `${base}/sub/b.md`, content: "TODO: translate\n" });
await tools.filesystem.write_file({ path: `${base}/c.txt`, content: "TODO: not markdown\n" });

const found = await tools.filesystem.search_files({ path: base, pattern: "**/*.md" });
const mdFiles = found.content.split("\n").map((s) => s.trim()).filter((s) => s.endsWith(".md"));

const todos: { file: string; line: number; text: string }[] = [];
for (const file of mdFiles.sort()) {
  const { content } = await tools.filesystem.read_text_file({ path: file });
  content.split("\n").forEach((text, i) => {
    const m = text.match(/TODO:\s*(.*)/);
    if (m) todos.push({ file: path.relative(base, file), line: i + 1, text: m[1] });
  });
}
return todos;

// Write files of different sizes and list them from the largest to the smallest with readable sizes and when they were changed.
const dir = "DATA/files/b2_29_sizes";
await tools.filesystem.create_directory({ path: dir });
const sizes = { "small.txt": 100, "medium.txt": 3_000, "large.txt": 250_000 };
for (const name in sizes) {
  await tools.filesystem.write_file({ path: `${dir}/${name}`, content: "x".repeat(sizes[name as keyof typeof sizes]) });
}

function human(bytes: number): string {
  const units = ["B", "KB", "MB"];
  let i = 0;
  while (bytes >= 1024 && i < units.length - 1) {
    bytes /= 1024;
    i++;
  }
  return `${i === 0 ? bytes : bytes.toFixed(1)} ${units[i]}`;
}

const infos = await Promise.all(
  Object.keys(sizes).map(async (name) => {
    const { content } = await tools.filesystem.get_file_info({ path: `${dir}/${name}` });
    const size = Number(/size:\s*(\d+)/i.exec(content)?.[1] ?? 0);
    const modified = /modified:\s*(.+)/i.exec(content)?.[1] ?? "";
    return { name, size, modified };
  }),
);
return infos.sort((a, b) => b.size - a.size).map(({ name, size, modified }) => `${name.padEnd(12)} ${human(size).padStart(9)}  ${modified}`).join("\n");

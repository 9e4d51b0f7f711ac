// task: Create a small project folder with nested files and tell me how many files and directories it has and how deep it goes.
// expect: { files: 4, dirs: 3, depth: 3 }
import { posix as path } from "node:path";

const root = "DATA/files/project21";
await tools.filesystem.create_directory({ path: path.join(root, "src", "lib") });
await tools.filesystem.create_directory({ path: path.join(root, "docs") });

const files = {
  "package.json": "{}",
  "src/index.ts": "export * from './lib/util';",
  "src/lib/util.ts": "export const one = 1;",
  "docs/readme.md": "# Project 21",
};
await Promise.all(
  Object.entries(files).map(([name, content]) =>
    tools.filesystem.write_file({ path: path.join(root, name), content })
  )
);

interface Node { name: string; type: "file" | "directory"; children?: Node[] }

const { content } = await tools.filesystem.directory_tree({ path: root });
const tree: Node[] = JSON.parse(content);

const stats = { files: 0, dirs: 0, depth: 0 };
(function walk(nodes: Node[], level: number) {
  for (const node of nodes) {
    stats.depth = Math.max(stats.depth, level);
    if (node.type === "directory") {
      stats.dirs++;
      walk(node.children ?? [], level + 1);
    } else stats.files++;
  }
})(tree, 1);

return stats;

// Build a small project skeleton, then show its tree and count files per extension.
import path from "node:path";

interface TreeNode {
  name: string;
  type: "file" | "directory";
  children?: TreeNode[];
}

const root = "DATA/files/b2_17_project";
const files = ["README.md", "src/index.ts", "src/util/math.ts", "src/util/text.ts", "docs/guide.md", "package.json"];
for (const f of files) {
  const full = path.posix.join(root, f);
  await tools.filesystem.create_directory({ path: path.posix.dirname(full) });
  await tools.filesystem.write_file({ path: full, content: `// ${f}\n` });
}

const { content } = await tools.filesystem.directory_tree({ path: root });
const tree: TreeNode[] = typeof content === "string" ? JSON.parse(content) : content;
const perExt = new Map<string, number>();

function render(nodes: TreeNode[], indent = ""): string {
  return nodes
    .map((n) => {
      if (n.type === "file") {
        const ext = path.extname(n.name) || "(none)";
        perExt.set(ext, (perExt.get(ext) ?? 0) + 1);
        return `${indent}${n.name}\n`;
      }
      return `${indent}${n.name}/\n${render(n.children ?? [], indent + "  ")}`;
    })
    .join("");
}
console.log(render(tree));
return Object.fromEntries([...perExt.entries()].sort());

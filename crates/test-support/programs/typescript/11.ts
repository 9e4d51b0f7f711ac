// task: Write "hello world" to a file and give me the SHA-256 and the MD5 of its content as hex.
// expect: sha256 b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9, md5 5eb63bbbe01eeed093cb22bb8f5acdc3
import { createHash } from "node:crypto";
import path from "node:path";

const root = "DATA";
const file = path.join(root, "files", "hello11.txt");

await tools.filesystem.write_file({ path: file, content: "hello world" });
const { content } = await tools.filesystem.read_text_file({ path: file });

const digest = (algo: string) => createHash(algo).update(content, "utf8").digest("hex");
return { file: path.basename(file), sha256: digest("sha256"), md5: digest("md5") };

// The engine's own files.
import files from "node:fs/promises";

export default files;

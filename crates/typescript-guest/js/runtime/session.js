// Globals of a session's programs beside the platform: tools, files and results.
import files from "./fs_promises.js";
import { lastRawResult, ToolError } from "./calls.js";
import { keptResult } from "./program.js";
import { show } from "./results.js";
import { listServers, listTools, manual, searchTools, toolcall, tools } from "./tools.js";

const { defineProperty } = Object;

/** Reads a file as text. */
function readFile(path, options = "utf8") {
  return files.readFile(path, options);
}

/** Writes a text or bytes to a file, and makes its directory. */
async function writeFile(path, data, options) {
  const text = typeof path === "string" ? path : "";
  const cut = text.lastIndexOf("/");
  if (cut > 0) await files.mkdir(text.slice(0, cut), { recursive: true });
  return files.writeFile(path, data, options);
}

/** The names in a directory, sorted; of `/tools` only the servers, without the files that describe all of them. */
async function listDirectory(path = ".") {
  const names = (await files.readdir(path)).sort();
  return path === "/tools" || path === "/tools/" ? names.filter((name) => !name.includes(".")) : names;
}

/** Defines the names, as variables that a program may replace. */
export function install() {
  const names = {
    tools,
    ToolError,
    searchTools,
    listServers,
    listTools,
    manual,
    readFile,
    writeFile,
    listDirectory,
    show,
    lastRaw: lastRawResult,
    keptResult,
    __toolcall__: toolcall,
    // The names under which Python programs know these, and which messages of the host use.
    runtime: {
      result: keptResult,
      search: searchTools,
      search_tools: searchTools,
      servers: listServers,
      tools: listTools,
      manual,
      last_raw: lastRawResult,
    },
  };
  for (const [name, value] of Object.entries(names)) {
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  }
}

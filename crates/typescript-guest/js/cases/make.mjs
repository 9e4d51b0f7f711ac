// Runs the cases of each named subject under real Node and writes what they answer to `<subject>.jsonl`.
//
//   node cases/make.mjs url encoding      (without a name: every subject)
//
// A subject is a module `cases/<subject>.js` that exports an array of `{name, code}`. Each case runs in a
// process and an empty directory of its own. Its standard output becomes `output`.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const AT_ONCE = 4;

/** The program of the child: it reads the code of a case from its arguments and answers on descriptor 3. */
const CHILD = `
  const { writeSync } = require("node:fs");
  const AsyncFunction = (async () => {}).constructor;
  const answer = (value) => writeSync(3, JSON.stringify(value));
  new AsyncFunction("require", process.env.CASE_CODE)(require).then(
    (value) => answer({ expect: value === undefined ? null : value }),
    (error) => {
      const { name, message, code } = Object(error);
      answer({ expect: { throws: { name, message, code } } });
    },
  );
  delete process.env.CASE_CODE;
`;

/** Reads the cases of a subject, as its module exports them by default or as `cases`. */
export async function readCases(subject) {
  const module = await import(pathToFileURL(join(HERE, `${subject}.js`)).href);
  return module.default ?? module.cases;
}

/** Every subject that has a module of cases. */
export function subjects() {
  const names = readdirSync(HERE).filter((name) => name.endsWith(".js"));
  return names.map((name) => name.slice(0, -".js".length)).sort();
}

/** Runs one case under real Node; resolves to the line to write. */
function runCase({ name, code, ...rest }) {
  const directory = mkdtempSync(join(tmpdir(), "case-"));
  const env = { PATH: process.env.PATH, HOME: "/root", TZ: "UTC", LANG: "C", CASE_CODE: code };
  const child = spawn(process.execPath, ["--no-warnings", "-e", CHILD], {
    cwd: directory,
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const texts = ["", "", "", ""];
  for (const stream of [1, 2, 3]) {
    child.stdio[stream].setEncoding("utf8").on("data", (text) => (texts[stream] += text));
  }
  return new Promise((resolve, reject) => {
    child.on("close", () => {
      rmSync(directory, { recursive: true, force: true });
      if (!texts[3]) return reject(new Error(`case "${name}" gave no answer: ${texts[2]}`));
      const line = { name, code, ...rest, ...JSON.parse(texts[3]) };
      if (texts[1]) line.output = texts[1];
      resolve(line);
    });
  });
}

/** Runs all cases, a few at once, and keeps their order. */
async function runAll(cases) {
  const lines = new Array(cases.length);
  let next = 0;
  const worker = async () => {
    while (next < cases.length) {
      const index = next++;
      lines[index] = await runCase(cases[index]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return lines;
}

async function main(names) {
  for (const subject of names.length ? names : subjects()) {
    if (!existsSync(join(HERE, `${subject}.js`))) throw new Error(`there is no cases/${subject}.js`);
    const lines = await runAll(await readCases(subject));
    writeFileSync(join(HERE, `${subject}.jsonl`), lines.map((line) => JSON.stringify(line) + "\n").join(""));
    process.stdout.write(`${subject}: ${lines.length} cases\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));

// Runs the cases of each named group under real Node and writes what they answer to `<group>.jsonl`.
//
//   node standard/make.mjs classes lexical      (without a name: every group)
//
// A group is a text `standard/<group>.txt`. A line `== SECTION | TITLE` begins a case: a section of ECMA-262 or of the
// TypeScript handbook. Programs of one session follow each other; `-- then` begins the next one. `-- file NAME` begins
// a file that lies beside the programs. `«2028»` stands for the character of this number.
//
// Node runs each program as strict code in the mode of its interactive prompt, where names persist and the completion
// value of the last program is the answer. That mode knows no `import`, `export` and `return`: then `-- node` begins
// a module that says the same and exports the answer by default. In groups named `types_…`, the compiler of TypeScript
// removes the types first; it is the one below `target/checkers`, or below CODEYARD_CHECKERS.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const AT_ONCE = 3;
const STRICT = '"use strict"; void 0; ';

/** The program of the child: it reads the case from descriptor 3 and answers on descriptor 4. */
const CHILD = `
  import { readFileSync, writeFileSync, writeSync } from "node:fs";
  import { Session } from "node:inspector/promises";
  const { programs, module } = JSON.parse(readFileSync(3, "utf8"));
  const thrown = (error) => ({ throws: { name: Object(error).name } });
  const answer = (value, fails) => writeSync(4, JSON.stringify({ expect: value === undefined ? null : value, fails }) );

  async function ofPrograms() {
    const session = new Session();
    session.connect();
    const { result: scope } = await session.post("Runtime.evaluate", { expression: "globalThis" });
    const read = async (remote, reader) => {
      const call = { objectId: scope.objectId, functionDeclaration: reader, arguments: [remote], returnByValue: true };
      const { result } = await session.post("Runtime.callFunctionOn", call);
      return result.value === undefined ? undefined : JSON.parse(result.value);
    };
    const argument = ({ objectId, unserializableValue, value }) => ({ objectId, unserializableValue, value });
    const fails = [];
    let value;
    for (const [index, expression] of programs.entries()) {
      const run = { expression, replMode: true, awaitPromise: true };
      const { result, exceptionDetails } = await session.post("Runtime.evaluate", run);
      if (exceptionDetails) {
        fails.push(index);
        value = await read(argument(exceptionDetails.exception), "(e) => JSON.stringify({ throws: { name: Object(e).name } })");
      } else {
        value = await read(argument(result), "(value) => JSON.stringify(value)");
      }
    }
    answer(value, fails.filter((index) => index < programs.length - 1));
  }

  async function ofModule() {
    writeFileSync("case.mjs", module);
    try {
      answer(await (await import(process.cwd() + "/case.mjs")).default, []);
    } catch (error) {
      answer(thrown(error), []);
    }
  }

  await (module === undefined ? ofPrograms() : ofModule());
`;

/** The cases of a text. */
function parse(text) {
  const cases = [];
  let lines;
  for (const line of text.replaceAll(/«([0-9A-F]+)»/g, character).split("\n")) {
    const [, section, name] = /^== (.+?) \| (.+)$/.exec(line) ?? [];
    const [, part, file] = /^-- (then|node|file) ?(.*)$/.exec(line) ?? [];
    if (section) cases.push({ section, name, programs: [(lines = [])], files: {}, module: undefined });
    else if (part === "then") cases.at(-1).programs.push((lines = []));
    else if (part === "node") cases.at(-1).module = lines = [];
    else if (part === "file") cases.at(-1).files[file] = lines = [];
    else lines?.push(line);
  }
  return cases.map(({ programs, files, module, ...rest }) => ({
    ...rest,
    programs: programs.map(joined),
    files: Object.fromEntries(Object.entries(files).map(([path, body]) => [path, joined(body)])),
    module: module && joined(module),
  }));
}

/** The character of a hexadecimal number. */
function character(_, number) {
  return String.fromCodePoint(Number.parseInt(number, 16));
}

/** The lines of a part without the empty ones at its end. */
function joined(lines) {
  return lines.join("\n").replace(/\n+$/, "");
}

let typescript;

/** A program without its types; `undefined` if the compiler finds an error of syntax. */
function withoutTypes(program) {
  typescript ??= createRequire(join(HERE, "make.mjs"))(
    join(process.env.CODEYARD_CHECKERS ?? join(HERE, "../../../../target/checkers"), "node_modules/typescript"),
  );
  const { ModuleKind, ScriptTarget } = typescript;
  const compilerOptions = { target: ScriptTarget.ES2022, module: ModuleKind.ESNext, verbatimModuleSyntax: true };
  const { outputText, diagnostics } = typescript.transpileModule(program, { compilerOptions, reportDiagnostics: true });
  const isExport = (diagnostic) => diagnostic.code === 1286 || diagnostic.code === 1287;
  return diagnostics.some((diagnostic) => !isExport(diagnostic)) ? undefined : outputText.replace(/^export \{\};$/m, "");
}

/** Runs one case under real Node; resolves to the line to write. */
async function runCase(group, { section, name, programs, files, module }) {
  const line = { section, name, programs };
  if (Object.keys(files).length > 0) line.files = files;
  const plain = group.startsWith("types_") && module === undefined ? programs.map(withoutTypes) : programs;
  if (plain.includes(undefined)) return { ...line, expect: { throws: { name: "SyntaxError" } } };
  const strict = plain.map((program) => STRICT + program);
  const { expect, fails } = await answerOf(JSON.stringify({ programs: strict, module }), files, name);
  if (fails.length > 0) line.fails = fails;
  return { ...line, expect };
}

/** The answer of a child, which runs the case in its own directory. */
function answerOf(input, files, name) {
  const directory = mkdtempSync(join(tmpdir(), "case-"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text);
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", CHILD], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: "/root", TZ: "UTC", LANG: "C" },
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
  });
  child.stdio[3].end(input);
  const texts = { 2: "", 4: "" };
  for (const stream of [2, 4]) child.stdio[stream].setEncoding("utf8").on("data", (text) => (texts[stream] += text));
  return new Promise((resolve, reject) => {
    child.on("close", () => {
      rmSync(directory, { recursive: true, force: true });
      if (texts[4]) resolve(JSON.parse(texts[4]));
      else reject(new Error(`case "${name}" gave no answer: ${texts[2]}`));
    });
  });
}

/** Runs all cases of a group, a few at once, and keeps their order. */
async function runAll(group, cases) {
  const lines = new Array(cases.length);
  let next = 0;
  const worker = async () => {
    while (next < cases.length) {
      const index = next++;
      lines[index] = await runCase(group, cases[index]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return lines;
}

/** JSON in one line, whose characters can all be seen. */
function visible(value) {
  const hidden = /[\u007f-\u00a0\u200b-\u200f\u2028\u2029\u3000\ufeff]/g;
  return JSON.stringify(value).replace(hidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const texts = readdirSync(HERE).filter((name) => name.endsWith(".txt"));
const groups = process.argv.length > 2 ? process.argv.slice(2) : texts.map((name) => name.slice(0, -".txt".length)).sort();
for (const group of groups) {
  const lines = await runAll(group, parse(readFileSync(join(HERE, `${group}.txt`), "utf8")));
  const names = lines.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length > 0) throw new Error(`${group}: two cases have the name "${twice[0]}"`);
  writeFileSync(join(HERE, `${group}.jsonl`), lines.map((line) => visible(line) + "\n").join(""));
  process.stdout.write(`${group}: ${lines.length} cases\n`);
}

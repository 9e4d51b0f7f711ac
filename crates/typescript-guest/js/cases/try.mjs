// Runs recorded cases against the platform's modules in a bare realm of Node, and prints each difference.
//
//   node cases/try.mjs url encoding            (without a name: every recorded subject)
//   node cases/try.mjs url --only "part of a case's name"
//   node cases/try.mjs --code 'return new URL("http://a").href'
//
// Cases run in a realm that offers only what ECMAScript defines and then evaluates every module of
// `platform/`; a case that differs runs again in a fresh one. The default export of `platform/<name>.js`
// answers `require("node:<name>")`; `node:a/b` is `platform/a_b.js`, or the property `b` of `node:a`. Named
// exports that are names of Node's globals become globals. Where `platform/modules.js` exists, it answers
// `require` and `import` instead. The module `codeyard:native` is `native.mjs`, whose results are made values
// of the realm.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import vm from "node:vm";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const PLATFORM = join(HERE, "..", "platform");
const FLAGS = ["--experimental-vm-modules", "--expose-internals", "--no-warnings"];
const NOT_ECMASCRIPT = ["Intl", "WebAssembly", "console"];
const GLOBALS = new Set(
  `
  AbortController AbortSignal Blob BroadcastChannel Buffer CustomEvent DOMException Event
  EventTarget File FormData Headers Intl MessageChannel MessagePort MessageEvent Request Response
  TextDecoder TextEncoder URL URLSearchParams WebSocket atob btoa clearImmediate clearInterval
  clearTimeout console crypto Crypto CryptoKey SubtleCrypto fetch global navigator performance
  Performance process queueMicrotask setImmediate setInterval setTimeout structuredClone
  ReadableStream WritableStream TransformStream TextEncoderStream TextDecoderStream
  CompressionStream DecompressionStream ByteLengthQueuingStrategy CountQueuingStrategy
`
    .trim()
    .split(/\s+/),
);

/** Source text of each module, read once for all realms. */
const sources = new Map();
const source = (file) => {
  if (!sources.has(file)) sources.set(file, readFileSync(file, "utf8"));
  return sources.get(file);
};

/** Makes a function that turns results of this realm into values of the other one. */
function converter(context) {
  const make = vm.runInContext(
    "({ bytes: (n) => new Uint8Array(n), array: () => [], object: () => ({}), error: (m) => new Error(m) })",
    context,
  );
  const convert = (value) => {
    if (value === null || typeof value !== "object") return value;
    if (value instanceof Uint8Array) {
      const copy = make.bytes(value.length);
      copy.set(value);
      return copy;
    }
    if (value instanceof Error) return Object.assign(make.error(value.message), value);
    const prototype = Object.getPrototypeOf(value);
    if (prototype === Array.prototype) {
      const copy = make.array();
      for (const item of value) copy.push(convert(item));
      return copy;
    }
    if (prototype !== Object.prototype) return value;
    const copy = make.object();
    for (const key of Object.keys(value)) copy[key] = convert(value[key]);
    return copy;
  };
  return convert;
}

/** Wraps the native functions so that their results and failures belong to the realm. */
function wrapNative(native, convert, context) {
  const wrapped = vm.runInContext("({})", context);
  for (const [name, value] of Object.entries(native)) {
    if (typeof value === "object") {
      wrapped[name] = wrapNative(value, convert, context);
      continue;
    }
    wrapped[name] = (...inputs) => {
      try {
        return convert(value(...inputs));
      } catch (error) {
        throw convert(error);
      }
    };
  }
  return wrapped;
}

/** A realm with the platform in it. */
class Realm {
  #context = vm.createContext({});
  #modules = new Map();
  #native;

  async start(makeNative) {
    for (const name of NOT_ECMASCRIPT) vm.runInContext(`delete globalThis.${name}`, this.#context);
    const native = wrapNative(makeNative(), converter(this.#context), this.#context);
    this.#native = this.#synthetic("codeyard:native", { default: native });
    for (const name of readdirSync(PLATFORM)
      .filter((file) => file.endsWith(".js"))
      .sort()) {
      const module = this.#load(join(PLATFORM, name));
      const resolve = (specifier, from) => this.#resolve(specifier, from);
      if (module.status === "unlinked") await module.link(resolve);
      await module.evaluate();
      this.#addGlobals(module.namespace);
    }
  }

  #synthetic(identifier, values) {
    const fill = function () {
      for (const [name, value] of Object.entries(values)) this.setExport(name, value);
    };
    return new vm.SyntheticModule(Object.keys(values), fill, { identifier, context: this.#context });
  }

  #load(file) {
    if (!this.#modules.has(file)) {
      const module = new vm.SourceTextModule(source(file), { identifier: file, context: this.#context });
      this.#modules.set(file, module);
    }
    return this.#modules.get(file);
  }

  #resolve(specifier, from) {
    if (specifier === "codeyard:native") return this.#native;
    return this.#load(join(dirname(from.identifier), specifier));
  }

  #addGlobals(namespace) {
    for (const name of Object.keys(namespace)) {
      if (GLOBALS.has(name) && !Object.hasOwn(this.#context, name)) {
        const value = namespace[name];
        const attributes = { writable: true, configurable: true, enumerable: false };
        Object.defineProperty(this.#context, name, { value, ...attributes });
      }
    }
  }

  /** The exports of `platform/modules.js`, which knows all modules, if it is there. */
  get #table() {
    return this.#modules.get(join(PLATFORM, "modules.js"))?.namespace;
  }

  /** The result of `require` for a name with or without `node:`. */
  require(specifier) {
    if (this.#table) return this.#table.require(specifier);
    const path = specifier.replace(/^node:/, "");
    const module = this.#modules.get(join(PLATFORM, `${path.replaceAll("/", "_")}.js`));
    if (module) return module.namespace.default ?? module.namespace;
    const [parent, child] = path.split("/");
    const outer = child && this.require(parent);
    if (outer?.[child]) return outer[child];
    throw new Error(`the platform has no module ${specifier}`);
  }

  /** The result of `import` for a name. */
  #exportsOf(specifier) {
    if (!this.#table) return { ...this.require(specifier), default: this.require(specifier) };
    const namespace = this.#table.builtin(specifier);
    if (namespace === undefined) throw this.#table.importError(specifier);
    return namespace;
  }

  async #import(specifier) {
    const module = this.#synthetic(specifier, this.#exportsOf(specifier));
    await module.link(() => {});
    await module.evaluate();
    return module;
  }

  /** Runs the body of an async function; resolves to what it answers, as JSON. */
  async run(code) {
    const options = { importModuleDynamically: (specifier) => this.#import(specifier) };
    const script = new vm.Script(`(async function (require) {\n${code}\n})`, options);
    const body = script.runInContext(this.#context);
    let answer;
    try {
      answer = await body(this.#table?.require ?? ((specifier) => this.require(specifier)));
      if (answer === undefined) answer = null;
    } catch (error) {
      answer = { throws: { name: error?.name, message: error?.message, code: error?.code } };
      if (process.env.TRY_STACK) process.stderr.write(`${error?.stack}\n`);
    }
    return JSON.parse(JSON.stringify(answer));
  }
}

/** Runs cases, each in an empty directory; a realm serves many of them. */
class Runner {
  #makeNative;
  #realm;
  #output = "";

  constructor(makeNative) {
    this.#makeNative = makeNative;
  }

  async #fresh() {
    const write = (stream, text) => {
      if (stream === 1) this.#output += text;
    };
    const realm = new Realm();
    await realm.start(() => this.#makeNative({ write }));
    return realm;
  }

  /** Runs the code of a case; `output` is what it wrote to standard output. */
  async run(code, { isFresh = false } = {}) {
    const directory = mkdtempSync(join(tmpdir(), "case-"));
    if (isFresh || !this.#realm) this.#realm = await this.#fresh();
    process.chdir(directory);
    this.#output = "";
    try {
      const answer = await this.#realm.run(code);
      return { answer, output: this.#output };
    } finally {
      process.chdir("/");
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /** A case's difference from its recording; a realm changed by earlier cases is retried. */
  async difference({ code, expect, output: printed = "" }) {
    const isEqual = ({ answer, output }) => isDeepStrictEqual(answer, expect) && output === printed;
    if (isEqual(await this.run(code))) return undefined;
    const result = await this.run(code, { isFresh: true });
    return isEqual(result) ? undefined : result;
  }
}

/** Compares the cases of a subject; returns the number of those that differ. */
async function trySubject(makeNative, subject, only) {
  const runner = new Runner(makeNative);
  const lines = readFileSync(join(HERE, `${subject}.jsonl`), "utf8")
    .split("\n")
    .filter(Boolean);
  const cases = lines.map((line) => JSON.parse(line)).filter(({ name }) => name.includes(only));
  let different = 0;
  for (const one of cases) {
    const result = await runner.difference(one);
    if (!result) continue;
    different += 1;
    const { name, code, expect, output = "" } = one;
    process.stdout.write(`${subject}: ${name}\n${code.replace(/^/gm, "    ")}\n`);
    process.stdout.write(`  node     ${JSON.stringify(expect)}\n`);
    process.stdout.write(`  platform ${JSON.stringify(result.answer)}\n`);
    if (result.output !== output) {
      process.stdout.write(`  node prints     ${JSON.stringify(output)}\n`);
      process.stdout.write(`  platform prints ${JSON.stringify(result.output)}\n`);
    }
  }
  process.stdout.write(`${subject}: ${cases.length} cases, ${different} differ\n`);
  return different;
}

async function main(options) {
  const { makeNative } = await import("./native.mjs");
  const take = (flag) => {
    const index = options.indexOf(flag);
    return index < 0 ? undefined : options.splice(index, 2)[1];
  };
  const code = take("--code");
  if (code !== undefined) {
    const { answer, output } = await new Runner(makeNative).run(code);
    process.stdout.write(`${output}${JSON.stringify(answer, null, 2)}\n`);
    return;
  }
  const only = take("--only") ?? "";
  const recorded = readdirSync(HERE).filter((name) => name.endsWith(".jsonl"));
  const subjects = options.length ? options : recorded.map((name) => name.slice(0, -".jsonl".length));
  let different = 0;
  for (const subject of subjects) {
    if (!existsSync(join(HERE, `${subject}.jsonl`))) throw new Error(`${subject}.jsonl is not made yet`);
    different += await trySubject(makeNative, subject, only);
  }
  process.exit(different ? 1 : 0);
}

if (process.execArgv.includes(FLAGS[0])) {
  await main(process.argv.slice(2));
} else {
  const env = { ...process.env, TZ: "UTC", LANG: "C" };
  const again = [...FLAGS, ...process.argv.slice(1)];
  process.exit(spawnSync(process.execPath, again, { stdio: "inherit", env }).status ?? 1);
}

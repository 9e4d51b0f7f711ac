// Calls of the host: each has an id, and its promise settles when the host replies.
import native from "codeyard:native";
import { stringIndexOf, stringSlice } from "./primordials.js";

const { parse, stringify } = JSON;
const { defineProperty, hasOwn } = Object;
const { isArray } = Array;
const MapOf = Map;
const PromiseOf = Promise;
const ErrorOf = Error;
const TypeErrorOf = TypeError;
const setKey = MapOf.prototype.set;
const getKey = MapOf.prototype.get;
const { delete: deleteKey, clear, forEach } = MapOf.prototype;
const size = Object.getOwnPropertyDescriptor(MapOf.prototype, "size").get;
const { apply } = Reflect;
const promiseThen = PromiseOf.prototype.then;

/** A tool call that failed, or a tool that reported an error. `kind` says which; see the manual. */
export class ToolError extends ErrorOf {
  constructor(message, { server = "", tool = "", kind = "tool", retryable = false, hint } = {}) {
    super(hint ? `${message} (${hint})` : message);
    this.server = server;
    this.tool = tool;
    this.kind = kind;
    this.retryable = retryable;
  }
}
defineProperty(ToolError.prototype, "name", { value: "ToolError", writable: true, configurable: true });

const pending = new MapOf();
const unawaited = new MapOf();
let lastId = 0;
let lastRaw;
let isOnServer = false;

/** The promise of a call, which records whether the program uses its result. */
class Call extends PromiseOf {
  static get [Symbol.species]() {
    return PromiseOf;
  }

  then(fulfilled, rejected) {
    apply(deleteKey, unawaited, [this]);
    return apply(promiseThen, this, [fulfilled, rejected]);
  }
}

/** Makes a host call; returns the promise of its answer. */
function ask(name, args, read) {
  const text = stringify(args);
  const id = ++lastId;
  const { stack } = new ErrorOf();
  const call = new Call((resolve, reject) => apply(setKey, pending, [id, { resolve, reject, read, stack }]));
  native.call(id, name, text);
  return call;
}

/** Calls a tool with one object of arguments. */
export function callTool(server, tool, given) {
  const label = server ? `tools.${server}.${tool}` : tool;
  const args = argumentsOf(label, given);
  const call = ask("tool", { server, tool, args }, (raw) => valueOf(raw, server, tool));
  apply(setKey, unawaited, [call, { label, stack: new ErrorOf().stack }]);
  return call;
}

/** Makes a host call other than a tool call. */
export function host(name, args) {
  return ask(name, args, (answer) => answer);
}

/** The raw MCP result of the latest answer; `undefined` before the first. */
export function lastRawResult() {
  return lastRaw;
}

function argumentsOf(label, given) {
  if (given.length === 0 || (given.length === 1 && (given[0] === undefined || given[0] === null))) return {};
  const [args] = given;
  if (given.length > 1 || typeof args !== "object" || isArray(args)) {
    throw new TypeErrorOf(`${label} takes one object of arguments, as in ${label}({ key: value })`);
  }
  return args;
}

/** Called with each answer of the host: the value of a call, or the error of a failed call. */
export function reply(id, ok, error) {
  const waiting = apply(getKey, pending, [id]);
  if (waiting === undefined) return;
  apply(deleteKey, pending, [id]);
  try {
    if (error !== undefined) {
      throw new ToolError(error.message || "the call failed", { ...error, kind: error.kind || "upstream" });
    }
    waiting.resolve(waiting.read(ok));
  } catch (failure) {
    waiting.reject(placedAt(failure, waiting.stack));
  }
}

/** The error with the place of the call, in place of the answer's. */
function placedAt(error, stack) {
  const frames = stringSlice(stack, stringIndexOf(stack, "\n") + 1);
  const value = `${error.name}: ${error.message}\n${frames}`;
  defineProperty(error, "stack", { __proto__: null, value, writable: true, configurable: true });
  return error;
}

/**
 * Structured content, else all blocks where some are not text, else the text as JSON or as a list or dict in Python's
 * notation, else the text.
 */
function valueOf(raw, server, tool) {
  lastRaw = raw;
  if (isArray(raw)) {
    const message = `${server}.${tool} is a Python file; call it from a Python program of this session`;
    throw new ToolError(message, { server, tool, kind: "invalid_arguments" });
  }
  if (raw === null || typeof raw !== "object") return raw;
  const text = textOf(raw);
  if (raw.isError) throw new ToolError(text || `${server}.${tool} reported an error`, { server, tool });
  return withRaw(contentOf(raw, text), raw);
}

function contentOf(raw, text) {
  if (raw.structuredContent !== undefined && raw.structuredContent !== null) return raw.structuredContent;
  if (isOnServer) return objectOf(text);
  if (text === undefined || hasOthers(raw.content)) return raw.content?.length > 0 ? raw.content : null;
  try {
    return parse(text);
  } catch {
    const read = native.pythonLiteral(text);
    return read === undefined || read === null ? text : parse(read);
  }
}

/** The text as JSON, else `{text}`; `{}` without text: what programs of the surface `server` were written for. */
function objectOf(text) {
  if (!text) return {};
  try {
    return parse(text);
  } catch {
    return { text };
  }
}

/** Whether some blocks are images, sounds, resources or links. */
function hasOthers(content) {
  if (!isArray(content)) return false;
  for (let index = 0; index < content.length; index++) {
    if (content[index]?.type !== "text") return true;
  }
  return false;
}

function textOf(raw) {
  const { content } = raw;
  if (typeof content === "string") return content;
  if (!isArray(content)) return undefined;
  let texts;
  for (let index = 0; index < content.length; index++) {
    const block = content[index];
    if (block?.type !== "text" || typeof block.text !== "string") continue;
    texts = texts === undefined ? block.text : `${texts}\n${block.text}`;
  }
  return texts;
}

/** Objects remember the raw result under `raw`, unless they have such a key. */
function withRaw(value, raw) {
  if (value !== null && typeof value === "object" && !hasOwn(value, "raw")) {
    defineProperty(value, "raw", { __proto__: null, value: raw, enumerable: false, configurable: true });
  }
  return value;
}

/** Forgets the calls of an earlier run; on the surface `server`, results have another form. */
export function begin(isServer) {
  isOnServer = isServer;
  apply(clear, pending, []);
  apply(clear, unawaited, []);
}

/** Calls whose results the program never used: the first as `{label, stack}`, and their number. */
export function forgotten() {
  let first;
  apply(forEach, unawaited, [(call) => (first ??= call)]);
  return { first, count: apply(size, unawaited, []) };
}

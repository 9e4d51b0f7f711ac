// `node:path` for POSIX systems.

import { checkObject, checkString } from "./errors.js";

export const sep = "/";
export const delimiter = ":";

/** The directory that relative paths begin in; a program can change it through `process`. */
const currentDirectory = () => globalThis.process?.cwd?.() ?? "/";

/** Removes `.`, empty parts and what `..` takes back; leading `..` stay unless the path is absolute. */
function simplify(path, isAbsolutePath) {
  const kept = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length && kept.at(-1) !== "..") kept.pop();
    else if (!isAbsolutePath) kept.push("..");
  }
  return kept.join("/");
}

export function normalize(path) {
  checkString(path, "path");
  if (path === "") return ".";
  const absolute = path.startsWith("/");
  const simple = simplify(path, absolute);
  if (simple === "") return absolute ? "/" : path.endsWith("/") ? "./" : ".";
  return `${absolute ? "/" : ""}${simple}${path.endsWith("/") ? "/" : ""}`;
}

export function join(...paths) {
  for (const path of paths) checkString(path, "path");
  const joined = paths.filter((path) => path !== "").join("/");
  return joined === "" ? "." : normalize(joined);
}

export function resolve(...paths) {
  let resolved = "";
  for (let index = paths.length - 1; index >= 0 && !resolved.startsWith("/"); index--) {
    checkString(paths[index], `paths[${index}]`);
    if (paths[index] !== "") resolved = `${paths[index]}/${resolved}`;
  }
  if (!resolved.startsWith("/")) resolved = `${currentDirectory()}/${resolved}`;
  return `/${simplify(resolved, true)}`;
}

export function isAbsolute(path) {
  checkString(path, "path");
  return path.startsWith("/");
}

export function relative(from, to) {
  checkString(from, "from");
  checkString(to, "to");
  const start = resolve(from).split("/").filter(Boolean);
  const end = resolve(to).split("/").filter(Boolean);
  let common = 0;
  while (common < start.length && common < end.length && start[common] === end[common]) common += 1;
  return [...start.slice(common).fill(".."), ...end.slice(common)].join("/");
}

/** The length of a path without the slashes that end it; at least 1 for one that begins with a slash. */
function trimmedLength(path) {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end -= 1;
  return end;
}

export function dirname(path) {
  checkString(path, "path");
  if (path === "") return ".";
  const isRooted = path.startsWith("/");
  const slash = path.lastIndexOf("/", trimmedLength(path) - 1);
  if (slash <= 0) return isRooted ? "/" : ".";
  return slash === 1 && isRooted ? "//" : path.slice(0, slash);
}

/** The last part of a path, without slashes. */
function lastPart(path) {
  const end = trimmedLength(path);
  const part = path.slice(path.lastIndexOf("/", end - 1) + 1, end);
  return part === "/" ? "" : part;
}

export function basename(path, suffix) {
  if (suffix !== undefined) checkString(suffix, "suffix");
  checkString(path, "path");
  if (suffix !== undefined && suffix === path) return "";
  const name = lastPart(path);
  if (!suffix || suffix.length > path.length) return name;
  if (name === "") return path;
  if (name.endsWith(suffix)) return name === suffix ? name : name.slice(0, -suffix.length);
  return suffix.endsWith(name) ? path.slice(trimmedLength(path) - name.length) : name;
}

/** The extension of a name with its dot; none for names like `.profile` and `..`. */
function extensionOf(name) {
  const dot = name.lastIndexOf(".");
  return dot <= 0 || name === ".." ? "" : name.slice(dot);
}

export function extname(path) {
  checkString(path, "path");
  return extensionOf(lastPart(path));
}

export function parse(path) {
  checkString(path, "path");
  const root = path.startsWith("/") ? "/" : "";
  const base = lastPart(path);
  const ext = extensionOf(base);
  const name = ext ? base.slice(0, -ext.length) : base;
  const start = trimmedLength(path) - base.length;
  const dir = start > 1 ? path.slice(0, start - 1) : path.slice(0, start);
  return { root, dir: base === "" ? root : dir, base, ext, name };
}

export function format(pathObject) {
  checkObject(pathObject, "pathObject");
  const { root = "", dir, ext = "", name = "" } = pathObject;
  const dotted = ext && !ext.startsWith(".") ? `.${ext}` : ext;
  const base = pathObject.base || `${name}${dotted}`;
  const directory = dir || root;
  if (!directory) return base;
  return directory === root ? `${directory}${base}` : `${directory}/${base}`;
}

export function toNamespacedPath(path) {
  return path;
}

export const posix = {
  resolve,
  normalize,
  isAbsolute,
  join,
  relative,
  toNamespacedPath,
  dirname,
  basename,
  extname,
  format,
  parse,
  sep,
  delimiter,
};
posix.posix = posix;

export default posix;

// The older half of `node:url`: `parse`, `format` and `resolve` of texts and plain objects.

import native from "codeyard:native";
import { checkString, invalidArgType } from "./errors.js";
import { parse as parseQuery, stringify as stringifyQuery } from "./querystring.js";

const SLASHED = new Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
const PROTOCOL = /^[a-z0-9.+-]+:/i;
const AUTHORITY_WITH_USER = /^\/\/[^@/]+@[^@/]+/;
const SIMPLE_PATH = /^(\/\/?(?!\/)[^?\s]*)(\?[^\s]*)?$/;
const NO_HOST_CHARACTER = /[\t\n\r "%';<>\\^`{|}]/;
const ESCAPED = /[\t\n\r "'<>\\^`{|}]/g;
const FORBIDDEN_IN_HOST = /[\0\t\n\r #%/:<>?@[\\\]^|]/;
const LONGEST_HOST = 255;

const percent = (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** The ASCII form of a host name; empty when it is none. */
export function domainToAscii(domain) {
  if (/[/?#\\@:]/.test(domain) && !domain.startsWith("[")) return "";
  return native.urlParse(`ws://${domain.toWellFormed()}`)?.hostname ?? "";
}

function invalidUrl(input) {
  return Object.assign(new TypeError("Invalid URL"), { code: "ERR_INVALID_URL", input });
}

function decodeUser(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new URIError("URI malformed");
  }
}

/** Turns backslashes before the query and the fragment into slashes. */
function normalizeSlashes(text) {
  const end = text.search(/[?#]/);
  if (end < 0) return text.replaceAll("\\", "/");
  return text.slice(0, end).replaceAll("\\", "/") + text.slice(end);
}

/** Where the authority ends and where its user part ends, in a text after the slashes. */
function measureAuthority(rest) {
  const stop = rest.search(/[#/?]/);
  const end = stop < 0 ? rest.length : stop;
  const at = rest.lastIndexOf("@", end - 1);
  const start = at < 0 ? 0 : at + 1;
  const bad = rest.slice(start, end).search(NO_HOST_CHARACTER);
  return { at, start, end: bad < 0 ? end : start + bad };
}

/** An object of the older interface, as `url.parse` returns it. */
export class Url {
  protocol = null;
  slashes = null;
  auth = null;
  host = null;
  port = null;
  hostname = null;
  hash = null;
  search = null;
  query = null;
  pathname = null;
  path = null;
  href = null;

  parse(input, parseQueryString, slashesDenoteHost) {
    checkString(input, "url");
    let rest = normalizeSlashes(input.trim());
    const simple = slashesDenoteHost || /[#@]/.test(rest) ? null : SIMPLE_PATH.exec(rest);
    if (simple) return this.#takeSimplePath(simple, parseQueryString);
    const protocol = PROTOCOL.exec(rest)?.[0];
    const scheme = protocol?.toLowerCase();
    if (protocol) {
      this.protocol = scheme;
      rest = rest.slice(protocol.length);
    }
    const isScript = scheme === "javascript:";
    const mayHaveHost = slashesDenoteHost || protocol || AUTHORITY_WITH_USER.test(rest);
    if (mayHaveHost && rest.startsWith("//") && !isScript) {
      this.slashes = true;
      rest = rest.slice(2);
    }
    const hasHost = this.slashes || (protocol && !SLASHED.has(protocol));
    if (hasHost && !isScript) rest = this.#takeAuthority(rest, input);
    this.#takePath(isScript ? rest : rest.replace(ESCAPED, percent), parseQueryString);
    if (SLASHED.has(scheme) && this.hostname && !this.pathname) this.pathname = "/";
    if (this.pathname || this.search) this.path = (this.pathname ?? "") + (this.search ?? "");
    this.href = this.format();
    return this;
  }

  /** Reads user, host and port; returns what follows them. */
  #takeAuthority(text, input) {
    const { at, start, end } = measureAuthority(text);
    if (at >= 0) this.auth = decodeUser(text.slice(0, at));
    let rest = text.slice(end);
    let name = text.slice(start, end);
    const port = /:[0-9]*$/.exec(name)?.[0];
    if (port) {
      if (port !== ":") this.port = port.slice(1);
      name = name.slice(0, -port.length);
    }
    const isAddress = name.startsWith("[") && name.endsWith("]");
    const bad = isAddress ? -1 : name.search(/[/\\#?:*]/);
    if (bad >= 0) {
      rest = `/${name.slice(bad)}${rest}`;
      name = name.slice(0, bad);
    }
    name = name.length > LONGEST_HOST ? "" : name.toLowerCase();
    if (!isAddress && /[^\x00-\x7f]/.test(name)) {
      name = domainToAscii(name);
      if (!name) throw invalidUrl(input);
    }
    if (!isAddress && FORBIDDEN_IN_HOST.test(name)) throw invalidUrl(input);
    this.host = name + (this.port ? `:${this.port}` : "");
    this.hostname = isAddress ? name.slice(1, -1) : name;
    if (isAddress && !rest.startsWith("/")) rest = `/${rest}`;
    return rest;
  }

  /** A path with a query, and nothing else, stays as it is written. */
  #takeSimplePath([text, pathname, search], parseQueryString) {
    Object.assign(this, { pathname, path: text, href: text });
    if (search !== undefined) Object.assign(this, { search, query: search.slice(1) });
    if (parseQueryString) this.query = parseQuery(this.query ?? "");
    return this;
  }

  #takePath(text, parseQueryString) {
    let rest = text;
    const fragment = rest.indexOf("#");
    if (fragment >= 0) {
      this.hash = rest.slice(fragment);
      rest = rest.slice(0, fragment);
    }
    const question = rest.indexOf("?");
    if (question >= 0) {
      this.search = rest.slice(question);
      this.query = rest.slice(question + 1);
      if (parseQueryString) this.query = parseQuery(this.query);
      rest = rest.slice(0, question);
    } else if (parseQueryString) {
      this.search = null;
      this.query = Object.create(null);
    }
    if (rest) this.pathname = rest;
  }

  format() {
    return formatParts(this);
  }

  resolve(relative) {
    return resolve(this.href, relative);
  }
}

/** Joins a host name and a port; an address of version 6 gets its brackets. */
function hostOf({ host, hostname, port }) {
  if (host) return host;
  if (!hostname) return "";
  const name = hostname.includes(":") && !hostname.startsWith("[") ? `[${hostname}]` : hostname;
  return name + (port ? `:${port}` : "");
}

function queryOf({ search, query }) {
  const text = query !== null && typeof query === "object" ? stringifyQuery(query) : "";
  return search || (text && `?${text}`) || "";
}

function formatParts(parts) {
  let protocol = parts.protocol || "";
  if (protocol && !protocol.endsWith(":")) protocol += ":";
  let pathname = (parts.pathname || "").replace(/[?#]/g, percent);
  let host = hostOf(parts);
  if (host && parts.auth) host = `${encodeURIComponent(parts.auth).replaceAll("%3A", ":")}@${host}`;
  if (parts.slashes || SLASHED.has(protocol)) {
    if (parts.slashes || host) {
      if (pathname && !pathname.startsWith("/")) pathname = `/${pathname}`;
      host = `//${host}`;
    } else if (protocol === "file:") {
      host = "//";
    }
  }
  let search = queryOf(parts).replaceAll("#", "%23");
  let hash = parts.hash || "";
  if (hash && !hash.startsWith("#")) hash = `#${hash}`;
  if (search && !search.startsWith("?")) search = `?${search}`;
  return protocol + host + pathname + search + hash;
}

export function parse(url, parseQueryString = false, slashesDenoteHost = false) {
  if (url instanceof Url) return url;
  return new Url().parse(url, parseQueryString, slashesDenoteHost);
}

export function format(urlObject) {
  if (typeof urlObject === "string") return parse(urlObject).format();
  if (typeof urlObject !== "object" || urlObject === null) {
    throw invalidArgType("urlObject", ["object", "string"], urlObject);
  }
  return formatParts(urlObject);
}

/** Takes `.` and `..` out of a path; a relative one keeps the `..` that lead out of it. */
function withoutDots(pathname) {
  const isAbsolute = pathname.startsWith("/");
  const kept = [];
  const parts = pathname.split("/").slice(isAbsolute ? 1 : 0);
  for (const part of parts) {
    if (part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.length && kept.at(-1) !== "..") kept.pop();
    else if (!isAbsolute) kept.push("..");
  }
  const last = parts.at(-1);
  if (last === "." || last === "..") kept.push("");
  return (isAbsolute ? "/" : "") + kept.join("/");
}

/** The path of a relative URL, seen from that of its base. */
function joinPaths(base, pathname) {
  if (pathname.startsWith("/")) return withoutDots(pathname);
  const before = base.pathname ?? (base.host ? "/" : "");
  return withoutDots(before.slice(0, before.lastIndexOf("/") + 1) + pathname);
}

function resolved(base, relative) {
  const isOther = relative.protocol && relative.protocol !== base.protocol;
  if (isOther || relative.slashes) {
    const whole = Object.assign(new Url(), relative);
    whole.protocol ??= base.protocol;
    if (whole.pathname && relative.protocol && !isOther) whole.pathname = withoutDots(whole.pathname);
    return whole;
  }
  const result = Object.assign(new Url(), base, { hash: relative.hash });
  if (relative.pathname) result.pathname = joinPaths(base, relative.pathname);
  if (relative.pathname || relative.search) {
    result.search = relative.search;
    result.query = relative.query;
  }
  return result;
}

/** Finds what a relative URL means at a base, which need not be absolute itself. */
export function resolve(from, to) {
  checkString(from, "url");
  checkString(to, "url");
  const base = new Url().parse(from, false, true);
  return resolved(base, new Url().parse(to, false, true)).format();
}

export function resolveObject(source, relative) {
  return parse(resolve(source instanceof Url ? source.href : source, relative), false, true);
}

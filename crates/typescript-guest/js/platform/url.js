// `node:url`: the classes of URLs, paths of files as URLs, and the older functions.

import native from "codeyard:native";
import { checkBoolean, checkObject, checkString, invalidArgType, missingArgs, withCode } from "./errors.js";
import { resolve as resolvePath } from "./path.js";
import { domainToUnicode as decodeDomain } from "./punycode.js";
import { URL } from "./url_class.js";
import { Url, domainToAscii, format as formatLegacy, parse, resolve, resolveObject } from "./url_legacy.js";
import { URLSearchParams } from "./url_search_params.js";

/** Path characters that a URL must escape, beyond the usual escapes of URLs. */
const ESCAPED_IN_PATH = /[%\\\n\r\t?#[\]^|~]/g;
const percent = (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** Whether a value has a URL's properties, even if of another class. */
function isUrl(value) {
  return Boolean(value?.href && value.protocol && value.auth === undefined && value.path === undefined);
}

export function fileURLToPath(path) {
  const url = typeof path === "string" ? new URL(path) : path;
  if (!isUrl(url)) throw invalidArgType("path", ["string", "URL"], path);
  if (url.protocol !== "file:") {
    throw withCode(new TypeError("The URL must be of scheme file"), "ERR_INVALID_URL_SCHEME");
  }
  if (url.hostname !== "") {
    const message = 'File URL host must be "localhost" or empty on linux';
    throw withCode(new TypeError(message), "ERR_INVALID_FILE_URL_HOST");
  }
  if (/%2f/i.test(url.pathname)) {
    const message = "File URL path must not include encoded / characters";
    throw withCode(new TypeError(message), "ERR_INVALID_FILE_URL_PATH");
  }
  return decodeURIComponent(url.pathname);
}

export function pathToFileURL(path) {
  checkString(path, "path");
  let resolved = resolvePath(path);
  if (path.endsWith("/") && !resolved.endsWith("/")) resolved += "/";
  const url = new URL("file://");
  url.pathname = resolved.replace(ESCAPED_IN_PATH, percent);
  return url;
}

export function domainToASCII(domain) {
  if (arguments.length < 1) throw missingArgs("domain");
  return domainToAscii(`${domain}`);
}

export function domainToUnicode(domain) {
  if (arguments.length < 1) throw missingArgs("domain");
  return decodeDomain(domainToAscii(`${domain}`));
}

/** Writes a URL of the class without the parts that the options leave out. */
function formatUrl(url, options) {
  const keep = { fragment: true, unicode: false, search: true, auth: true };
  if (options !== undefined && options !== null) {
    checkObject(options, "options");
    for (const name of Object.keys(keep)) {
      if (options[name] === undefined || options[name] === null) continue;
      checkBoolean(options[name], `options.${name}`);
      keep[name] = options[name];
    }
  }
  let href = url.href;
  if (!keep.fragment) href = native.urlSet(href, "hash", "").href;
  if (!keep.search) href = native.urlSet(href, "search", "").href;
  if (!keep.auth) {
    href = native.urlSet(href, "username", "").href;
    href = native.urlSet(href, "password", "").href;
  }
  if (keep.unicode && url.hostname) href = href.replace(url.hostname, decodeDomain(url.hostname));
  return href;
}

export function format(urlObject, options) {
  return urlObject instanceof URL ? formatUrl(urlObject, options) : formatLegacy(urlObject);
}

/** The options of `http.request` for a URL. */
export function urlToHttpOptions(url) {
  const { hostname, pathname, port, username, password, search } = url;
  const options = {
    __proto__: null,
    ...url,
    protocol: url.protocol,
    hostname: hostname?.startsWith("[") ? hostname.slice(1, -1) : hostname,
    hash: url.hash,
    search,
    pathname,
    path: `${pathname || ""}${search || ""}`,
    href: url.href,
  };
  if (port !== "") options.port = Number(port);
  if (username || password) options.auth = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return options;
}

export { URL, URLSearchParams, Url, parse, resolve, resolveObject };

export default {
  Url,
  parse,
  resolve,
  resolveObject,
  format,
  URL,
  URLSearchParams,
  domainToASCII,
  domainToUnicode,
  pathToFileURL,
  fileURLToPath,
  urlToHttpOptions,
};

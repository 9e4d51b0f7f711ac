// `Request`.

import { AbortController, AbortSignal } from "./abort.js";
import { Body } from "./body.js";
import { Headers } from "./headers.js";
import { asInterface } from "./interface.js";
import { URL } from "./url_class.js";
import { invalidCall, needArguments, readDictionary } from "./web_errors.js";
import { showFields } from "./web_inspect.js";

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const UPPER_CASE = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"];
const FORBIDDEN = ["CONNECT", "TRACE", "TRACK"];

/** Properties with a fixed choice: the choices, the first of which counts if nothing is said. */
const CHOICES = {
  mode: ["cors", "navigate", "same-origin", "no-cors"],
  credentials: ["same-origin", "omit", "include"],
  cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
  redirect: ["follow", "manual", "error"],
  referrerPolicy: [
    "",
    "no-referrer",
    "no-referrer-when-downgrade",
    "same-origin",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url",
  ],
};

function readChoice(name, value, fallback) {
  if (value === undefined) return fallback;
  const allowed = CHOICES[name];
  if (allowed.includes(`${value}`)) return `${value}`;
  const expected = allowed.join(", ");
  throw new TypeError(`Request constructor: ${value} is not an accepted type. Expected one of ${expected}.`);
}

function readMethod(value) {
  const method = `${value}`;
  if (!TOKEN.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
  const upper = method.toUpperCase();
  if (FORBIDDEN.includes(upper)) throw new TypeError(`'${method}' HTTP method is unsupported.`);
  return UPPER_CASE.includes(upper) ? upper : method;
}

function readUrl(input) {
  const text = `${input}`;
  if (!URL.canParse(text)) {
    throw new TypeError(`Failed to parse URL from ${text}`, { cause: new TypeError("Invalid URL") });
  }
  const url = new URL(text);
  if (url.username || url.password) {
    throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${text}`);
  }
  return url.href;
}

function readSignal(signal) {
  if (signal === undefined || signal === null) return new AbortController().signal;
  if (signal instanceof AbortSignal) return AbortSignal.any([signal]);
  throw new TypeError("Failed to construct 'Request': member signal is not of type AbortSignal.");
}

export class Request {
  #url;
  #method;
  #headers;
  #signal;
  #body;
  #choices = {};
  #integrity;
  #keepalive;
  #referrer;

  constructor(input, init = {}) {
    needArguments("Request constructor", arguments.length, 1);
    const options = readDictionary(init, "Request constructor");
    const other = input !== null && typeof input === "object" && #body in input ? input : undefined;
    this.#url = other?.#url ?? readUrl(input);
    this.#method = options.method === undefined ? (other?.#method ?? "GET") : readMethod(options.method);
    for (const [name, [first]] of Object.entries(CHOICES)) {
      this.#choices[name] = readChoice(name, options[name], other?.#choices[name] ?? first);
    }
    this.#integrity = `${options.integrity ?? other?.#integrity ?? ""}`;
    this.#keepalive = Boolean(options.keepalive ?? other?.#keepalive);
    this.#referrer = `${options.referrer ?? other?.#referrer ?? "about:client"}`;
    this.#signal = readSignal(options.signal === undefined ? other?.#signal : options.signal);
    this.#headers = new Headers(options.headers ?? other?.#headers);
    this.#takeBody(options.body, other);
  }

  #takeBody(content, other) {
    const isGiven = content !== undefined && content !== null;
    const hasBody = isGiven || (other !== undefined && !other.#body.isEmpty);
    if (hasBody && (this.#method === "GET" || this.#method === "HEAD")) {
      throw new TypeError("Request with GET/HEAD method cannot have body.");
    }
    if (!isGiven && other !== undefined) {
      if (other.#body.isUnusable) {
        throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
      }
      this.#body = other.#body.copy();
      return;
    }
    this.#body = new Body(content);
    const { type } = this.#body;
    if (type !== null && !this.#headers.has("content-type")) this.#headers.append("content-type", type);
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#body in value)) throw invalidCall();
    return value;
  }

  get method() {
    return Request.#from(this).#method;
  }

  get url() {
    return Request.#from(this).#url;
  }

  get headers() {
    return Request.#from(this).#headers;
  }

  get destination() {
    Request.#from(this);
    return "";
  }

  get referrer() {
    return Request.#from(this).#referrer;
  }

  get referrerPolicy() {
    return Request.#from(this).#choices.referrerPolicy;
  }

  get mode() {
    return Request.#from(this).#choices.mode;
  }

  get credentials() {
    return Request.#from(this).#choices.credentials;
  }

  get cache() {
    return Request.#from(this).#choices.cache;
  }

  get redirect() {
    return Request.#from(this).#choices.redirect;
  }

  get integrity() {
    return Request.#from(this).#integrity;
  }

  get keepalive() {
    return Request.#from(this).#keepalive;
  }

  get isReloadNavigation() {
    Request.#from(this);
    return false;
  }

  get isHistoryNavigation() {
    Request.#from(this);
    return false;
  }

  get signal() {
    return Request.#from(this).#signal;
  }

  get body() {
    return Request.#from(this).#body.stream;
  }

  get bodyUsed() {
    return Request.#from(this).#body.isUsed;
  }

  get duplex() {
    Request.#from(this);
    return "half";
  }

  clone() {
    const request = Request.#from(this);
    if (request.#body.isUnusable) throw new TypeError("unusable");
    return new Request(request);
  }

  async blob() {
    const request = Request.#from(this);
    return request.#body.blob(request.#headers.get("content-type"));
  }

  async arrayBuffer() {
    return (await Request.#from(this).#body.bytes()).buffer;
  }

  async text() {
    return Request.#from(this).#body.text();
  }

  async json() {
    return Request.#from(this).#body.json();
  }

  async formData() {
    const request = Request.#from(this);
    return request.#body.formData(request.#headers.get("content-type"));
  }

  async bytes() {
    return Request.#from(this).#body.bytes();
  }
}

asInterface(Request);
const SHOWN = [
  "method",
  "url",
  "headers",
  "destination",
  "referrer",
  "referrerPolicy",
  "mode",
  "credentials",
  "cache",
  "redirect",
  "integrity",
  "keepalive",
  "isReloadNavigation",
  "isHistoryNavigation",
  "signal",
];
showFields(Request, (request) => Object.fromEntries(SHOWN.map((name) => [name, request[name]])));

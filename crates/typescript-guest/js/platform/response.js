// `Response`.

import { Body } from "./body.js";
import { Headers, checkBytes } from "./headers.js";
import { asInterface } from "./interface.js";
import { URL } from "./url_class.js";
import { invalidCall, needArguments, readDictionary } from "./web_errors.js";
import { showFields } from "./web_inspect.js";

const WITHOUT_BODY = [101, 204, 205, 304];
const REDIRECTS = [301, 302, 303, 307, 308];
const STATUS_TEXT = /^[\t \x21-\x7e\x80-\xff]*$/;

function readStatus(value) {
  const status = Number(value) & 0xffff;
  if (status >= 200 && status <= 599) return status;
  throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
}

function readStatusText(value) {
  const text = `${value}`;
  checkBytes(text);
  if (!STATUS_TEXT.test(text)) throw new TypeError("Invalid statusText");
  return text;
}

export class Response {
  #body;
  #status;
  #statusText;
  #headers;
  #type = "default";
  #url = "";

  constructor(body = null, init = {}) {
    const { status = 200, statusText = "", headers } = readDictionary(init, "Response constructor");
    this.#status = readStatus(status);
    this.#statusText = readStatusText(statusText);
    this.#headers = new Headers(headers);
    this.#body = new Body(body);
    if (!this.#body.isEmpty && WITHOUT_BODY.includes(this.#status)) {
      throw new TypeError(`Response constructor: Invalid response status code ${this.#status}`);
    }
    const { type } = this.#body;
    if (type !== null && !this.#headers.has("content-type")) this.#headers.append("content-type", type);
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#body in value)) throw invalidCall();
    return value;
  }

  static error() {
    const response = new Response();
    response.#type = "error";
    response.#status = 0;
    return response;
  }

  static json(data, init = {}) {
    needArguments("Response.json", arguments.length, 1);
    const text = JSON.stringify(data);
    if (text === undefined) throw new TypeError("Value is not JSON serializable");
    const headers = new Headers(readDictionary(init, "Response.json").headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new Response(text, { ...init, headers });
  }

  static redirect(url, status = 302) {
    needArguments("Response.redirect", arguments.length, 1);
    if (!URL.canParse(`${url}`)) {
      const cause = new TypeError("Invalid URL");
      throw new TypeError(`Failed to parse URL from ${url}`, { cause });
    }
    if (!REDIRECTS.includes(status)) throw new RangeError(`Invalid status code ${status}`);
    const response = new Response();
    response.#status = status;
    response.#headers.set("location", new URL(url).href);
    return response;
  }

  get type() {
    return Response.#from(this).#type;
  }

  get url() {
    return Response.#from(this).#url;
  }

  get redirected() {
    Response.#from(this);
    return false;
  }

  get status() {
    return Response.#from(this).#status;
  }

  get ok() {
    const { status } = Response.#from(this);
    return status >= 200 && status <= 299;
  }

  get statusText() {
    return Response.#from(this).#statusText;
  }

  get headers() {
    return Response.#from(this).#headers;
  }

  get body() {
    return Response.#from(this).#body.stream;
  }

  get bodyUsed() {
    return Response.#from(this).#body.isUsed;
  }

  clone() {
    const response = Response.#from(this);
    if (response.#body.isUnusable) throw new TypeError("Response.clone: Body has already been consumed.");
    const copy = new Response(null, { statusText: response.#statusText, headers: response.#headers });
    copy.#status = response.#status;
    copy.#type = response.#type;
    copy.#url = response.#url;
    copy.#body = response.#body.copy();
    return copy;
  }

  async blob() {
    const response = Response.#from(this);
    return response.#body.blob(response.#headers.get("content-type"));
  }

  async arrayBuffer() {
    return (await Response.#from(this).#body.bytes()).buffer;
  }

  async text() {
    return Response.#from(this).#body.text();
  }

  async json() {
    return Response.#from(this).#body.json();
  }

  async formData() {
    const response = Response.#from(this);
    return response.#body.formData(response.#headers.get("content-type"));
  }

  async bytes() {
    return Response.#from(this).#body.bytes();
  }
}

asInterface(Response);
showFields(Response, ({ status, statusText, headers, body, bodyUsed, ok, redirected, type, url }) => ({
  status,
  statusText,
  headers,
  body,
  bodyUsed,
  ok,
  redirected,
  type,
  url,
}));

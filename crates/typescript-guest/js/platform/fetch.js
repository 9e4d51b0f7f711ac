// `fetch` and the classes of connections. There is no network: they fail and name the remedy.

import { EventTarget } from "./event_target.js";
import { readDataUrl } from "./data_url.js";
import { asInterface } from "./interface.js";
import { Request } from "./request.js";
import { Response } from "./response.js";

const REMEDY = "no network; use a tool (await tools.<server>.<tool>(args))";

function unreachable(name) {
  return new TypeError(`${name} failed: ${REMEDY}`);
}

/** Answers `data:` URLs; rejects for all others. */
export async function fetch(input, init = undefined) {
  const request = new Request(input, init);
  request.signal.throwIfAborted();
  if (!request.url.startsWith("data:")) throw unreachable("fetch");
  const content = readDataUrl(request.url);
  if (content === undefined)
    throw new TypeError("fetch failed", { cause: new Error("invalid path to fetch") });
  return new Response(content.bytes, { statusText: "OK", headers: { "content-type": content.type } });
}

Object.defineProperty(fetch, "length", { value: 1, configurable: true });

/** The numbers that a class of connections gives its states. */
function defineStates(Class, names) {
  for (const [value, name] of names.entries()) {
    const constant = { value, enumerable: true };
    Object.defineProperty(Class, name, constant);
    Object.defineProperty(Class.prototype, name, constant);
  }
  asInterface(Class);
}

export class XMLHttpRequest extends EventTarget {
  constructor() {
    throw unreachable("XMLHttpRequest");
  }
}

export class WebSocket extends EventTarget {
  constructor() {
    throw unreachable("WebSocket");
  }
}

export class EventSource extends EventTarget {
  constructor() {
    throw unreachable("EventSource");
  }
}

defineStates(XMLHttpRequest, ["UNSENT", "OPENED", "HEADERS_RECEIVED", "LOADING", "DONE"]);
defineStates(WebSocket, ["CONNECTING", "OPEN", "CLOSING", "CLOSED"]);
defineStates(EventSource, ["CONNECTING", "OPEN", "CLOSED"]);

export { Request, Response };
export { FormData } from "./form_data.js";
export { Headers } from "./headers.js";

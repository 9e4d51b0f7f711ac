// Puts the platform on `globalThis`, with the attributes that Node gives each name.

import native from "codeyard:native";
import { AbortController, AbortSignal } from "./abort.js";
import { Blob, File } from "./blob.js";
import { Buffer } from "./buffer.js";
import { console } from "./console.js";
import { Crypto, CryptoKey, SubtleCrypto, crypto } from "./crypto.js";
import { DOMException } from "./dom_exception.js";
import { TextDecoder, TextEncoder, atob, btoa } from "./encoding.js";
import { CustomEvent, Event } from "./event.js";
import { EventTarget } from "./event_target.js";
import {
  EventSource,
  FormData,
  Headers,
  Request,
  Response,
  WebSocket,
  XMLHttpRequest,
  fetch,
} from "./fetch.js";
import { Intl } from "./intl.js";
import { mainModule, require } from "./modules.js";
import { Performance, performance } from "./performance.js";
import { PerformanceEntry, PerformanceMark, PerformanceMeasure } from "./performance_entries.js";
import { PerformanceObserver, PerformanceObserverEntryList } from "./performance_observer.js";
import { process } from "./process.js";
import { structuredClone } from "./structured_clone.js";
import {
  clearImmediate,
  clearInterval,
  clearTimeout,
  queueMicrotask,
  setImmediate,
  setInterval,
  setTimeout,
} from "./timers.js";
import { URL, URLSearchParams } from "./url.js";

const { currentDirectory } = native;
const { defineProperty, entries } = Object;

/** Names that a loop over the keys of `globalThis` shows. */
const shown = {
  global: globalThis,
  clearImmediate,
  setImmediate,
  clearInterval,
  clearTimeout,
  setInterval,
  setTimeout,
  queueMicrotask,
  structuredClone,
  atob,
  btoa,
  performance,
  fetch,
  crypto,
};

const hidden = {
  AbortController,
  AbortSignal,
  Blob,
  Buffer,
  Crypto,
  CryptoKey,
  CustomEvent,
  DOMException,
  Event,
  EventSource,
  EventTarget,
  File,
  FormData,
  Headers,
  Intl,
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceObserver,
  PerformanceObserverEntryList,
  Request,
  Response,
  SubtleCrypto,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  WebSocket,
  XMLHttpRequest,
  console,
  exports: mainModule.exports,
  module: mainModule,
  process,
  require,
};

for (const [values, enumerable] of [
  [shown, true],
  [hidden, false],
]) {
  for (const [name, value] of entries(values)) {
    defineProperty(globalThis, name, { value, writable: true, enumerable, configurable: true });
  }
}

/** The location variables of CommonJS; a program is in its working directory. */
const places = { __dirname: () => currentDirectory(), __filename: () => `${currentDirectory()}/program` };
for (const [name, get] of entries(places)) {
  const set = (value) => defineProperty(globalThis, name, { value, writable: true, configurable: true });
  defineProperty(globalThis, name, { get, set, enumerable: false, configurable: true });
}

defineProperty(globalThis, Symbol.toStringTag, { value: "global", configurable: true });

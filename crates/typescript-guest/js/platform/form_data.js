// `FormData`: the fields of a form, texts and files.

import { Blob, File } from "./blob.js";
import { asInterface, hiddenMethod } from "./interface.js";
import { invalidCall, needArguments } from "./web_errors.js";
import { showFields } from "./web_inspect.js";

/** Texts stay texts; a blob becomes a file. */
function readValue(method, inputs) {
  const [, value, filename] = inputs;
  const isBlob = value instanceof Blob;
  if (inputs.length > 2 && !isBlob) {
    throw new TypeError(`Failed to execute '${method}' on 'FormData': parameter 2 is not of type 'Blob'`);
  }
  if (!isBlob) return `${value}`.toWellFormed();
  if (value instanceof File && filename === undefined) return value;
  const name = filename === undefined ? "blob" : `${filename}`;
  return new File([value], name, { type: value.type });
}

export class FormData {
  #fields = [];

  constructor(form = undefined) {
    if (form === undefined) return;
    throw new TypeError("FormData constructor: Argument 1 could not be converted to: undefined.");
  }

  static #from(value) {
    if (value === null || typeof value !== "object" || !(#fields in value)) throw invalidCall();
    return value;
  }

  append(...inputs) {
    const form = FormData.#from(this);
    needArguments("FormData.append", inputs.length, 2);
    form.#fields.push([`${inputs[0]}`.toWellFormed(), readValue("append", inputs)]);
  }

  /** Replaces the first field of the name and removes the others. */
  set(...inputs) {
    const form = FormData.#from(this);
    needArguments("FormData.set", inputs.length, 2);
    const field = [`${inputs[0]}`.toWellFormed(), readValue("set", inputs)];
    const first = form.#fields.findIndex(([name]) => name === field[0]);
    if (first < 0) form.#fields.push(field);
    else form.#fields = form.#fields.filter(([name], index) => name !== field[0] || index === first);
    if (first >= 0) form.#fields[first] = field;
  }

  delete(name) {
    const form = FormData.#from(this);
    needArguments("FormData.delete", arguments.length, 1);
    form.#fields = form.#fields.filter((field) => field[0] !== `${name}`);
  }

  get(name) {
    const form = FormData.#from(this);
    needArguments("FormData.get", arguments.length, 1);
    return form.#fields.find((field) => field[0] === `${name}`)?.[1] ?? null;
  }

  getAll(name) {
    const form = FormData.#from(this);
    needArguments("FormData.getAll", arguments.length, 1);
    return form.#fields.filter((field) => field[0] === `${name}`).map((field) => field[1]);
  }

  has(name) {
    const form = FormData.#from(this);
    needArguments("FormData.has", arguments.length, 1);
    return form.#fields.some((field) => field[0] === `${name}`);
  }

  *keys() {
    for (const [name] of FormData.#from(this).#fields) yield name;
  }

  *values() {
    for (const [, value] of FormData.#from(this).#fields) yield value;
  }

  *entries() {
    for (const [name, value] of FormData.#from(this).#fields) yield [name, value];
  }

  forEach(callback, self = undefined) {
    const form = FormData.#from(this);
    needArguments("FormData.forEach", arguments.length, 1);
    if (typeof callback !== "function") {
      throw new TypeError(
        "Failed to execute 'forEach' on 'FormData': parameter 1 is not of type 'Function'.",
      );
    }
    for (const [name, value] of form.#fields) Reflect.apply(callback, self, [value, name, form]);
  }
}

asInterface(FormData);
hiddenMethod(FormData, Symbol.iterator, FormData.prototype.entries);

/** By name: the value, or an array of several. */
function fieldsOf(form) {
  const names = new Set(form.keys());
  return Object.fromEntries(
    Array.from(names, (name) => {
      const values = form.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

showFields(FormData, fieldsOf);

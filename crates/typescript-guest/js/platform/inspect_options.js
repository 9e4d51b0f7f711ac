// The options of `inspect`, their defaults, and its colours.

import { hasOwn } from "./primordials.js";

const { assign, defineProperty, keys, seal, setPrototypeOf } = Object;

export const customInspect = Symbol.for("nodejs.util.inspect.custom");

export const defaults = seal({
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
});
const OPTIONS = keys(defaults);

const FOREGROUND = 39;
const BACKGROUND = 49;
const COLORS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Name of each style to the numbers that begin and end it in a terminal. */
export const colors = {
  __proto__: null,
  reset: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  blink: [5, 25],
  inverse: [7, 27],
  hidden: [8, 28],
  strikethrough: [9, 29],
  doubleunderline: [21, 24],
};

const capital = (name) => name[0].toUpperCase() + name.slice(1);
const both = (first, names, close) => names.map((name, index) => [name, [first + index, close]]);
const bright = COLORS.map((name) => (name === "black" ? "gray" : `${name}Bright`));
assign(colors, Object.fromEntries(both(30, COLORS, FOREGROUND)));
assign(
  colors,
  Object.fromEntries(
    both(
      40,
      COLORS.map((name) => `bg${capital(name)}`),
      BACKGROUND,
    ),
  ),
);
assign(colors, { framed: [51, 54], overlined: [53, 55] });
assign(colors, Object.fromEntries(both(90, bright, FOREGROUND)));
assign(
  colors,
  Object.fromEntries(
    both(
      100,
      bright.map((name) => `bg${capital(name)}`),
      BACKGROUND,
    ),
  ),
);

const ALIASES = {
  gray: ["grey", "blackBright"],
  bgGray: ["bgGrey", "bgBlackBright"],
  dim: ["faint"],
  strikethrough: ["crossedout", "strikeThrough", "crossedOut"],
  hidden: ["conceal"],
  inverse: ["swapColors", "swapcolors"],
  doubleunderline: ["doubleUnderline"],
};

for (const [name, aliases] of Object.entries(ALIASES)) {
  const alias = {
    get() {
      return this[name];
    },
    set(value) {
      this[name] = value;
    },
    configurable: true,
  };
  for (const other of aliases) defineProperty(colors, other, alias);
}

/** The colour of each kind of value. */
export const styles = {
  __proto__: null,
  special: "cyan",
  number: "yellow",
  bigint: "yellow",
  boolean: "yellow",
  undefined: "grey",
  null: "bold",
  string: "green",
  symbol: "green",
  date: "magenta",
  regexp: "red",
  module: "underline",
};

export const plain = (text) => `${text}`;

export function colored(text, kind) {
  const color = colors[styles[kind]];
  return color === undefined ? text : `\u001b[${color[0]}m${text}\u001b[${color[1]}m`;
}

/**
 * State of one printing: the options; `seen`, the objects around the present one; `circular`, numbers of
 * objects that contain themselves; `indentationLvl`; `currentDepth`, of the object printed last; `budget`,
 * characters printed at each indentation.
 */
export function makeContext() {
  return {
    ...defaults,
    stylize: plain,
    userOptions: undefined,
    seen: [],
    circular: undefined,
    indentationLvl: 0,
    currentDepth: 0,
    budget: { __proto__: null },
  };
}

/** Takes over the given options; any others reach the functions for custom printing. */
export function applyOptions(ctx, options) {
  const names = keys(options);
  for (let index = 0; index < names.length; index++) {
    const name = names[index];
    if (hasOwn(defaults, name) || name === "stylize") ctx[name] = options[name];
    else ctx.userOptions ??= options;
  }
}

/** Sets the values derived from the options. */
export function settleContext(ctx) {
  if (ctx.colors) ctx.stylize = colored;
  ctx.maxArrayLength ??= Infinity;
  ctx.maxStringLength ??= Infinity;
  return ctx;
}

/** The options for a function of custom printing; an object of another realm gets primitive values only. */
export function optionsForCustom(ctx, isForeign) {
  const options = { stylize: ctx.stylize };
  for (let index = 0; index < OPTIONS.length; index++) options[OPTIONS[index]] = ctx[OPTIONS[index]];
  assign(options, ctx.userOptions);
  if (!isForeign) return options;
  setPrototypeOf(options, null);
  const names = keys(options);
  for (let index = 0; index < names.length; index++) {
    const value = options[names[index]];
    if ((typeof value === "object" && value !== null) || typeof value === "function")
      delete options[names[index]];
  }
  options.stylize = setPrototypeOf((text, kind) => `${ctx.stylize(text, kind)}`, null);
  return options;
}

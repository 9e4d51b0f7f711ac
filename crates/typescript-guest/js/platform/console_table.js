// Draws the table of `console.table`.

import { brandOf } from "./brands.js";
import { inspect } from "./inspect.js";
import { arePairs, remainingItems } from "./iterators.js";
import { append, arrayJoin, hasOwn, stringRepeat } from "./primordials.js";
import { stringWidth } from "./string_width.js";
import { isProxy, isTypedArray } from "./types.js";

const { isArray } = Array;
const { create, keys } = Object;
const { max } = Math;

const INDEX = "(index)";
const ITERATION_INDEX = "(iteration index)";
const KEY = "Key";
const VALUES = "Values";

function fill(text, width) {
  return text + stringRepeat(" ", width - stringWidth(text));
}

function drawRow(cells, widths) {
  const filled = [];
  for (let index = 0; index < widths.length; index++) append(filled, fill(cells[index] ?? "", widths[index]));
  return `│ ${arrayJoin(filled, " │ ")} │`;
}

function drawRule(widths, left, middle, right) {
  const parts = [];
  for (let index = 0; index < widths.length; index++) append(parts, stringRepeat("─", widths[index] + 2));
  return `${left}${arrayJoin(parts, middle)}${right}`;
}

/** @param {string[]} head names of the columns @param {string[][]} columns cells of each column */
function drawTable(head, columns) {
  const widths = [];
  let height = 0;
  for (let column = 0; column < head.length; column++) {
    let width = stringWidth(head[column]);
    const cells = columns[column];
    for (let row = 0; row < cells.length; row++) width = max(width, stringWidth(cells[row] ?? ""));
    append(widths, width);
    height = max(height, cells.length);
  }
  const lines = [drawRule(widths, "┌", "┬", "┐"), drawRow(head, widths), drawRule(widths, "├", "┼", "┤")];
  for (let row = 0; row < height; row++) {
    const cells = [];
    for (let column = 0; column < head.length; column++) append(cells, columns[column][row]);
    append(lines, drawRow(cells, widths));
  }
  append(lines, drawRule(widths, "└", "┴", "┘"));
  return arrayJoin(lines, "\n");
}

/** Numbers the rows from 0. */
function numberRows(count) {
  const numbers = [];
  for (let index = 0; index < count; index++) append(numbers, `${index}`);
  return numbers;
}

function tableOfPairs(pairs, print) {
  const first = [];
  const second = [];
  for (const { 0: key, 1: value } of pairs) {
    append(first, print(key));
    append(second, print(value));
  }
  return drawTable([ITERATION_INDEX, KEY, VALUES], [numberRows(first.length), first, second]);
}

function tableOfItems(items, print) {
  const cells = [];
  for (const item of items) append(cells, print(item));
  return drawTable([ITERATION_INDEX, VALUES], [numberRows(cells.length), cells]);
}

function isPrimitive(value) {
  return value === null || (typeof value !== "object" && typeof value !== "function");
}

/** One row for each property, one column for each key of the rows. */
function tableOfRows(data, properties, print) {
  const index = keys(data);
  const columns = create(null);
  const values = [];
  let hasValues = false;
  for (let row = 0; row < index.length; row++) {
    const item = data[index[row]];
    if (properties === undefined && isPrimitive(item)) {
      hasValues = true;
      values[row] = print(item);
      continue;
    }
    const names = properties ?? keys(item);
    for (let column = 0; column < names.length; column++) {
      const name = names[column];
      columns[name] ??= [];
      columns[name][row] = isPrimitive(item) || !hasOwn(item, name) ? "" : print(item[name]);
    }
  }
  const head = [INDEX];
  const cells = [index];
  for (const name of keys(columns)) {
    append(head, name);
    append(cells, columns[name]);
  }
  if (hasValues) {
    append(head, VALUES);
    append(cells, values);
  }
  return drawTable(head, cells);
}

/** Prints a cell; objects only to a short length. */
function printCell(value, options) {
  const isLarge = !isPrimitive(value) && !isArray(value) && !isTypedArray(value) && keys(value).length > 2;
  const depth = isLarge && typeof value === "object" ? -1 : 0;
  return inspect(value, { depth, maxArrayLength: 3, breakLength: Infinity, ...options });
}

/** @param {string[] | undefined} properties the columns; every key of the rows without them */
export function makeTable(data, properties, options) {
  const print = (value) => printCell(value, options);
  const brand = isProxy(data) ? "Object" : brandOf(data);
  if (brand === "Map") return tableOfPairs(data, print);
  if (brand === "Set") return tableOfItems(data, print);
  if (brand === "Map Iterator" || brand === "Set Iterator") {
    const items = remainingItems(data, brand);
    return brand === "Map Iterator" && arePairs(items)
      ? tableOfPairs(items, print)
      : tableOfItems(items, print);
  }
  return tableOfRows(data, properties, print);
}

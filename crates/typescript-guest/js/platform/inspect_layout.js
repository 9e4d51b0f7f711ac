// Lays out the printed entries of an object: on one line, in columns, or one below the other.

import {
  append,
  arrayJoin,
  stringIncludes,
  stringPadEnd,
  stringPadStart,
  stringRepeat,
} from "./primordials.js";
import { stringWidth, stripColors } from "./string_width.js";

const { floor, max, min, round, sqrt } = Math;
const FEWEST_FOR_COLUMNS = 7;
const MOST_COLUMNS = 15;
const SEPARATOR = 2;
/** A character is about this many times as high as it is wide. */
const CHARACTER_HEIGHT = 2.5;
const SPARE_WIDTH = 10;

/** Whether the entries fit on one line after `start` columns. */
function fitsLine(ctx, output, start, base) {
  let length = output.length + start;
  if (length + output.length > ctx.breakLength) return false;
  for (let index = 0; index < output.length; index++) {
    length += ctx.colors ? stripColors(output[index]).length : output[index].length;
    if (length > ctx.breakLength) return false;
  }
  return base === "" || !stringIncludes(base, "\n");
}

/** How many columns make the whole about square. */
function countColumns(ctx, count, widest, average) {
  const bias = sqrt(widest - average);
  const width = max(widest - 3 - bias, 1);
  return min(
    round(sqrt(CHARACTER_HEIGHT * width * count) / width),
    floor((ctx.breakLength - ctx.indentationLvl) / widest),
    ctx.compact * 4,
    MOST_COLUMNS,
  );
}

/** The width of each column, separator included. */
function columnWidths(widths, total, columns) {
  const result = [];
  for (let column = 0; column < columns; column++) {
    let width = 0;
    for (let index = column; index < total; index += columns) {
      if (widths[index] > width) width = widths[index];
    }
    append(result, width + SEPARATOR);
  }
  return result;
}

function areNumbers(value, count) {
  for (let index = 0; index < count; index++) {
    if (typeof value[index] !== "number" && typeof value[index] !== "bigint") return false;
  }
  return true;
}

/** Joins `columns` entries to a row; numbers stand at the right of their column, all else at the left. */
function makeRow(output, widths, columnsWidths, start, end, isNumeric) {
  const pad = isNumeric ? stringPadStart : stringPadEnd;
  let row = "";
  for (let index = start; index < end; index++) {
    const colors = output[index].length - widths[index];
    const width = columnsWidths[index - start] + colors;
    if (index < end - 1) row += pad(`${output[index]}, `, width, " ");
    else row += isNumeric ? pad(output[index], width - SEPARATOR, " ") : output[index];
  }
  return row;
}

/** Puts many short entries into columns; the note on entries left out, the last one, stays alone. */
function groupEntries(ctx, output, value) {
  const hasNote = ctx.maxArrayLength < output.length;
  const count = hasNote ? output.length - 1 : output.length;
  const widths = [];
  let total = 0;
  let longest = 0;
  for (let index = 0; index < count; index++) {
    const width = stringWidth(output[index], ctx.colors);
    append(widths, width);
    total += width + SEPARATOR;
    if (width > longest) longest = width;
  }
  const widest = longest + SEPARATOR;
  const isEven = total / widest > 5 || longest <= 6;
  if (widest * 3 + ctx.indentationLvl >= ctx.breakLength || !isEven) return output;
  const columns = countColumns(ctx, count, widest, total / output.length);
  if (columns <= 1) return output;
  const eachWidth = columnWidths(widths, output.length, columns);
  const isNumeric = value === undefined || areNumbers(value, output.length);
  const rows = [];
  for (let start = 0; start < count; start += columns) {
    append(rows, makeRow(output, widths, eachWidth, start, min(start + columns, count), isNumeric));
  }
  if (hasNote) append(rows, output[count]);
  return rows;
}

/** With `compact: true` all that fits comes on one line, and the rest begins beside the opening. */
function layOutTight(ctx, output, base, open, close) {
  const lead = base ? ` ${base}` : "";
  if (fitsLine(ctx, output, 0, base)) return `${open}${lead} ${arrayJoin(output, ", ")} ${close}`;
  const indentation = `\n${stringRepeat(" ", ctx.indentationLvl)}  `;
  const start = base === "" && open.length === 1 ? " " : `${lead}${indentation}`;
  return `${open}${start}${arrayJoin(output, `,${indentation}`)} ${close}`;
}

/**
 * Joins the printed entries of an object between its braces.
 * @param {string} base what stands before the braces
 * @param {boolean} isList whether the entries may stand in columns
 * @param {number} depth that of the entries
 * @param value the object, whose items tell whether columns hold numbers
 */
export function layOut(ctx, output, base, open, close, isList, depth, value) {
  if (ctx.compact === true) return layOutTight(ctx, output, base, open, close);
  const lead = base ? `${base} ` : "";
  let rows = output;
  if (typeof ctx.compact === "number" && ctx.compact >= 1) {
    if (isList && output.length >= FEWEST_FOR_COLUMNS) rows = groupEntries(ctx, output, value);
    if (ctx.currentDepth - depth < ctx.compact && rows === output) {
      const start = output.length + ctx.indentationLvl + open.length + base.length + SPARE_WIDTH;
      if (fitsLine(ctx, output, start, base)) {
        const line = arrayJoin(output, ", ");
        if (!stringIncludes(line, "\n")) return `${lead}${open} ${line} ${close}`;
      }
    }
  }
  const indentation = `\n${stringRepeat(" ", ctx.indentationLvl)}`;
  return `${lead}${open}${indentation}  ${arrayJoin(rows, `,${indentation}  `)}${indentation}${close}`;
}

/** Joins entries that have no object of their own, such as a pair. */
export function printList(ctx, output, open, close, depth) {
  return layOut(ctx, output, "", open, close, true, depth, undefined);
}

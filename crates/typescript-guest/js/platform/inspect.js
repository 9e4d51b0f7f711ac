// `util.inspect`: prints any value for people, as Node does.

import { checkObject } from "./errors.js";
import {
  applyOptions,
  colors,
  customInspect,
  defaults,
  makeContext,
  settleContext,
  styles,
} from "./inspect_options.js";
import { printValue } from "./inspect_value.js";

const { assign, defineProperty } = Object;

/** Besides an object of options, the old order of arguments holds: `showHidden, depth, colors`. */
export function inspect(value, options, depth, withColors) {
  const ctx = makeContext();
  if (depth !== undefined) ctx.depth = depth;
  if (withColors !== undefined) ctx.colors = withColors;
  if (typeof options === "boolean") ctx.showHidden = options;
  else if (options) applyOptions(ctx, options);
  return printValue(settleContext(ctx), value, 0);
}

inspect.custom = customInspect;
inspect.colors = colors;
inspect.styles = styles;
defineProperty(inspect, "defaultOptions", {
  get: () => defaults,
  set(options) {
    checkObject(options, "options");
    assign(defaults, options);
  },
});
defineProperty(inspect, "length", { value: 2, configurable: true });

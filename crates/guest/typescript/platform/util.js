// `node:util`.
import { inspect } from "./inspect.js";
import { format, formatWithOptions } from "./format.js";
import types from "./types.js";
export default { inspect, format, formatWithOptions, types };

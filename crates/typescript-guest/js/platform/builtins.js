// The table of modules: the result of `require` for each name, without `node:`.

import assert from "./assert.js";
import buffer from "./buffer.js";
import console from "./console.js";
import crypto from "./crypto.js";
import events from "./events.js";
import fs from "./fs.js";
import fsPromises from "./fs_promises.js";
import os from "./os.js";
import path from "./path.js";
import perfHooks from "./perf_hooks.js";
import process from "./process.js";
import querystring from "./querystring.js";
import stringDecoder from "./string_decoder.js";
import timers from "./timers.js";
import timersPromises from "./timers_promises.js";
import url from "./url.js";
import util from "./util.js";

export const builtins = new Map(
  Object.entries({
    assert,
    "assert/strict": assert.strict,
    buffer,
    console,
    crypto,
    events,
    fs,
    "fs/promises": fsPromises,
    os,
    path,
    "path/posix": path.posix,
    perf_hooks: perfHooks,
    process,
    querystring,
    string_decoder: stringDecoder,
    timers,
    "timers/promises": timersPromises,
    url,
    util,
    "util/types": util.types,
  }),
);

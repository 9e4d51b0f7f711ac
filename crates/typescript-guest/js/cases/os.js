// Cases of `node:os`.

export default [
  { name: "EOL and devNull", code: `const os = require("node:os"); return [os.EOL, os.devNull]` },
  { name: "the machine", code: `const os = require("os"); return [os.platform(), os.type(), os.arch(), os.endianness(), os.machine(), os.tmpdir()]` },
  { name: "texts", code: `const os = require("os"); return [os.hostname(), os.homedir(), os.release(), os.version()].map((t) => typeof t)` },
  { name: "processors", code: `const os = require("os"); const c = os.cpus(); return [c.length === os.availableParallelism(), c.length > 0, Object.keys(c[0]), Object.keys(c[0].times), typeof c[0].model, typeof c[0].speed]` },
  { name: "memory", code: `const os = require("os"); return [os.totalmem() > 0, os.freemem() > 0, os.freemem() <= os.totalmem(), Number.isInteger(os.totalmem())]` },
  { name: "uptime and load", code: `const os = require("os"); return [os.uptime() > 0, os.loadavg().length, os.loadavg().every((n) => n >= 0)]` },
  { name: "the user", code: `const u = require("os").userInfo(); return [Object.keys(u).sort(), typeof u.uid, typeof u.gid, typeof u.username, typeof u.homedir]` },
  { name: "functions as text and numbers", code: "const os = require('os'); return [`${os.platform}`, `${os.arch}` === os.arch(), `${os.tmpdir}`, +os.totalmem === os.totalmem(), `${os.endianness}`]" },
  { name: "constants", code: `const { constants: c } = require("os"); return [c.signals.SIGINT, c.signals.SIGKILL, c.signals.SIGTERM, c.errno.ENOENT, c.errno.EACCES, c.errno.EEXIST, c.priority.PRIORITY_LOW, c.priority.PRIORITY_HIGHEST]` },
  { name: "network interfaces", code: `return typeof require("os").networkInterfaces()` },
  { name: "the module", code: `const os = await import("node:os"); return [os.default === require("os"), os.EOL, os.platform(), typeof os.cpus]` },
];

// The module `node:os`.

import native from "codeyard:native";
import { FAILURES } from "./fs_errors.js";

const { actualPath = (path) => path, processors, systemInformation } = native;

export const EOL = "\n";
export const devNull = "/dev/null";

/** The numbers of signals, errors and priorities on Linux. */
export const constants = {
  __proto__: null,
  errno: { __proto__: null, ...Object.fromEntries([...FAILURES].map(([code, [number]]) => [code, number])) },
  signals: {
    __proto__: null,
    SIGHUP: 1,
    SIGINT: 2,
    SIGQUIT: 3,
    SIGILL: 4,
    SIGTRAP: 5,
    SIGABRT: 6,
    SIGBUS: 7,
    SIGFPE: 8,
    SIGKILL: 9,
    SIGUSR1: 10,
    SIGSEGV: 11,
    SIGUSR2: 12,
    SIGPIPE: 13,
    SIGALRM: 14,
    SIGTERM: 15,
    SIGCHLD: 17,
    SIGCONT: 18,
    SIGSTOP: 19,
  },
  priority: {
    __proto__: null,
    PRIORITY_LOW: 19,
    PRIORITY_BELOW_NORMAL: 10,
    PRIORITY_NORMAL: 0,
    PRIORITY_ABOVE_NORMAL: -7,
    PRIORITY_HIGH: -14,
    PRIORITY_HIGHEST: -20,
  },
};

export const arch = () => "x64";
export const endianness = () => "LE";
export const homedir = () => actualPath("/home");
export const hostname = () => "codeyard";
export const machine = () => "x86_64";
export const platform = () => "linux";
export const tmpdir = () => actualPath("/tmp");
export const type = () => "Linux";
export const release = () => systemInformation().release;
export const version = () => systemInformation().version;
export const totalmem = () => systemInformation().totalMemory;
export const freemem = () => systemInformation().freeMemory;
export const loadavg = () => systemInformation().load;
export const uptime = () => systemInformation().uptime;
export const availableParallelism = () => processors();
export const networkInterfaces = () => ({});
export const getPriority = () => 0;

export function cpus() {
  const times = () => ({ user: 0, nice: 0, sys: 0, idle: 0, irq: 0 });
  return Array.from({ length: processors() }, () => ({ model: "unknown", speed: 0, times: times() }));
}

export function userInfo() {
  const { uid, gid } = systemInformation();
  return { uid, gid, username: "codeyard", homedir: homedir(), shell: null };
}

const asText = [arch, availableParallelism, endianness, freemem, homedir, hostname, machine, platform];
for (const read of [...asText, release, tmpdir, totalmem, type, uptime, version]) {
  Object.defineProperty(read, Symbol.toPrimitive, { value: () => read() });
}

export default {
  EOL,
  arch,
  availableParallelism,
  constants,
  cpus,
  devNull,
  endianness,
  freemem,
  getPriority,
  homedir,
  hostname,
  loadavg,
  machine,
  networkInterfaces,
  platform,
  release,
  tmpdir,
  totalmem,
  type,
  uptime,
  userInfo,
  version,
};

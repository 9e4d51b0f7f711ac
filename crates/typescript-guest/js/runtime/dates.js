// `Date` of recorded runs: the times that programs read come from the host's loop, which lists them.
import native from "codeyard:native";

const Native = Date;
const { construct } = Reflect;
let isListed = false;

/** Replaces `Date` once; dates stay dates of the engine. */
export function listTimes() {
  if (isListed) return;
  isListed = true;
  const Listed = new Proxy(Native, {
    construct: (target, given, kind) => construct(target, given.length > 0 ? given : [native.wallClock()], kind),
    apply: () => new Native(native.wallClock()).toString(),
  });
  const { now } = { now: () => native.wallClock() };
  Object.defineProperty(Native, "now", { value: now, writable: true, enumerable: false, configurable: true });
  Object.defineProperty(Native.prototype, "constructor", { value: Listed, writable: true, configurable: true });
  Object.defineProperty(globalThis, "Date", { value: Listed, writable: true, enumerable: false, configurable: true });
}

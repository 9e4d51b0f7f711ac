// Installs the platform's names.
import native from "codeyard:native";

export function install() {
  const text = (values) => `${values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ")}\n`;
  globalThis.console = { log: (...values) => native.write(1, text(values)), error: (...values) => native.write(2, text(values)) };
  let last = 0;
  const waiting = new Map();
  native.onTimer((id) => { const f = waiting.get(id); waiting.delete(id); f?.(); });
  globalThis.setTimeout = (f, ms = 0) => { waiting.set(++last, f); native.setTimer(last, ms); return last; };
}

import { nextTick, setUncaughtHandler } from "./ticks.js";
let h; setUncaughtHandler((e)=>{ if (h) { h(e); return true;} return false; });
export const process = { nextTick, once(n, f) { h=f; } };
export default process;

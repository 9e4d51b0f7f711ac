// The engine has its own queue of ticks.

export function begin() {}

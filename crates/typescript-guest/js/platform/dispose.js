// `Symbol.dispose` and `Symbol.asyncDispose`, if the engine lacks them.

for (const name of ["dispose", "asyncDispose"]) {
  if (Symbol[name] === undefined) Object.defineProperty(Symbol, name, { value: Symbol(`Symbol.${name}`) });
}

export const { dispose, asyncDispose } = Symbol;

/** Gives a class a method that `using` calls at the end of a block. */
export function defineDisposal(Class, symbol, method) {
  Object.defineProperty(Class.prototype, symbol, { value: method, writable: true, configurable: true });
}

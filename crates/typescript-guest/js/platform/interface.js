// Common features of web interfaces' classes: enumerable members and the tag of their objects.

const { defineProperty, getOwnPropertyDescriptor } = Object;
const { ownKeys } = Reflect;

/** Makes the named members of a class enumerable and gives its objects their tag. */
export function asInterface(Class, tag = Class.name) {
  for (const target of [Class, Class.prototype]) {
    for (const key of ownKeys(target)) {
      const { configurable, value } = getOwnPropertyDescriptor(target, key);
      const isMember = target === Class.prototype || typeof value === "function";
      if (typeof key !== "string" || key === "constructor" || !configurable || !isMember) continue;
      defineProperty(target, key, { enumerable: true });
    }
  }
  defineProperty(Class.prototype, Symbol.toStringTag, { value: tag, configurable: true });
}

/** Adds a method under a symbol that no enumeration shows. */
export function hiddenMethod(Class, symbol, method) {
  defineProperty(Class.prototype, symbol, { value: method, writable: true, configurable: true });
}

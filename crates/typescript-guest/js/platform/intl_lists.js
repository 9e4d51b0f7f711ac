// `toLocaleString` of arrays: the engine's own passes no locale to the items.

const { defineProperty, getPrototypeOf } = Object;

const { toLocaleString } = {
  toLocaleString(locales = undefined, options = undefined) {
    const list = Object(this);
    const length = Math.min(Math.max(Math.trunc(list.length) || 0, 0), Number.MAX_SAFE_INTEGER);
    let text = "";
    for (let index = 0; index < length; index++) {
      if (index > 0) text += ",";
      const item = list[index];
      if (item !== undefined && item !== null) text += item.toLocaleString(locales, options);
    }
    return text;
  },
};

for (const prototype of [Array.prototype, getPrototypeOf(Uint8Array.prototype)]) {
  const attributes = { value: toLocaleString, writable: true, configurable: true };
  defineProperty(prototype, "toLocaleString", attributes);
}

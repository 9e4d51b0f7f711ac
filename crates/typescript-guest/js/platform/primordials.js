// Methods of the language's own classes, taken before a program can replace them.

const { bind, call } = Function.prototype;

/** Makes a method a function that takes `this` as its first argument. */
export const uncurry = bind.bind(call);

const text = String.prototype;
const list = Array.prototype;
const { prototype: object } = Object;
const { prototype: map } = Map;

export const arrayJoin = uncurry(list.join);
export const arrayIncludes = uncurry(list.includes);
export const arrayIndexOf = uncurry(list.indexOf);
export const arraySlice = uncurry(list.slice);
export const arraySort = uncurry(list.sort);
export const arraySplice = uncurry(list.splice);

export const stringCharCodeAt = uncurry(text.charCodeAt);
export const stringEndsWith = uncurry(text.endsWith);
export const stringIncludes = uncurry(text.includes);
export const stringIndexOf = uncurry(text.indexOf);
export const stringPadEnd = uncurry(text.padEnd);
export const stringPadStart = uncurry(text.padStart);
export const stringRepeat = uncurry(text.repeat);
export const stringReplaceAll = uncurry(text.replaceAll);
export const stringSlice = uncurry(text.slice);
export const stringSplit = uncurry(text.split);
export const stringStartsWith = uncurry(text.startsWith);

export const regExpExec = uncurry(RegExp.prototype.exec);
export const regExpReplace = uncurry(RegExp.prototype[Symbol.replace]);
export const symbolToString = uncurry(Symbol.prototype.toString);
export const numberToFixed = uncurry(Number.prototype.toFixed);
export const numberToString = uncurry(Number.prototype.toString);

export const hasOwn = uncurry(object.hasOwnProperty);
export const isEnumerable = uncurry(object.propertyIsEnumerable);
export const objectToString = uncurry(object.toString);
export const functionToString = uncurry(Function.prototype.toString);
export const errorToString = uncurry(Error.prototype.toString);
export const hasInstance = uncurry(Function.prototype[Symbol.hasInstance]);
export const isPrototypeOf = uncurry(object.isPrototypeOf);

export const mapGet = uncurry(map.get);
export const mapSet = uncurry(map.set);
export const mapHas = uncurry(map.has);
export const mapDelete = uncurry(map.delete);
export const setAdd = uncurry(Set.prototype.add);
export const setHas = uncurry(Set.prototype.has);
export const weakMapGet = uncurry(WeakMap.prototype.get);
export const weakMapSet = uncurry(WeakMap.prototype.set);

const getter = (prototype, key) => uncurry(Object.getOwnPropertyDescriptor(prototype, key).get);

export const mapSize = getter(map, "size");
export const setSize = getter(Set.prototype, "size");

const TypedArray = Object.getPrototypeOf(Uint8Array);

/** The class of a typed array, such as `Uint8Array`; undefined for anything else. */
export const typedArrayName = getter(TypedArray.prototype, Symbol.toStringTag);
export const typedArrayLength = getter(TypedArray.prototype, "length");
export const typedArrayBuffer = getter(TypedArray.prototype, "buffer");
export const dataViewBuffer = getter(DataView.prototype, "buffer");
export const bufferByteLength = getter(ArrayBuffer.prototype, "byteLength");
export const sharedByteLength = getter(SharedArrayBuffer.prototype, "byteLength");

/** Appends one item without the array's own methods. */
export function append(array, item) {
  array[array.length] = item;
}

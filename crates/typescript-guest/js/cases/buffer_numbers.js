// Cases of numbers in a `Buffer`.

import { one } from "./expressions.mjs";

const n = "Buffer.from([0x81, 0x02, 0x83, 0x04, 0x85, 0x06, 0x87, 0x88, 0x09])";
const reading = [];
for (const order of ["LE", "BE"]) {
  for (const kind of [
    "Int16",
    "UInt16",
    "Int32",
    "UInt32",
    "Uint32",
    "Float",
    "Double",
    "BigInt64",
    "BigUInt64",
    "BigUint64",
  ]) {
    reading.push(`[n.read${kind}${order}(), n.read${kind}${order}(1)]`);
    const value = kind.startsWith("Big") ? "12345678901n" : /Float|Double/.test(kind) ? -1.1 : 12345;
    const offset = /Double|64/.test(kind) ? 0 : 2;
    reading.push(`[y.fill(255).write${kind}${order}(${value}, ${offset}), y]`);
  }
  reading.push(
    `
      [1, 2, 3, 4, 5, 6].map((k) => [n.readUInt${order}(1, k), n.readInt${order}(2, k), n.readUint${order}(0,
      k)])`,
  );
  reading.push(
    `
      [1, 2, 3, 4, 5, 6].map((k) => [z.writeUInt${order}(2 ** (8 * k) - 2, 1, k), Buffer.from(z),
      z.writeInt${order}(-(2 ** (8 * k - 1)), 0, k), Buffer.from(z), z.writeInt${order}(-5, 2, k),
      Buffer.from(z)])`,
  );
}
const limits = [
  "n.readUInt8(2)",
  "n.readInt8(0)",
  "n.readUint8()",
  "n.readUInt8(9)",
  "n.readUInt8('1')",
  "n.readUInt8(1.5)",
  "n.readUInt8(NaN)",
  "n.readUInt8(-1)",
  "n.readUInt8(null)",
  "n.readUInt32LE(6)",
  "n.readUInt32LE(Infinity)",
  "y.subarray(0, 1).readUInt32LE(0)",
  "n.readUIntLE()",
  "n.readUIntLE(0)",
  "n.readUIntLE(0, 7)",
  "n.readUIntLE(0, 0)",
  "n.readUIntLE(0, '3')",
  "n.readUIntLE(7, 3)",
  "n.readUIntLE(undefined, 2)",
  "n.readIntBE(0, 1.5)",
  "n.readIntBE(-1, 2)",
  "n.readIntLE('0', 2)",
  "y.readDoubleLE()",
  "n.readBigInt64LE(2)",
  "n.readBigInt64LE('1')",
  "n.readFloatBE(99)",
  "y.readBigUInt64BE()",
  "y.writeUInt8(256)",
  "y.writeUInt8(-1)",
  "y.writeUInt8(255.5)",
  "[y.writeUInt8(255), y]",
  "y.writeInt8(-129)",
  "y.writeInt8(128)",
  "[y.writeInt8(-128), y]",
  "y.writeUInt16LE(65536)",
  "y.writeInt16BE(-32769)",
  "y.writeUInt32LE(2 ** 32)",
  "y.writeUInt32LE(-1)",
  "y.writeInt32LE(2 ** 31)",
  "z.writeUIntLE(2 ** 48, 0, 6)",
  "z.writeUIntBE(-1, 0, 5)",
  "z.writeIntLE(2 ** 40, 0, 5)",
  "z.writeIntLE(-(2 ** 47) - 1, 0, 6)",
  "z.writeIntLE(2 ** 40, 0, 3)",
  "z.writeUIntLE(256, 0, 1)",
  "z.writeBigUInt64LE(2n ** 64n)",
  "z.writeBigUInt64LE(-1n)",
  "z.writeBigInt64LE(2n ** 63n)",
  "z.writeBigInt64BE(-(2n ** 63n) - 1n)",
  "[z.writeBigInt64BE(-(2n ** 63n)), z]",
  "[y.writeUInt8('7', 0), y]",
  "[y.fill(9).writeUInt8('x', 0), y]",
  "[y.fill(9).writeUInt8(), y]",
  "y.writeUInt8(1, 9)",
  "[y.writeUInt8(1.7), y]",
  "[y.writeInt16LE(-1.7), y]",
  "y.writeUInt32LE(1, 4)",
  "y.writeUInt32LE(1, -1)",
  "y.writeUIntLE(1)",
  "y.writeUIntLE(1, 0)",
  "y.writeUIntLE(1, 0, 9)",
  "y.writeUIntLE(1, undefined, 2)",
  "y.writeUIntLE(1, 5, 2)",
  "[y.writeFloatLE('x'), y]",
  "y.writeDoubleLE(1)",
  "y.writeUInt8(1, '0')",
  "y.writeUInt16LE(1, '0')",
  "y.writeUInt8(1, null)",
  "[y.writeUInt8(null), y]",
  "[y.writeUInt8(true), y]",
  "y.writeFloatLE(1, 3)",
  "y.writeInt32BE(1, 1.5)",
  `
    [z.writeDoubleBE(Infinity), z.readDoubleBE(), z.writeDoubleLE(-0), z.readDoubleLE(),
    z.writeFloatBE(1e300), z.readFloatBE(), z.writeFloatLE(0.1), z.readFloatLE()]`,
  "[z.writeDoubleLE(NaN), z.readDoubleLE()]",
  "[z.writeUInt32BE(0xdeadbeef), z.readInt32BE(), z.readUInt32BE().toString(16)]",
  "y.writeUInt8(Infinity)",
  "[y.fill(9).writeUInt8(NaN), y]",
  "y.writeUInt16LE(-1, 99)",
  "y.writeUInt16LE(1, 99)",
];

/** Numbers of eight bytes need a longer buffer. */
const length = (expression) => (/Double|64/.test(expression) && /fill/.test(expression) ? 8 : 6);

export default [...reading, ...limits].map((expression) => {
  const before = `const n = ${n}, y = Buffer.alloc(${length(expression)}), z = Buffer.alloc(9); `;
  return one(before, expression);
});

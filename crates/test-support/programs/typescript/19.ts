// task: What are the width and height in pixels of the tiny image that the server returns?
// expect: { mimeType: "image/png", width, height, bytes } with positive whole numbers
const res = await tools.everything.get_tiny_image();

const blocks: any[] = Array.isArray(res) ? res : res?.content ?? [res];
const image = blocks.find((b) => b?.type === "image");
if (!image) throw new Error("no image block in: " + JSON.stringify(res).slice(0, 300));

const buf = Buffer.from(image.data, "base64");
const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
if (!buf.subarray(0, 8).equals(PNG_SIGNATURE)) throw new Error("not a PNG");

return {
  mimeType: image.mimeType,
  width: buf.readUInt32BE(16),
  height: buf.readUInt32BE(20),
  bytes: buf.length,
};

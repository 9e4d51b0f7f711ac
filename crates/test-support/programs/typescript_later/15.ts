// Get the tiny logo and save it as a PNG in the workspace; check that it really is a PNG.
import * as fs from "node:fs/promises";

const blocks: any[] = await tools.everything.get_tiny_image();
const image = blocks.find((b) => b.type === "image");
if (!image) {
  return { saved: false, types: blocks.map((b) => b.type) };
}
const bytes = Buffer.from(image.data, "base64");
await fs.writeFile("/workspace/b2_15_logo.png", bytes);

const back = await fs.readFile("/workspace/b2_15_logo.png");
const signature = [...back.subarray(0, 4)].map((b) => b.toString(16).padStart(2, "0")).join(" ");
return { saved: true, mimeType: image.mimeType, size: back.length, isPng: signature === "89 50 4e 47" };

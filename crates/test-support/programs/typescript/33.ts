// task: Gzip a text of 1,000 repeated characters with the server's tool, unpack it again, and compare the sizes.
// expect: same true, original 1000, and compressed well below 100
import { gunzipSync } from "node:zlib";

const original = "x".repeat(1000);
const data = `data:text/plain;base64,${Buffer.from(original).toString("base64")}`;

const result = await tools.everything.gzip_file_as_resource({
  name: "repeat33.txt.gz",
  data,
  outputType: "resource",
});

function findBlob(x: any): string | undefined {
  if (x === null || typeof x !== "object") return undefined;
  if (typeof x.blob === "string") return x.blob;
  for (const v of Object.values(x)) {
    const hit = findBlob(v);
    if (hit) return hit;
  }
}

const blob = findBlob(result);
if (!blob) return { error: "no blob in result", result };
const zipped = Buffer.from(blob, "base64");
return {
  original: original.length,
  compressed: zipped.byteLength,
  same: gunzipSync(zipped).toString("utf8") === original,
};

// Compress a text of 5,000 characters with gzip and tell me how much smaller it got.
const text = "The quick brown fox jumps over the lazy dog. ".repeat(120).slice(0, 5000);
const dataUri = `data:text/plain;base64,${Buffer.from(text, "utf8").toString("base64")}`;

try {
  const result = await tools.everything.gzip_file_as_resource({ name: "b2_16_fox.txt.gz", data: dataUri, outputType: "resource" });
  const blocks = Array.isArray(result) ? result : [result];
  const blob: string | undefined = blocks.map((b: any) => b?.resource?.blob ?? b?.blob).find(Boolean);
  if (!blob) return { error: "no blob in the result", result };
  const zipped = Buffer.from(blob, "base64");
  return {
    original: text.length,
    compressed: zipped.length,
    isGzip: zipped[0] === 0x1f && zipped[1] === 0x8b,
    saved: `${((1 - zipped.length / text.length) * 100).toFixed(1)}%`,
  };
} catch (err) {
  return { error: err instanceof Error ? err.message : String(err) };
}

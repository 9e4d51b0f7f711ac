# Request: Compress a long text with the everything server's gzip tool, check that it unpacks to the same text, and tell me the compression ratio.
import base64, gzip
text = "The quick brown fox jumps over the lazy dog. " * 200
uri = "data:text/plain;base64," + base64.b64encode(text.encode()).decode()
r = await tools.everything.gzip_file_as_resource(name="fox.txt.gz", data=uri, outputType="resource")
block = next(b for b in r.content if b["type"] == "resource")
packed = base64.b64decode(block["resource"]["blob"])
unpacked = gzip.decompress(packed).decode()
print("same text:", unpacked == text)
print(f"{len(text)} -> {len(packed)} bytes, ratio {len(text) / len(packed):.1f}")

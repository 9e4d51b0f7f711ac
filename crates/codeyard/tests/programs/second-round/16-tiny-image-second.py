import base64, io
from collections import Counter
from PIL import Image

r = await tools.everything.get_tiny_image()
blocks = r.content
print(type(r).__name__, [type(b).__name__ for b in blocks], [str(b)[:60] for b in blocks])
get = lambda b, k: b.get(k) if isinstance(b, dict) else getattr(b, k, None)
image = next(b for b in blocks if get(b, "type") == "image")
data = get(image, "data")
raw = data if isinstance(data, bytes) else base64.b64decode(data)
img = Image.open(io.BytesIO(raw))
rgba = img.convert("RGBA")
pixels = list(rgba.getdata())
seen = Counter((p[0] // 32 * 32, p[1] // 32 * 32, p[2] // 32 * 32) for p in pixels if p[3] > 127)
print(img.format, img.mode, img.size, len(raw), "bytes; transparent:", f"{sum(p[3] <= 127 for p in pixels) / len(pixels):.0%}")
for c, n in seen.most_common(4):
    print("about #%02x%02x%02x" % c, f"{n / max(1, sum(seen.values())):.0%}")
show(rgba.resize((img.width * 8, img.height * 8), Image.NEAREST))

# Request: Get the tiny image from the everything server and show it to me enlarged eight times, and tell me its size.
import base64, io
from PIL import Image
result = await tools.everything.get_tiny_image()
img_block = next(c for c in result["content"] if c["type"] == "image")
img = Image.open(io.BytesIO(base64.b64decode(img_block["data"])))
print(img.size, img.mode)
big = img.resize((img.width * 8, img.height * 8), Image.NEAREST)
show(big)

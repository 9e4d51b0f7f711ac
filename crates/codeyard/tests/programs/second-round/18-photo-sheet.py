# Request: Make a contact sheet of the pictures in files/photos with their names and sizes below; show it, and give it to me as a file.
import base64, io
from PIL import Image, ImageDraw, ImageFont

allowed = (await tools.filesystem.list_allowed_directories()).content
root = next(l.strip() for l in allowed.splitlines() if l.startswith("/"))
found = (await tools.filesystem.search_files(path=f"{root}/files/photos", pattern="*")).content
paths = sorted(p for p in found.splitlines() if p.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp")))
photos = []
for p in paths:
    block = (await tools.filesystem.read_media_file(path=p))["content"][0]
    photos.append((p.rsplit("/", 1)[1], Image.open(io.BytesIO(base64.b64decode(block["data"]))).convert("RGB")))
cell, gap, foot = 220, 12, 34
sheet = Image.new("RGB", (gap + len(photos) * (cell + gap), cell + foot + 2 * gap), "white")
draw = ImageDraw.Draw(sheet)
font = ImageFont.load_default()
for i, (name, img) in enumerate(photos):
    size = img.size
    small = img.copy()
    small.thumbnail((cell, cell))
    x = gap + i * (cell + gap)
    sheet.paste(small, (x + (cell - small.width) // 2, gap + (cell - small.height) // 2))
    draw.text((x, gap + cell + 4), f"{name}\n{size[0]} x {size[1]}", fill="black", font=font)
    print(name, size)
sheet.save("/results/contact-sheet.png")
show(sheet)

# Request: contact sheet of images/logo.png and images/photo.jpg, 200 px high with names, sizes and mean colours; show it and give it as a file
import base64
import io
from PIL import Image, ImageDraw, ImageFont, ImageStat

pictures = []
for name in ("logo.png", "photo.jpg"):
    r = await tools.filesystem.read_media_file(path=f"/srv/desk/images/{name}")
    block = r["content"][0]
    image = Image.open(io.BytesIO(base64.b64decode(block["data"]))).convert("RGB")
    mean = tuple(round(v) for v in ImageStat.Stat(image).mean)
    print(f"{name}: {image.width} x {image.height}, mean colour rgb{mean} #{mean[0]:02x}{mean[1]:02x}{mean[2]:02x}")
    pictures.append((name, image.resize((round(image.width * 200 / image.height), 200), Image.LANCZOS)))

gap, label = 20, 30
width = sum(i.width for _, i in pictures) + gap * (len(pictures) + 1)
sheet = Image.new("RGB", (width, 200 + 2 * gap + label), "white")
draw = ImageDraw.Draw(sheet)
font = ImageFont.load_default()
x = gap
for name, image in pictures:
    sheet.paste(image, (x, gap))
    draw.text((x + image.width / 2 - draw.textlength(name, font=font) / 2, gap + 200 + 8), name, fill="black", font=font)
    x += image.width + gap
sheet.save("/results/contact_sheet.png")

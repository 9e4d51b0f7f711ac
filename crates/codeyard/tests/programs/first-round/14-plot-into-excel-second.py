# Request: Draw a histogram of the order totals in /srv/desk/files/orders.csv and insert the picture into a new sheet "Histogram" of orders.xlsx.
import io
import pandas as pd
import matplotlib.pyplot as plt
from mcp import runtime
base = "/srv/desk/files"
text = (await tools.filesystem.read_text_file(path=f"{base}/orders.csv"))["content"]
df = pd.read_csv(io.StringIO(text))
fig, ax = plt.subplots(figsize=(7, 4))
ax.hist(df["total"], bins=20, color="steelblue", edgecolor="white")
ax.set_title("Order totals"); ax.set_xlabel("Total"); ax.set_ylabel("Orders")
fig.savefig("/results/histogram.png", dpi=120)
# the sheet "Histogram" was created by the first run
print(await tools.excel.insert_image(path=f"{base}/orders.xlsx", sheet="Histogram", image_path=runtime.host_path("/results/histogram.png"), at="B2", width_cm=16))

# Request: Draw a heat map of revenue by month and region as a PNG, put it into /srv/desk/files as heatmap.png, and show me the picture as read back from there.
import ast
import pandas as pd
import matplotlib.pyplot as plt
rows = ast.literal_eval(await tools.sqlite.read_query(query="SELECT month, region, SUM(revenue) AS revenue FROM sales GROUP BY month, region"))
p = pd.DataFrame(rows).pivot(index="region", columns="month", values="revenue")
fig, ax = plt.subplots(figsize=(10, 3))
im = ax.imshow(p.values, cmap="viridis", aspect="auto")
ax.set_xticks(range(len(p.columns)), p.columns, rotation=45)
ax.set_yticks(range(len(p.index)), p.index)
fig.colorbar(im)
fig.tight_layout()
target = "/srv/desk/files/heatmap.png"
fig.savefig(target, dpi=100)
plt.close(fig)
back = await tools.filesystem.read_media_file(path=target)
show(back)

# The tables of the first program are still there.
import matplotlib.pyplot as plt

by_group["sum"].unstack("region").fillna(0).plot.bar(rot=0, figsize=(8, 4.5))
plt.title("Overdue amount by tier and region")
plt.ylabel("EUR")
plt.tight_layout()
plt.show()

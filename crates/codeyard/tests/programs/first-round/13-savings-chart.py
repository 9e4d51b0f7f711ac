# Request: Use the calculator to compute what 10000 EUR become after 0 to 30 years at 2, 4 and 6 percent, and plot the three curves.
import asyncio
import matplotlib.pyplot as plt
rates = [2, 4, 6]
years = list(range(0, 31))
async def value(rate, n):
    r = await tools.calculator.calculate(expression=f"10000 * (1 + {rate}/100) ** {n}")
    return float(r["result"])
curves = {}
for rate in rates:
    curves[rate] = await asyncio.gather(*[value(rate, n) for n in years])
fig, ax = plt.subplots()
for rate, ys in curves.items():
    ax.plot(years, ys, label=f"{rate} %")
    print(f"{rate} %: after 10 years {ys[10]:.2f}, after 30 years {ys[30]:.2f}")
ax.set_xlabel("Years"); ax.set_ylabel("EUR"); ax.legend(); ax.grid(True)
show(fig)
